// Where two texts that begin alike may be compared by what follows only.
//
// strcoll() splits a text into collating elements (mostly characters) and compares the weights of
// all elements level by level. What two texts have in common at their beginning weighs the same on
// every level, so that only the rest decides, unless an element spans the place where the rest
// begins (Czech "ch"), a level is read backwards over it (accents in French), or the element before
// it weighs nothing on a level, so that strcoll() takes it in one step with what follows. All
// depend on the bytes before that place alone: the locale's tables tell which bytes rule them out.
#pragma once

#include <array>
#include <cstddef>

#include "ops/sort/line.h"

namespace hoist::sort {

class ElementEnds {
 public:
  // Knows no such byte: nothing is ever left out.
  ElementEnds() = default;

  // Reads the tables of the current LC_COLLATE. Bytes whose weights there are not what strxfrm()
  // says are not trusted.
  static ElementEnds of_locale();

  // How many bytes at the beginning of both texts, which are the same in both, strcoll() need not
  // see. At least one byte that is not NUL is left of each text, or nothing is skipped.
  size_t common(Line a, Line b) const;

 private:
  bool ends_at(const char* text, size_t size) const;

  std::array<bool, 256> ends_{};  // by the bytes alone
  // Elements given as a range take any byte in between: bytes that begin one, and how many bytes
  // behind it the longest has.
  std::array<bool, 256> begins_range_{};
  size_t range_reach_ = 0;
};

}  // namespace hoist::sort
