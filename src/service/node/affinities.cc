#include "service/node/affinities.h"

#include <algorithm>
#include <limits>
#include <mutex>

namespace hoist::service {
namespace {

// Sums beyond a double's range stay at its end: JSON has no infinity, and copies have to be read.
double bounded(double sum) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::clamp(sum, -kMost, kMost);
}

// An entry of a map by text.
uint64_t entry_memory(std::string_view key) {
  constexpr uint64_t kNode = 96, kInline = 15;
  return kNode + (key.size() > kInline ? key.size() : 0);
}

}  // namespace

Affinities::Sums& Affinities::sums_of(std::string_view symbol) {
  if (const auto known = sums_.find(symbol); known != sums_.end()) return known->second;
  memory_ += entry_memory(symbol);
  return sums_[std::string(symbol)];
}

void Affinities::put(Sums& sums, std::string_view emotive, double sum) {
  if (const auto known = sums.find(emotive); known != sums.end()) {
    known->second = sum;
    return;
  }
  memory_ += entry_memory(emotive);
  sums.emplace(emotive, sum);
}

void Affinities::set(std::string_view symbol, std::string_view emotive, double sum) {
  const std::lock_guard lock(mutex_);
  put(sums_of(symbol), emotive, sum);
}

Affinities::Change Affinities::change(const std::set<std::string_view>& symbols,
                                      const match::Emotives& averages) const {
  Change change;
  change.symbols.assign(symbols.begin(), symbols.end());
  for (const auto& [emotive, average] : averages) change.emotives.push_back(emotive);
  change.sums.reserve(symbols.size() * averages.size());
  const Sums none;
  const std::shared_lock lock(mutex_);
  for (const std::string_view symbol : symbols) {
    const auto known = sums_.find(symbol);
    const Sums& sums = known != sums_.end() ? known->second : none;
    if (known == sums_.end()) change.memory += entry_memory(symbol);
    for (const auto& [emotive, average] : averages) {
      const auto before = sums.find(emotive);
      if (before == sums.end()) change.memory += entry_memory(emotive);
      change.sums.push_back(bounded((before != sums.end() ? before->second : 0) + average));
    }
  }
  return change;
}

// Whoever asks meanwhile is let in again and again.
void Affinities::apply(const Change& change) {
  constexpr size_t kTogether = 1000;
  auto sum = change.sums.begin();
  std::unique_lock lock(mutex_);
  for (const std::string_view symbol : change.symbols) {
    Sums& sums = sums_of(symbol);
    for (const std::string_view emotive : change.emotives) {
      put(sums, emotive, *sum++);
      if ((sum - change.sums.begin()) % kTogether != 0) continue;
      lock.unlock();
      lock.lock();
    }
  }
}

uint64_t Affinities::memory() const {
  const std::shared_lock lock(mutex_);
  return memory_;
}

Affinities::Sums Affinities::of(std::string_view symbol) const {
  const std::shared_lock lock(mutex_);
  const auto found = sums_.find(symbol);
  return found != sums_.end() ? found->second : Sums();
}

double Affinities::of(std::string_view symbol, std::string_view emotive) const {
  const std::shared_lock lock(mutex_);
  const auto found = sums_.find(symbol);
  if (found == sums_.end()) return 0;
  const auto sum = found->second.find(emotive);
  return sum != found->second.end() ? sum->second : 0;
}

std::vector<std::pair<std::string, Affinities::Sums>> Affinities::all() const {
  const std::shared_lock lock(mutex_);
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
