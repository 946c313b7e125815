#include "service/node/affinities.h"

#include <algorithm>
#include <limits>

namespace hoist::service {
namespace {

// Sums beyond a double's range stay at its end: JSON has no infinity, and copies have to be read.
double bounded(double sum) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::clamp(sum, -kMost, kMost);
}

}  // namespace

void Affinities::set(std::string_view symbol, std::string_view emotive, double sum) {
  const std::lock_guard lock(mutex_);
  sums_[std::string(symbol)][std::string(emotive)] = sum;
}

std::vector<std::pair<std::string, Affinities::Sums>> Affinities::add(
    const std::set<std::string_view>& symbols, const match::Emotives& averages) {
  std::vector<std::pair<std::string, Sums>> changed;
  const std::lock_guard lock(mutex_);
  for (const std::string_view symbol : symbols) {
    Sums& sums = sums_[std::string(symbol)];
    Sums now;
    for (const auto& [emotive, value] : averages) {
      now[emotive] = sums[emotive] = bounded(sums[emotive] + value);
    }
    changed.emplace_back(symbol, std::move(now));
  }
  return changed;
}

Affinities::Sums Affinities::of(std::string_view symbol) const {
  const std::lock_guard lock(mutex_);
  const auto found = sums_.find(symbol);
  return found != sums_.end() ? found->second : Sums();
}

double Affinities::of(std::string_view symbol, std::string_view emotive) const {
  const std::lock_guard lock(mutex_);
  const auto found = sums_.find(symbol);
  if (found == sums_.end()) return 0;
  const auto sum = found->second.find(emotive);
  return sum != found->second.end() ? sum->second : 0;
}

std::vector<std::pair<std::string, Affinities::Sums>> Affinities::all() const {
  const std::lock_guard lock(mutex_);
  return {sums_.begin(), sums_.end()};
}

match::Emotives average(const match::EmotiveList& list) {
  std::map<std::string, std::pair<double, size_t>> sums;
  for (const match::Emotives& entry : list) {
    for (const auto& [name, value] : entry) {
      sums[name].first += value;
      ++sums[name].second;
    }
  }
  match::Emotives averages;
  for (const auto& [name, sum] : sums) {
    averages.emplace_back(name, bounded(sum.first / static_cast<double>(sum.second)));
  }
  return averages;
}

}  // namespace hoist::service
