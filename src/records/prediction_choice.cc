#include "records/prediction_choice.h"

#include <algorithm>

namespace hoist::records {
namespace {

class Choice {
 public:
  explicit Choice(size_t sequences) : visited_(sequences) { chosen_.of.resize(sequences); }

  Predictions run(const std::vector<Candidate>& candidates) {
    std::vector<bool> done(visited_.size());
    for (const Candidate& candidate : candidates) {
      if (done[candidate.sequence] || makes_circle(candidate)) continue;
      chosen_.of[candidate.sequence] = candidate.prediction;
      done[candidate.sequence] = true;
    }
    visited_.assign(visited_.size(), false);
    for (uint32_t i = 0; i < visited_.size(); ++i) put_in_order(i);
    return std::move(chosen_);
  }

 private:
  bool makes_circle(const Candidate& candidate) {
    bool circle = false;
    visited_.assign(visited_.size(), false);
    for_sources(candidate.prediction,
                [&](uint32_t source) { circle |= reaches(source, candidate.sequence); });
    return circle;
  }

  // Whether `from` is predicted from `to`, over however many others.
  bool reaches(uint32_t from, uint32_t to) {
    todo_.assign(1, from);
    while (!todo_.empty()) {
      const uint32_t at = todo_.back();
      todo_.pop_back();
      if (at == to) return true;
      if (visited_[at]) continue;
      visited_[at] = true;
      for_sources(chosen_.of[at], [&](uint32_t source) { todo_.push_back(source); });
    }
    return false;
  }

  // Depth first, without recursion: a chain may be as long as there are columns.
  void put_in_order(uint32_t first) {
    todo_.assign(1, first);
    while (!todo_.empty()) {
      const uint32_t at = todo_.back();
      const size_t before = todo_.size();
      if (!visited_[at]) {
        for_sources(chosen_.of[at], [&](uint32_t source) {
          if (!visited_[source]) todo_.push_back(source);
        });
      }
      if (todo_.size() > before) continue;
      todo_.pop_back();
      if (visited_[at]) continue;
      visited_[at] = true;
      chosen_.order.push_back(at);
    }
  }

  Predictions chosen_;
  std::vector<bool> visited_;
  std::vector<uint32_t> todo_;
};

}  // namespace

Predictions choose(std::vector<Candidate> candidates, size_t sequences) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.saved > b.saved; });
  return Choice(sequences).run(candidates);
}

}  // namespace hoist::records
