// Arbitrary bytes as a block of records, and as text that a block is made of. The first byte says
// which: 0 to 5, text of that format; 6, text of the format that detection finds; else a block
// whose text has as many bytes as the next two say.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "records/block.h"
#include "records/detect.h"

namespace {

using namespace hoist::records;

void check(bool holds) {
  if (!holds) std::abort();
}

void read_all(const Block& block) {
  for (size_t i = 0; i < block.columns().size(); ++i) {
    const auto values = block.read(i);
    if (!values) continue;
    ColumnCursor texts(*values->column);
    ColumnCursor numbers(*values->column);
    for (size_t row = 0; row < values->rows.size(); ++row) {
      (void)texts.text();
      (void)numbers.number();
    }
    check(texts.at_end() && numbers.at_end());
  }
}

void round_trip(std::string_view text, const Dialect& dialect) {
  const std::string stored = encode_block(text, dialect, Effort::usual);
  const auto block = Block::open(std::as_bytes(std::span(stored)), text.size());
  check(block.has_value());
  const auto again = block->text();
  check(again.has_value() && *again == text);
  read_all(*block);
}

void decode(std::span<const std::byte> bytes) {
  if (bytes.size() < 2) return;
  const size_t size = std::to_integer<size_t>(bytes[0]) | std::to_integer<size_t>(bytes[1]) << 8;
  const auto block = Block::open(bytes.subspan(2), size);
  if (!block) return;
  if (const auto text = block->text()) check(text->size() == size);
  read_all(*block);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] < 6) {
    round_trip(text, {.format = static_cast<Format>(data[0])});
  } else if (data[0] == 6) {
    round_trip(text, detect(text));
  } else {
    decode(std::as_bytes(std::span(data + 1, size - 1)));
  }
  return 0;
}
