// First-level collation weights, for sorting in a locale without calling strcoll() per comparison.
//
// glibc compares texts level by level; the first level (the letters themselves, before accents and
// case) decides nearly always. Its weights are strings of bytes, which strxfrm() shows before the
// first byte 1; the first level of a text is the concatenation of its characters' (ISO 14651,
// glibc's strxfrm_l). Collation keeps them in a table and spells the first level of any text
// without strxfrm(). Contractions (two characters that sort as one, as Czech "ch") are not in the
// table: the order that follows from these weights is therefore a very good guess, which the
// sort proves afterwards with strcoll() itself, neighbour by neighbour.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace hoist::sort {

class Collation {
 public:
  // Reads the weights of the current LC_COLLATE. With `hard` false there is nothing to know.
  explicit Collation(bool hard);

  bool hard() const { return hard_; }

  // Writes bytes [skip, skip + 8) of the first level of `text` to `out` and returns how many of
  // them there were; the others are 0. Stops at a NUL, as strcoll() does.
  static constexpr size_t kLevelBytes = 8;
  size_t level1(std::string_view text, size_t skip, unsigned char* out) const;

 private:
  // The number of bytes in the lowest byte, the bytes above it in their order.
  using Weight = uint64_t;
  static constexpr size_t kMaximumWeight = 7;
  static size_t length(Weight weight) { return weight & 0xff; }

  static Weight probe(std::string_view character);
  Weight weight_of_rare(std::string_view character) const;
  Weight weight_at(std::string_view text, size_t& at) const;

  bool hard_;
  bool utf8_ = false;
  std::array<Weight, 256> single_{};  // one-byte characters
  std::unique_ptr<Weight[]> two_;     // U+0080..U+07FF
};

}  // namespace hoist::sort
