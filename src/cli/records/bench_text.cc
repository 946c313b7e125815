#include "cli/records/bench_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "records/candle_text.h"

namespace hoist::cli {

records::ReadText BenchText::from_start() const {
  return [this, at = uint64_t{0}](std::span<char> into) mutable -> Result<size_t> {
    size_t count = std::min<uint64_t>(into.size(), size - at);
    if (file.file.valid()) {
      const ssize_t got = ::pread(file.fd(), into.data(), count, static_cast<off_t>(at));
      if (got < 0) return fail(ErrorCode::io, fmt::format("cannot read {}", name), errno);
      count = static_cast<size_t>(got);
    } else {
      std::memcpy(into.data(), generated.data() + at, count);
    }
    at += count;
    return count;
  };
}

Result<BenchText> open_bench_text(const std::string& name) {
  Result<Input> input = open_input(name);
  if (!input) return input.error();
  const auto wrong = [&](const char* what) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} ({})", what, input->name));
  };
  if (!input->is_regular || name == "-")
    return wrong("measuring reads the text several times: name a plain file");
  if (input->size == 0) return wrong("an empty file has nothing to measure");
  const uint64_t size = input->size;
  return BenchText{.name = name, .file = std::move(*input), .size = size};
}

BenchText generated_text(uint64_t size) {
  constexpr uint64_t kPieceRows = 50000;
  constexpr uint64_t kLeastRowBytes = 100;
  std::string candles;
  for (uint64_t first = 0; candles.size() < size; first += kPieceRows) {
    const uint64_t rows = std::min(kPieceRows, size / kLeastRowBytes + 1);
    candles += records::candle_text(first, first + rows, 1);
  }
  candles.resize(candles.rfind('\n', size - 1) + 1);
  const uint64_t made = candles.size();
  return {.name = "candles", .generated = std::move(candles), .size = made};
}

}  // namespace hoist::cli
