// RapidFuzz's fuzz.ratio: the Indel similarity of two texts' characters.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string_view>
#include <vector>

#include "match/score/match_masks.h"

namespace hoist::match {

// Appends the code points of UTF-8; a byte that is not UTF-8 stands for itself.
void append_code_points(std::string_view text, std::vector<uint32_t>& points);

// One text, compared with many.
class TextRatio {
 public:
  explicit TextRatio(std::string_view text);
  explicit TextRatio(const std::vector<uint32_t>& points) : masks_(points) {}

  // 0..1, 1 for equal texts only; the ratio is 100 times that. Once `stop` is requested, it returns
  // soon, and what it returns is undefined.
  double normalized(const std::vector<uint32_t>& points, const std::stop_token& stop = {}) const;

 private:
  MatchMasks masks_;
};

// Whether RapidFuzz's process functions report a pair: they hold the cut-off, in percent, as a
// 32-bit number, and compare with it before and after the normalised similarity becomes percent.
bool passes_cutoff(double normalized, double percent);

}  // namespace hoist::match
