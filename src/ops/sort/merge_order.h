// The order by which lines are merged: 64-bit codes first, the comparison where codes are equal.
#pragma once

#include <cstdint>

#include "ops/sort/codes.h"
#include "ops/sort/line.h"

namespace hoist::sort {

class MergeOrder {
 public:
  // Without codes every decision is Comparator's.
  MergeOrder(const Coder& coder, bool use_codes) : coder_(&coder), use_codes_(use_codes) {}

  bool uses_codes() const { return use_codes_; }
  // Codes that are guesses order lines, and whoever uses them checks the result by prove().
  bool guesses() const { return use_codes_ && coder_->guessed(); }

  uint64_t code(Line line) const {
    return use_codes_ ? coder_->code(line, coder_->first_stage()) : 0;
  }

  // Orders lines that have the same code.
  int compare_equal_codes(Line a, Line b) const { return coder_->comparator().compare(a, b); }

  // The order beyond doubt, codes at hand.
  int prove(uint64_t code_a, Line a, uint64_t code_b, Line b) const {
    if (guesses()) return coder_->comparator().compare(a, b);
    if (code_a != code_b) return code_a < code_b ? -1 : 1;
    return compare_equal_codes(a, b);
  }

 private:
  const Coder* coder_;
  bool use_codes_;
};

}  // namespace hoist::sort
