// How symbols felt: for each symbol and emotive the sum over all learnings of patterns that have
// the symbol, of that learning's average.
//
// Thread-safe. In memory; the caller writes what changed, and reads it back at the start.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "match/store/stored_pattern.h"

namespace hoist::service {

class Affinities {
 public:
  using Sums = std::map<std::string, double, std::less<>>;  // by emotive

  void set(std::string_view symbol, std::string_view emotive, double sum);
  // What a learning adds to each of its symbols: the new sums.
  std::vector<std::pair<std::string, Sums>> add(const std::set<std::string_view>& symbols,
                                                const match::Emotives& averages);
  Sums of(std::string_view symbol) const;
  double of(std::string_view symbol, std::string_view emotive) const;
  std::vector<std::pair<std::string, Sums>> all() const;  // by symbol

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Sums, std::less<>> sums_;
};

// Each emotive's mean over the entries that have it, ascending by name.
match::Emotives average(const match::EmotiveList& list);

}  // namespace hoist::service
