#include <algorithm>
#include <bitset>
#include <numeric>

#include "match/index/index_state.h"

namespace hoist::match {
namespace {

// Which of some ids there is a pattern of. Most ids of an index are none of them: a set of hashes
// says so at once.
class WantedIds {
 public:
  explicit WantedIds(std::span<const uint32_t> ids) : ids_(ids), order_(ids.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::sort(order_.begin(), order_.end(), [&](size_t x, size_t y) { return ids[x] < ids[y]; });
    for (const uint32_t id : ids) hashes_.set(hash(id));
  }

  bool may_have(uint32_t id) const { return hashes_[hash(id)]; }

  // Calls `take` with each place at which the id was asked for.
  template <typename Take>
  void at(uint32_t id, const Take& take) const {
    auto place = std::lower_bound(order_.begin(), order_.end(), id,
                                  [&](size_t x, uint32_t wanted) { return ids_[x] < wanted; });
    for (; place != order_.end() && ids_[*place] == id; ++place) take(*place);
  }

 private:
  static constexpr int kHashBits = 16;

  static size_t hash(uint32_t id) { return (id * 0x9E3779B1u) >> (32 - kHashBits); }

  std::span<const uint32_t> ids_;
  std::vector<size_t> order_;
  std::bitset<size_t{1} << kHashBits> hashes_;
};

}  // namespace

Result<std::vector<std::string>> Index::names(std::span<const uint32_t> ids) const {
  const TierView view = state_->tiers.view();
  const WantedIds wanted(ids);
  std::vector<std::string> names(ids.size());
  std::vector<bool> found(ids.size());
  const auto note = [&](const Place& place) {
    if (place.frequency() == 0) return;
    wanted.at(place.serial(), [&](size_t i) {
      names[i] = place.name_text();
      found[i] = true;
    });
  };
  for (const auto& segment : view.tiers->stable) {
    for (uint32_t i = 0; i < segment->size(); ++i) {
      if (wanted.may_have(segment->serial(i))) note({segment.get(), nullptr, i});
    }
  }
  for (size_t tier = 0; tier < view.tiers->recent.size(); ++tier) {
    RecentTier& recent = *view.tiers->recent[tier];
    for (uint32_t i = 0; i < view.recent_sizes[tier]; ++i) {
      if (wanted.may_have(recent.at(i).serial)) note({nullptr, &recent, i});
    }
  }
  const auto missing = std::find(found.begin(), found.end(), false);
  if (missing == found.end()) return names;
  const uint32_t id = ids[static_cast<size_t>(missing - found.begin())];
  return fail(ErrorCode::not_found,
              "no pattern with the id " + std::to_string(id) + " (in the index)");
}

}  // namespace hoist::match
