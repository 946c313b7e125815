#include "ops/deflate/last_block.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "codec/deflate_codes.h"

namespace hoist::deflate {
namespace {

using codec::deflate::CodeLengthTable;
using codec::deflate::DistanceTable;
using codec::deflate::entry_drop;
using codec::deflate::kEndOfBlock;
using codec::deflate::kInvalid;
using codec::deflate::kLink;
using codec::deflate::kLiteral;
using codec::deflate::kSpecial;
using codec::deflate::linked_index;
using codec::deflate::LiteralTable;

constexpr size_t kMostLiterals = 288;
constexpr size_t kMostDistances = 32;

// The stream at a bit position. Bits behind its end are whatever lies there: the position tells.
class Bits {
 public:
  Bits(const uint8_t* stream, size_t size) : stream_(stream), size_(8 * size) {}

  size_t position() const { return position_; }
  bool is_within() const { return position_ <= size_; }
  // The next 57 bits at least.
  uint64_t peek() const {
    uint64_t word;
    std::memcpy(&word, stream_ + std::min(position_, size_) / 8, sizeof word);
    return word >> (position_ % 8);
  }
  void skip(size_t count) { position_ += count; }
  uint32_t take(uint32_t count) {
    const uint64_t bits = peek() & ((uint64_t{1} << count) - 1);
    position_ += count;
    return static_cast<uint32_t>(bits);
  }
  void skip_to_byte() { position_ = (position_ + 7) / 8 * 8; }

 private:
  const uint8_t* stream_;
  size_t size_;
  size_t position_ = 0;
};

struct Codes {
  LiteralTable literals;
  DistanceTable distances;
};

// The entry of the next symbol, whose bits are skipped, extra bits included.
template <typename Table>
uint32_t take_entry(const Table& table, Bits& bits) {
  uint64_t next = bits.peek();
  uint32_t entry = table.entries[next & ((1u << Table::kTableBits) - 1)];
  if ((entry & kSpecial) != 0 && (entry & kLink) != 0) {
    next >>= entry_drop(entry);
    bits.skip(entry_drop(entry));
    entry = table.entries[linked_index(entry, next)];
  }
  bits.skip(entry_drop(entry));
  return entry;
}

bool is_invalid(uint32_t entry) { return (entry & kSpecial) != 0 && (entry & kInvalid) != 0; }

bool skip_symbols(const Codes& codes, Bits& bits) {
  while (bits.is_within()) {
    const uint32_t entry = take_entry(codes.literals, bits);
    if ((entry & kLiteral) != 0) continue;
    if ((entry & kSpecial) != 0) return (entry & kEndOfBlock) != 0;
    if (is_invalid(take_entry(codes.distances, bits))) return false;
  }
  return false;
}

bool build_fixed(Codes& codes) {
  std::array<uint8_t, kMostLiterals> literals;
  std::array<uint8_t, kMostDistances> distances;
  for (size_t i = 0; i < literals.size(); ++i) {
    literals[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  }
  distances.fill(5);
  return build(std::span<const uint8_t>(literals), codes.literals) &&
         build(std::span<const uint8_t>(distances).first(30), codes.distances, true);
}

// RFC 1951, 3.2.7.
bool read_codes(Bits& bits, Codes& codes) {
  constexpr uint8_t kOrder[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  const size_t literals = bits.take(5) + 257;
  const size_t distances = bits.take(5) + 1;
  const size_t length_codes = bits.take(4) + 4;
  std::array<uint8_t, std::size(kOrder)> order_lengths = {};
  for (size_t i = 0; i < length_codes; ++i) {
    order_lengths[kOrder[i]] = static_cast<uint8_t>(bits.take(3));
  }
  CodeLengthTable table;
  if (!build(std::span<const uint8_t>(order_lengths), table)) return false;
  std::array<uint8_t, kMostLiterals + kMostDistances> lengths = {};
  size_t count = 0;
  while (count < literals + distances) {
    const uint32_t entry = take_entry(table, bits);
    if ((entry & kSpecial) != 0 || !bits.is_within()) return false;
    const uint32_t symbol = codec::deflate::entry_value(entry);
    uint8_t repeated = static_cast<uint8_t>(symbol);
    size_t times = 1;
    if (symbol == 16) {
      if (count == 0) return false;
      repeated = lengths[count - 1];
      times = 3 + bits.take(2);
    } else if (symbol >= 17) {
      repeated = 0;
      times = symbol == 17 ? 3 + bits.take(3) : 11 + bits.take(7);
    }
    if (times > literals + distances - count) return false;
    std::fill_n(lengths.begin() + static_cast<ptrdiff_t>(count), times, repeated);
    count += times;
  }
  const std::span<const uint8_t> all(lengths);
  return literals <= kMostLiterals && build(all.first(literals), codes.literals) &&
         build(all.subspan(literals, distances), codes.distances);
}

bool skip_stored(Bits& bits) {
  bits.skip_to_byte();
  const uint32_t length = bits.take(16);
  bits.skip(16);
  bits.skip(size_t{8} * length);
  return bits.is_within();
}

}  // namespace

std::optional<LastBlock> find_last_block(const uint8_t* stream, size_t size) {
  Bits bits(stream, size);
  Codes codes;
  LastBlock block;
  for (bool last = false; !last;) {
    block.header = bits.position();
    if (block.header >= 8 * size) return {};
    last = bits.take(1) != 0;
    switch (bits.take(2)) {
      case 0:
        if (!skip_stored(bits)) return {};
        break;
      case 1:
        if (!build_fixed(codes) || !skip_symbols(codes, bits)) return {};
        break;
      case 2:
        if (!read_codes(bits, codes) || !skip_symbols(codes, bits)) return {};
        break;
      default:
        return {};
    }
  }
  block.end = bits.position();
  if (!bits.is_within()) return {};
  return block;
}

size_t open_end(uint8_t* stream, size_t size) {
  const std::optional<LastBlock> block = find_last_block(stream, size);
  if (!block) return 0;
  stream[block->header / 8] &= static_cast<uint8_t>(~(1u << block->header % 8));
  // Three bits of zero (not the last block, stored), zeros to the byte's end, no bytes.
  if (block->end % 8 != 0)
    stream[block->end / 8] &= static_cast<uint8_t>((1u << block->end % 8) - 1);
  const size_t start = (block->end + 3 + 7) / 8;
  std::memset(stream + (block->end + 7) / 8, 0, start - (block->end + 7) / 8);
  constexpr uint8_t kNothing[] = {0, 0, 0xff, 0xff};
  std::memcpy(stream + start, kNothing, sizeof kNothing);
  return start + sizeof kNothing;
}

}  // namespace hoist::deflate
