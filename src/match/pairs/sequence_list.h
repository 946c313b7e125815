// Sequences as they lie in memory, of symbols of 1, 2 or 4 bytes each: nothing is copied before it
// is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hoist::match {

// Its symbols must outlive it. Symbols of different sizes are equal if their values are.
struct Sequence {
  Sequence() = default;
  template <typename Symbol>
  Sequence(const Symbol* first, size_t size)
      : symbols(first), length(static_cast<uint32_t>(size)), width(sizeof(Symbol)) {}

  const void* symbols = nullptr;
  uint32_t length = 0;
  uint32_t width = 1;  // bytes of a symbol
};

// `length` symbols from `begin` on.
inline Sequence part_of(const Sequence& sequence, uint32_t begin, uint32_t length) {
  Sequence part = sequence;
  part.symbols = static_cast<const std::byte*>(sequence.symbols) + size_t{begin} * sequence.width;
  part.length = length;
  return part;
}

using SequenceList = std::span<const Sequence>;

// work(symbols), a span of uint8_t, uint16_t or uint32_t.
template <typename Work>
auto with_symbols(const Sequence& sequence, const Work& work) {
  const auto as = [&]<typename Symbol>(Symbol /*type*/) {
    return work(std::span(static_cast<const Symbol*>(sequence.symbols), sequence.length));
  };
  switch (sequence.width) {
    case 1:
      return as(uint8_t{});
    case 2:
      return as(uint16_t{});
    default:
      return as(uint32_t{});
  }
}

}  // namespace hoist::match
