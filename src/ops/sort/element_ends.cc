#include "ops/sort/element_ends.h"

#include <langinfo.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace hoist::sort {
namespace {

// The tables of LC_COLLATE for multibyte text, as glibc's locale files have had them since 2.2
// (locale/weight.h, string/strcoll_l.c). For each byte the first has
//   a number >= 0  the byte is an element by itself: the ruleset (bits 24-30) and where its weights
//                  lie (a length and as many bytes for the first level, then the next level, ...);
//   a number < 0   elements of more bytes begin with it; negated, the place of their list: for each
//                  a number, a length n and n bytes (a number < 0: a range, twice n bytes), padded
//                  to 4 bytes. The last has n = 0: the byte by itself.
struct Tables {
  static constexpr int kSortBackward = 2;

  const uint32_t levels = static_cast<uint32_t>(item_address(_NL_COLLATE_NRULES));
  const unsigned char* const rulesets = item<unsigned char>(_NL_COLLATE_RULESETS);
  const int32_t* const elements = item<int32_t>(_NL_COLLATE_TABLEMB);
  const unsigned char* const weights = item<unsigned char>(_NL_COLLATE_WEIGHTMB);
  const unsigned char* const longer = item<unsigned char>(_NL_COLLATE_EXTRAMB);

  // Whether the element weighs something on every level and none is read backwards over it. After
  // one that weighs nothing strcoll() goes on to the next in the same step, and a run that is read
  // backwards then begins where the step did.
  bool ends_a_step(int32_t element) const {
    const size_t ruleset = static_cast<size_t>(element >> 24);
    const unsigned char* weight = weights + (element & 0xffffff);
    for (size_t level = 0; level < levels; ++level, weight += 1 + *weight) {
      const bool backward = (rulesets[ruleset * levels + level] & kSortBackward) != 0;
      if (backward || *weight == 0) return false;
    }
    return true;
  }

  // Whether strxfrm() gives the byte the first-level weights that lie here for it.
  bool weighs_as_strxfrm_says(unsigned char byte) const {
    const unsigned char* const weight = weights + (elements[byte] & 0xffffff);
    const size_t length = weight[0];
    const char text[2] = {static_cast<char>(byte), '\0'};
    char transformed[256];
    const size_t size = std::strxfrm(transformed, text, sizeof transformed);
    return size < sizeof transformed && length <= size &&
           std::memcmp(transformed, weight + 1, length) == 0 &&
           (length == size || transformed[length] == 1);
  }

  // Calls visit(is_range, bytes, length) for the longer elements that begin with `byte`: what they
  // have behind it, of a range the lower bound.
  template <typename Visit>
  void visit_longer(unsigned char byte, const Visit& visit) const {
    const unsigned char* at = longer - elements[byte];
    for (;;) {
      int32_t element;
      std::memcpy(&element, at, sizeof element);
      at += sizeof element;
      const size_t length = *at++;
      if (length == 0) return;
      visit(element < 0, at, length);
      at += element < 0 ? 2 * length : length;
      at += (longer - at) & 3;
    }
  }

 private:
  // Words come in the pointer's own bits.
  static uintptr_t item_address(nl_item item) {
    return reinterpret_cast<uintptr_t>(::nl_langinfo(item));
  }
  template <typename T>
  static const T* item(nl_item item) {
    return reinterpret_cast<const T*>(::nl_langinfo(item));
  }
};

// The length of what two texts have in common at their beginning.
size_t mismatch(const char* a, const char* b, size_t size) {
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
    uint64_t left;
    uint64_t right;
    std::memcpy(&left, a + at, sizeof left);
    std::memcpy(&right, b + at, sizeof right);
    if (left != right) {
      return at + static_cast<size_t>(std::countr_zero(left ^ right)) / 8;
    }
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

}  // namespace

ElementEnds ElementEnds::of_locale() {
  ElementEnds found;
  const Tables tables;
  if (tables.levels == 0) return found;
  std::array<bool, 256> continues{};
  for (int value = 1; value < 256; ++value) {
    if (tables.elements[value] >= 0) continue;
    const auto byte = static_cast<unsigned char>(value);
    tables.visit_longer(byte, [&](bool is_range, const unsigned char* bytes, size_t length) {
      if (is_range) {
        found.begins_range_[byte] = true;
        found.range_reach_ = std::max(found.range_reach_, length);
      } else {
        for (size_t i = 0; i < length; ++i) continues[bytes[i]] = true;
      }
    });
  }
  for (int value = 1; value < 256; ++value) {
    const auto byte = static_cast<unsigned char>(value);
    const int32_t element = tables.elements[byte];
    found.ends_[byte] = element >= 0 && !continues[byte] && tables.ends_a_step(element) &&
                        tables.weighs_as_strxfrm_says(byte);
  }
  return found;
}

// Whether no element goes on behind the first `size` bytes, and no level is read backwards there.
bool ElementEnds::ends_at(const char* text, size_t size) const {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (!ends_[byte(size - 1)]) return false;
  for (size_t i = size - 1 - std::min(size - 1, range_reach_); i + 1 < size; ++i) {
    if (begins_range_[byte(i)]) return false;
  }
  return true;
}

size_t ElementEnds::common(Line a, Line b) const {
  const size_t shorter = std::min(a.length, b.length);
  if (shorter == 0) return 0;
  // The rest must not be empty: strcoll() puts an empty text first, even before one that weighs
  // nothing.
  size_t size = mismatch(a.text, b.text, shorter - 1);
  while (size > 0 && !(a.text[size] != '\0' && b.text[size] != '\0' && ends_at(a.text, size))) {
    --size;
  }
  return size;
}

}  // namespace hoist::sort
