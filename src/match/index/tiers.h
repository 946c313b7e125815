// Where the patterns of an index are at one moment. A query takes a view and keeps it: tiers that
// are replaced meanwhile live until the last query that sees them is done.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "base/fork.h"
#include "match/index/recent_tier.h"
#include "match/index/stable_segment.h"

namespace hoist::match {

struct Tiers {
  std::vector<std::shared_ptr<StableSegment>> stable;
  // The last one grows; one before it is being made a segment.
  std::vector<std::shared_ptr<RecentTier>> recent;
};

// What a query looks at: the tiers, and how much of the growing one. Symbols of a query that are
// looked up afterwards are those of all patterns in it.
struct TierView {
  std::shared_ptr<const Tiers> tiers;
  std::vector<uint32_t> recent_sizes;
};

class CurrentTiers {
 public:
  TierView view() const {
    TierView view{get(), {}};
    for (const auto& recent : view.tiers->recent) view.recent_sizes.push_back(recent->size());
    return view;
  }
  // To be kept while one looks at it: in `for (… : tiers.get()->stable)` it is gone before the loop
  // begins.
  std::shared_ptr<const Tiers> get() const {
    const std::shared_lock lock(mutex_);
    return tiers_;
  }
  void set(Tiers tiers) {
    auto next = std::make_shared<const Tiers>(std::move(tiers));
    const std::lock_guard lock(mutex_);
    tiers_.swap(next);
  }

 private:
  mutable ForkSafeMutex mutex_;
  std::shared_ptr<const Tiers> tiers_ = std::make_shared<Tiers>();
};

// One pattern: in a stable segment or in a recent tier.
struct Place {
  StableSegment* stable = nullptr;
  RecentTier* recent = nullptr;
  uint32_t index = 0;

  NameKey name() const { return stable ? stable->name(index) : recent->at(index).name(); }
  std::string name_text() const {
    const NameKey key = name();
    return key.is_digest ? digest_text(key.digest) : std::string(key.text);
  }
  uint32_t serial() const { return stable ? stable->serial(index) : recent->at(index).serial; }
  uint32_t length() const {
    return stable ? stable->length(index) : static_cast<uint32_t>(recent->at(index).symbols.size());
  }
  uint32_t frequency() const {
    return stable ? stable->frequency(index)
                  : recent->at(index).frequency.load(std::memory_order_relaxed);
  }
  std::shared_ptr<const EmotiveList> emotives() const {
    return stable ? stable->emotives().get(index) : recent->emotives().get(index);
  }
  std::span<const uint16_t> event_sizes() const {
    return stable ? stable->event_sizes(index) : recent->at(index).event_sizes;
  }
  void read_symbols(std::vector<uint32_t>& out) const {
    if (stable) {
      stable->read_symbols(index, out);
    } else {
      out.assign(recent->at(index).symbols.begin(), recent->at(index).symbols.end());
    }
  }
  // The writer's.
  void set(uint32_t frequency, std::shared_ptr<const EmotiveList> emotives) const {
    if (stable) {
      stable->set_frequency(index, frequency);
      if (emotives) stable->set_emotives(index, std::move(emotives));
    } else {
      recent->at(index).frequency.store(frequency, std::memory_order_relaxed);
      if (emotives) recent->emotives().set(index, std::move(emotives));
    }
  }
};

}  // namespace hoist::match
