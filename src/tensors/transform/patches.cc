#include "tensors/transform/patches.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace hoist::tensors {
namespace {

constexpr int kVarintBits = 7;
constexpr size_t kMaxVarintBytes = 10;
// Two varints of one byte and an element of one.
constexpr size_t kMinRunBytes = 3;

// Numbers above 2^63, which no tensor has, are not read.
bool read_varint(ByteReader& reader, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i + 1 < kMaxVarintBytes; ++i) {
    const auto byte = reader.read<uint8_t>();
    value |= static_cast<uint64_t>(byte & 0x7f) << (kVarintBits * i);
    if ((byte & 0x80) == 0) return reader.ok();
  }
  return false;
}

}  // namespace

void PatchWriter::add(uint64_t index, uint64_t bits) {
  if (run_.length > 0 && index == run_.first + run_.length && bits == run_.bits) {
    ++run_.length;
    return;
  }
  write_run();
  run_ = {index, 1, bits};
}

void PatchWriter::write_run() {
  if (run_.length == 0 || too_many_) return;
  write_varint(run_.first - written_);
  write_varint(run_.length);
  const auto* raw = reinterpret_cast<const std::byte*>(&run_.bits);
  bytes_.insert(bytes_.end(), raw, raw + element_bytes_);
  written_ = run_.first + run_.length;
  too_many_ = bytes_.size() > kMaxPatchBytes;
}

void PatchWriter::write_varint(uint64_t value) {
  for (; value >= 0x80; value >>= kVarintBits) bytes_.push_back(std::byte(value | 0x80));
  bytes_.push_back(std::byte(value));
}

std::vector<std::byte> PatchWriter::finish() {
  write_run();
  return std::move(bytes_);
}

Result<std::vector<PatchRun>> read_patches(std::span<const std::byte> bytes, DType dtype,
                                           uint64_t elements) {
  const size_t element_bytes = properties(dtype).bytes;
  std::vector<PatchRun> runs;
  runs.reserve(bytes.size() / kMinRunBytes);
  uint64_t done = 0;
  ByteReader reader(bytes);
  while (reader.remaining() > 0) {
    uint64_t gap = 0;
    PatchRun run;
    const bool read = read_varint(reader, gap) && read_varint(reader, run.length);
    const std::span<const std::byte> raw = reader.take(element_bytes);
    if (!read || !reader.ok() || gap > elements - done || run.length == 0 ||
        run.length > elements - done - gap) {
      return fail(ErrorCode::corrupt, "patches of a transformed tensor: beyond its elements");
    }
    run.first = done + gap;
    std::memcpy(&run.bits, raw.data(), raw.size());
    done = run.first + run.length;
    runs.push_back(run);
  }
  return runs;
}

void apply_patches(std::span<const PatchRun> runs, DType dtype, uint64_t first,
                   std::span<std::byte> out) {
  const size_t element_bytes = properties(dtype).bytes;
  const uint64_t end = first + out.size() / element_bytes;
  auto run = std::partition_point(runs.begin(), runs.end(), [&](const PatchRun& candidate) {
    return candidate.first + candidate.length <= first;
  });
  for (; run != runs.end() && run->first < end; ++run) {
    const uint64_t run_end = std::min(end, run->first + run->length);
    for (uint64_t i = std::max(first, run->first); i < run_end; ++i) {
      std::memcpy(out.data() + (i - first) * element_bytes, &run->bits, element_bytes);
    }
  }
}

}  // namespace hoist::tensors
