#include "match/pairs/limited_rows.h"

#include <algorithm>
#include <cstring>

namespace hoist::match {

void LimitedRows::make_fronts() {
  for (size_t i = 0; i < fronts_.size(); ++i) {
    fronts_[i] = lanes_.sequence(batch_.members[i]);
    if (fronts_[i].width == 1) continue;
    const size_t size = std::min(fronts_[i].length, FrontCheck::kMostSymbols);
    std::vector<uint8_t>& bytes = bytes_.emplace_back(size);
    FrontCheck::low_bytes(fronts_[i], 0, size, bytes.data());
    fronts_[i] = {bytes.data(), size};
  }
}

void LimitedRows::make_plans(uint32_t length) {
  if (length_ == UINT32_MAX) make_fronts();
  const PairTimes& times = PairTimes::of(count_);
  lanes_time_ = (times.lanes_column + times.lanes_word * batch_.words) * length * kLanes;
  length_ = length;
  plans_.clear();
  time_ = 0;
  looks_time_ = 0;
  for (size_t i = 0; i < batch_.members.size(); ++i) {
    const uint32_t own = lanes_.length(batch_.members[i]);
    if (plans_.empty() || plans_.back().n != own) {
      limited_.plan(length, own, most_edits_(own, length), plans_.emplace_back());
    }
    plan_of_[i] = static_cast<uint8_t>(plans_.size() - 1);
    time_ += std::min(plans_.back().time, lanes_time_ + 1);
    looks_time_ += LimitedCounts::time_of_look(plans_.back());
  }
}

bool LimitedRows::look_first() {
  if (looks_time_ > lanes_time_ || !looks_.is_worth_while()) return false;
  uint64_t time = 0;
  for (size_t i = 0; i < batch_.members.size(); ++i) {
    set_lane(i);
    const LimitedCounts::Plan& plan = plans_[plan_of_[i]];
    is_far_[i] = limited_.are_soon_beyond(other_, lane_, plan);
    if (!is_far_[i]) time += std::min(plan.time, lanes_time_ + 1);
  }
  looks_.decided(time <= lanes_time_);
  return time <= lanes_time_;
}

bool LimitedRows::count(const Sequence& other, std::byte* row) {
  if (other.length != length_) make_plans(other.length);
  other_.set(other, numbers_);
  const bool has_looked = time_ > lanes_time_;
  if (has_looked && !look_first()) return false;
  const int64_t less = count_ == PairCount::levenshtein ? other.length : 0;
  for (size_t i = 0; i < batch_.members.size(); ++i) {
    const LimitedCounts::Plan& plan = plans_[plan_of_[i]];
    int64_t count = plan.beyond;
    if (has_looked ? !is_far_[i] : !limited_.are_far(other, fronts_[i], plan)) {
      set_lane(i);
      count = limited_.count(other_, lane_, plan);
    }
    count -= less;
    std::memcpy(row + i * sizeof(count), &count, sizeof(count));
  }
  return true;
}

}  // namespace hoist::match
