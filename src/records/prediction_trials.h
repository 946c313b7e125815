// What a search for predictions has tried: the best of each sequence of a block so far, and all
// that are worth something. prediction_search.cc says in which order what is tried.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "records/excerpt.h"
#include "records/prediction_choice.h"
#include "records/prediction_search.h"

namespace hoist::records {

class Trials {
 public:
  struct Limits {
    bool glances;            // at a few rows, before groups are counted
    uint32_t near;           // only columns near one another are tried
    uint32_t formulas;       // the same for those of two columns: there are many pairs
    size_t counted;          // predictions of a column that are counted after a glance
    size_t pairs_of_groups;  // that are numbered, for a block
    size_t pairs_of_own;     // that are tried, for a column
    uint32_t noise;          // as `near`, for columns that look like noise
  };
  struct State {
    double self = 0;        // bits of the best prediction without other columns
    bool is_noise = false;  // of those, each value takes as many as any of its range
    double best = 0;
    size_t counted = 0;              // predictions, after a glance
    size_t quick = 0;                // bits of the best prediction's quick rows
    size_t self_quick = 0;           // the same of the best one without other columns
    std::optional<uint32_t> source;  // of the best prediction as it is
    double source_bits = 0;
    std::vector<std::pair<size_t, uint32_t>> groups;  // with the bits that they leave of quick rows
  };
  // Twentieths of the best bits that a prediction's may be. There are many formulas of two columns,
  // and some look a little better by chance.
  static constexpr size_t kNoWorse = 21;
  static constexpr size_t kBetter = 19;

  Trials(std::span<const Sequence> sequences, Effort effort);

  size_t size() const { return sequences_.size(); }
  const Sequence& sequence(uint32_t number) const { return sequences_[number]; }
  State& state(uint32_t own) { return states_[own]; }
  Excerpt& excerpt() { return excerpt_; }
  const Limits& limits() const { return limits_; }
  std::vector<Candidate> take_candidates() { return std::move(candidates_); }

  // The best prediction from the sequence itself: what others must beat.
  void set_self(uint32_t own, const Prediction& prediction, double bits);

  // Counts a prediction, and keeps it as a candidate where it is better than the sequence itself.
  double consider(uint32_t own, const Prediction& prediction);
  // As consider(), where a few rows promise something: bits below so many twentieths of the best's.
  void glance(uint32_t own, const Prediction& prediction, size_t twentieths = kNoWorse);
  size_t quick(uint32_t own, const Prediction& prediction) {
    return excerpt_.quick_cost(own, prediction, Excerpt::kQuickRows);
  }

  // Whether a few rows show that the prediction may be better than the best so far.
  bool promises(uint32_t own, const Prediction& prediction, size_t twentieths = kNoWorse);

  bool is_plain_number(uint32_t number) const;
  // Whether both have as many values, few enough to be lined up.
  bool line_up(uint32_t own, uint32_t other) const;
  // Whether their numbers count the same: one can be taken from the other.
  bool comparable(uint32_t own, uint32_t other) const;
  template <typename Body>
  void for_near(uint32_t own, const Body& body) const {
    for_columns(own, limits_.near, body);
  }
  // Fewer of them.
  template <typename Body>
  void for_next(uint32_t own, const Body& body) const {
    for_columns(own, limits_.formulas, body);
  }

 private:
  template <typename Body>
  void for_columns(uint32_t own, uint32_t distance, const Body& body) const {
    if (states_[own].is_noise) distance = std::min(distance, limits_.noise);
    const uint32_t first = own > distance ? own - distance : 0;
    const size_t end = std::min(sequences_.size(), size_t{own} + distance + 1);
    for (uint32_t other = first; other < end; ++other) {
      if (line_up(own, other)) body(other);
    }
  }

  std::span<const Sequence> sequences_;
  Limits limits_;
  Excerpt excerpt_;
  std::vector<State> states_;
  std::vector<Candidate> candidates_;
};

}  // namespace hoist::records
