#include "records/prediction_search.h"

#include <algorithm>
#include <optional>

#include "base/varint.h"
#include "records/integer_stream.h"

namespace hoist::records {
namespace {

// A sample is some stretches of neighbours.
constexpr size_t kStretches = 4;
constexpr size_t kStretch = 512;
// Only columns near one another are tried: the search stays linear in the columns of a block.
constexpr size_t kNear = 8;
constexpr size_t kMaxGroupCodes = 4096;
constexpr size_t kMaxGroups = 2;
// A prediction from other columns must save this much to be worth the dependence.
constexpr double kWorth = 0.99;

struct Candidate {
  uint32_t sequence;
  Prediction prediction;
  double saved;  // bits of the sample
};

struct Group {
  uint32_t sequence;
  std::vector<uint32_t> before;
};

bool comparable(const Sequence& a, const Sequence& b) {
  if (a.form == nullptr || b.form == nullptr || a.values.size() != b.values.size()) return false;
  return a.form->type == b.form->type && a.form->scale == b.form->scale &&
         date_units(a.form->date) == date_units(b.form->date);
}

class Search {
 public:
  explicit Search(std::span<const Sequence> sequences) : sequences_(sequences) {
    for (uint32_t i = 0; i < sequences.size() && groups_.size() < kMaxGroups; ++i) {
      const Sequence& sequence = sequences[i];
      if (sequence.form != nullptr || sequence.codes < 2 || sequence.codes > kMaxGroupCodes ||
          sequence.values.size() < 16 * sequence.codes) {
        continue;
      }
      groups_.push_back({i, positions_before(sequence.values, sequence.codes)});
    }
  }

  Predictions run() && {
    chosen_.of.resize(sequences_.size());
    for (uint32_t i = 0; i < sequences_.size(); ++i) {
      if (sequences_[i].values.size() > 2) try_all(i);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.saved > b.saved; });
    std::vector<bool> done(sequences_.size());
    for (const Candidate& candidate : candidates_) {
      if (done[candidate.sequence] || makes_circle(candidate)) continue;
      chosen_.of[candidate.sequence] = candidate.prediction;
      done[candidate.sequence] = true;
    }
    visited_.assign(sequences_.size(), false);
    for (uint32_t i = 0; i < sequences_.size(); ++i) put_in_order(i);
    return std::move(chosen_);
  }

 private:
  void try_all(uint32_t own) {
    const double alone = cost(own, {});
    best_self_ = alone;
    const auto consider = [&](const Prediction& prediction, bool self) {
      const double bits = cost(own, prediction);
      const double limit = self ? alone : best_self_ * kWorth;
      if (bits >= limit) return bits;
      if (self) best_self_ = std::min(best_self_, bits);
      candidates_.push_back({own, prediction, alone - bits});
      return bits;
    };
    consider({.predictor = Predictor::last}, true);
    if (sequences_[own].form != nullptr) consider({.predictor = Predictor::line}, true);
    for (const Group& group : groups_) {
      if (usable(group, own)) {
        consider({.predictor = Predictor::group_last, .group = group.sequence}, false);
      }
    }
    try_others(own, consider);
  }

  template <typename Consider>
  void try_others(uint32_t own, const Consider& consider) {
    const size_t first = own > kNear ? own - kNear : 0;
    const size_t end = std::min(sequences_.size(), size_t{own} + kNear + 1);
    std::optional<uint32_t> best;
    double best_bits = 0;
    for (auto other = static_cast<uint32_t>(first); other < end; ++other) {
      if (other == own || !comparable(sequences_[own], sequences_[other])) continue;
      const double bits = consider({.predictor = Predictor::other, .first = other}, false);
      if (!best || bits < best_bits) {
        best = other;
        best_bits = bits;
      }
      consider({.predictor = Predictor::other_last, .first = other}, false);
      for (const Group& group : groups_) {
        if (!usable(group, own)) continue;
        consider({.predictor = Predictor::group_other, .first = other, .group = group.sequence},
                 false);
      }
    }
    if (!best) return;
    for (auto other = static_cast<uint32_t>(first); other < end; ++other) {
      if (other == own || other == *best || !comparable(sequences_[own], sequences_[other])) {
        continue;
      }
      for (const Predictor predictor : {Predictor::larger, Predictor::smaller}) {
        consider({.predictor = predictor, .first = *best, .second = other}, false);
      }
    }
  }

  bool usable(const Group& group, uint32_t own) const {
    return group.sequence != own &&
           sequences_[group.sequence].values.size() == sequences_[own].values.size();
  }

  Sources sources(const Prediction& prediction) const {
    Sources sources;
    if (has_first(prediction.predictor)) sources.first = sequences_[prediction.first].values;
    if (has_second(prediction.predictor)) sources.second = sequences_[prediction.second].values;
    if (!has_group(prediction.predictor)) return sources;
    for (const Group& group : groups_) {
      if (group.sequence == prediction.group) sources.before = group.before;
    }
    return sources;
  }

  // Bits that the sample's differences take. What is predicted from nothing counts from the least
  // value, as it will be stored.
  double cost(uint32_t own, const Prediction& prediction) {
    const std::span<const int64_t> values = sequences_[own].values;
    const Sources from = sources(prediction);
    const size_t stretch = std::min(kStretch, values.size());
    const size_t stretches = std::min(kStretches, values.size() / stretch);
    sample_.clear();
    for (size_t s = 0; s < stretches; ++s) {
      const size_t at = stretches == 1 ? 0 : s * (values.size() - stretch) / (stretches - 1);
      for (size_t i = std::max<size_t>(at, 1); i < at + stretch; ++i) {
        const int64_t predicted = predict(prediction.predictor, values, from, i);
        sample_.push_back(static_cast<int64_t>(static_cast<uint64_t>(values[i]) -
                                               static_cast<uint64_t>(predicted)));
      }
    }
    const int64_t least = *std::min_element(sample_.begin(), sample_.end());
    zigzag_.resize(sample_.size());
    for (size_t i = 0; i < sample_.size(); ++i) zigzag_[i] = zigzag(sample_[i]);
    const double bits = estimate_bits(zigzag_);
    if (prediction.predictor != Predictor::none) return bits;
    for (size_t i = 0; i < sample_.size(); ++i) {
      zigzag_[i] = static_cast<uint64_t>(sample_[i]) - static_cast<uint64_t>(least);
    }
    return std::min(bits, estimate_bits(zigzag_));
  }

  template <typename Body>
  static void for_sources(const Prediction& prediction, const Body& body) {
    if (has_first(prediction.predictor)) body(prediction.first);
    if (has_second(prediction.predictor)) body(prediction.second);
    if (has_group(prediction.predictor)) body(prediction.group);
  }

  bool makes_circle(const Candidate& candidate) {
    bool circle = false;
    visited_.assign(sequences_.size(), false);
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

  std::span<const Sequence> sequences_;
  std::vector<Group> groups_;
  std::vector<Candidate> candidates_;
  Predictions chosen_;
  double best_self_ = 0;
  std::vector<int64_t> sample_;
  std::vector<uint64_t> zigzag_;
  std::vector<bool> visited_;
  std::vector<uint32_t> todo_;
};

}  // namespace

Predictions choose_predictions(std::span<const Sequence> sequences) {
  return Search(sequences).run();
}

}  // namespace hoist::records
