// What a device sorts: the kinds of elements, and their order as unsigned numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.h"

namespace hoist::device::radix_sort {

// Numbers are in their own order; floating point in the total order of IEEE 754 (NaNs at the ends,
// by their bits, and -0 before +0). An entry is a 64-bit payload followed by a 64-bit unsigned key:
// entries are sorted by their keys alone, and those with equal keys keep their order.
enum class Kind : uint32_t { u32, i32, f32, u64, i64, f64, entry };
inline constexpr uint32_t kKinds = 7;

struct Entry {
  uint64_t payload;
  uint64_t key;
};

inline constexpr size_t element_size(Kind kind) {
  return kind == Kind::entry ? sizeof(Entry) : kind <= Kind::f32 ? 4 : 8;
}

// A number's bits to an unsigned number of the wanted order, and back.
template <typename Word>
struct Mapping {
  static constexpr Word kTop = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));

  Mapping(Kind kind, bool descending)
      : flip(descending ? static_cast<Word>(~Word{0}) : Word{0}),
        sign(kind == Kind::i32 || kind == Kind::i64 ? kTop : Word{0}),
        is_float(kind == Kind::f32 || kind == Kind::f64) {}

  bool is_identity() const { return flip == 0 && sign == 0 && !is_float; }

  HOIST_HD Word to_word(Word bits) const {
    if (is_float) {
      bits = (bits & kTop) != 0 ? static_cast<Word>(~bits) : static_cast<Word>(bits | kTop);
    } else {
      bits ^= sign;
    }
    return bits ^ flip;
  }
  HOIST_HD Word from_word(Word word) const {
    word ^= flip;
    if (!is_float) return word ^ sign;
    return (word & kTop) != 0 ? static_cast<Word>(word ^ kTop) : static_cast<Word>(~word);
  }

  Word flip;  // all bits where the order is descending
  Word sign;  // the top bit where the number has a sign
  bool is_float;
};

}  // namespace hoist::device::radix_sort
