// How symbols felt: for each symbol and emotive the sum over all learnings of patterns that have
// the symbol, of that learning's average.
//
// Thread-safe. In memory; the caller writes what is to change before it changes it, and reads it
// back at the start.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "match/store/stored_pattern.h"

namespace hoist::service {

class Affinities {
 public:
  using Sums = std::map<std::string, double, std::less<>>;  // by emotive
  // What one learning changes: the new sums of its symbols, each with all of its emotives.
  struct Change {
    std::vector<std::string_view> symbols;   // ascending
    std::vector<std::string_view> emotives;  // ascending
    std::vector<double> sums;                // of the first symbol, of the second, …
    uint64_t memory = 0;                     // that apply() takes
  };

  void set(std::string_view symbol, std::string_view emotive, double sum);
  // What a learning of these averages would change. Whoever applies it lets nobody change them
  // meanwhile. The change views what it was made of.
  Change change(const std::set<std::string_view>& symbols, const match::Emotives& averages) const;
  void apply(const Change& change);
  Sums of(std::string_view symbol) const;
  double of(std::string_view symbol, std::string_view emotive) const;
  std::vector<std::pair<std::string, Sums>> all() const;  // by symbol
  uint64_t memory() const;                                // bytes, about

 private:
  // With `mutex_`.
  void put(Sums& sums, std::string_view emotive, double sum);
  Sums& sums_of(std::string_view symbol);

  mutable std::shared_mutex mutex_;
  uint64_t memory_ = 0;
  std::map<std::string, Sums, std::less<>> sums_;
};

// Each emotive's mean over the entries that have it, ascending by name.
match::Emotives average(const match::EmotiveList& list);

}  // namespace hoist::service
