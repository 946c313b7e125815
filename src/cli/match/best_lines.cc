#include "cli/match/best_lines.h"

#include <algorithm>
#include <tuple>

namespace hoist::cli {
namespace {

constexpr uint64_t kSpare = 1024;  // lines beyond the best before the worst are dropped

bool before(const BestLine& x, const BestLine& y) {
  return std::tuple(-x.score, x.file, x.number) < std::tuple(-y.score, y.file, y.number);
}

}  // namespace

void BestLines::add(BestLine line) {
  if (most_ == 0) return;
  lines_.push_back(std::move(line));
  if (lines_.size() > most_ && lines_.size() - most_ >= kSpare) cut();
}

double BestLines::bound(double threshold) const { return is_full_ ? worst_ : threshold; }

void BestLines::cut() {
  if (lines_.size() < most_) return;
  const auto last = lines_.begin() + static_cast<std::ptrdiff_t>(most_) - 1;
  std::nth_element(lines_.begin(), last, lines_.end(), before);
  worst_ = last->score;
  is_full_ = true;
  lines_.resize(most_);
}

std::vector<BestLine> BestLines::take() {
  if (most_ != 0) cut();
  std::sort(lines_.begin(), lines_.end(), before);
  return std::move(lines_);
}

}  // namespace hoist::cli
