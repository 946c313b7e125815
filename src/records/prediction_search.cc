// Candidates are tried in three steps: what predicts a sequence from itself; formulas of other
// columns near it, most of which a few rows show to be hopeless; and groups, by one column, then by
// pairs of them. What is left is counted on an excerpt.
#include "records/prediction_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "records/excerpt.h"
#include "records/prediction_choice.h"

namespace hoist::records {
namespace {

// A prediction from other columns must save this much to be worth the dependence.
constexpr double kWorth = 0.99;
constexpr double kDear = 1.02;
constexpr int64_t kLongestLag = 32;
constexpr size_t kFewQuickRows = 16;
// Twentieths of the best bits that a prediction's may be. There are many formulas of two columns,
// and some look a little better by chance.
constexpr size_t kNoWorse = 21;
constexpr size_t kBetter = 19;

struct Limits {
  bool glances;            // at a few rows, before groups are counted
  uint32_t near;           // only columns near one another are tried
  uint32_t formulas;       // the same for those of two columns: there are many pairs
  size_t counted;          // predictions of a column that are counted after a glance
  size_t pairs_of_groups;  // that are numbered, for a block
  size_t pairs_of_own;     // that are tried, for a column
};
constexpr Limits kUsual{.glances = true,
                        .near = 16,
                        .formulas = 8,
                        .counted = 20,
                        .pairs_of_groups = 44,
                        .pairs_of_own = 10};
constexpr Limits kBest{.glances = false,
                       .near = 24,
                       .formulas = 24,
                       .counted = 1000,
                       .pairs_of_groups = 1000,
                       .pairs_of_own = 100};

bool is_plain_number(const Sequence& sequence) {
  return sequence.form != nullptr &&
         (sequence.form->type == NumberType::integer || sequence.form->type == NumberType::decimal);
}

class Search {
 public:
  Search(std::span<const Sequence> sequences, Effort effort)
      : sequences_(sequences),
        limits_(effort == Effort::best ? kBest : kUsual),
        excerpt_(sequences, effort),
        state_(sequences.size()) {}

  Predictions run() {
    for (uint32_t own = 0; own < sequences_.size(); ++own) {
      if (sequences_[own].rows.numbers.size() < 3 || excerpt_.counted(own) == 0) continue;
      try_self(own);
      if (state_[own].best <= 0) continue;
      try_others(own);
      try_groups(own);
    }
    try_pairs_of_groups();
    return choose(std::move(candidates_), sequences_.size());
  }

 private:
  struct State {
    double self = 0;  // bits of the best prediction without other columns
    double best = 0;
    size_t counted = 0;              // predictions, after a glance
    size_t quick = 0;                // bits of the best prediction's quick rows
    std::optional<uint32_t> source;  // of the best prediction as it is
    double source_bits = 0;
    std::vector<std::pair<size_t, uint32_t>> groups;  // with the bits that they leave of quick rows
  };

  // Counts a prediction, and keeps it as a candidate where it is better than the sequence itself.
  double consider(uint32_t own, const Prediction& prediction) {
    State& state = state_[own];
    const double bits = excerpt_.cost(own, prediction);
    if (bits < state.self * kWorth) {
      // Between equals the simpler formula decodes faster, and on a device.
      const bool is_simple = prediction.predictor <= Predictor::smaller;
      candidates_.push_back({own, prediction, state.self - bits * (is_simple ? 1 : kDear)});
      if (bits < state.best) {
        state.best = bits;
        state.quick = quick(own, prediction);
      }
    }
    return bits;
  }
  size_t quick(uint32_t own, const Prediction& prediction) {
    return excerpt_.quick_cost(own, prediction, Excerpt::kQuickRows);
  }
  // As consider(), where a few rows promise something: bits below so many twentieths of the best's.
  void glance(uint32_t own, const Prediction& prediction, size_t twentieths = kNoWorse) {
    State& state = state_[own];
    if (state.counted >= limits_.counted) return;
    const size_t rows = excerpt_.quick_rows(own).size();
    const size_t few = excerpt_.quick_cost(own, prediction, kFewQuickRows);
    if (few * rows > state.quick * kFewQuickRows * 5 / 4 + kFewQuickRows * rows / 2) return;
    if (quick(own, prediction) * 20 >= state.quick * twentieths) return;
    ++state.counted;
    consider(own, prediction);
  }

  void try_self(uint32_t own) {
    State& state = state_[own];
    Prediction best;
    state.self = excerpt_.cost(own, best);
    state.quick = quick(own, best);
    const auto try_it = [&](const Prediction& prediction) {
      const double bits = excerpt_.cost(own, prediction);
      if (bits >= state.self) return;
      state.self = bits;
      best = prediction;
      state.quick = quick(own, prediction);
    };
    try_it({.predictor = Predictor::last});
    if (sequences_[own].form != nullptr) try_it({.predictor = Predictor::line});
    Prediction lag{.predictor = Predictor::lag};
    size_t least = state.quick * 3 / 4;
    for (int64_t k = 2; k <= kLongestLag; ++k) {
      const size_t bits = quick(own, {.predictor = Predictor::lag, .factor = k});
      if (bits >= least) continue;
      least = bits;
      lag.factor = k;
    }
    if (lag.factor > 0) try_it(lag);
    state.best = state.self;
    // Never closes a circle, so that its place among the candidates does not matter.
    candidates_.push_back({own, best, 0});
  }

  bool line_up(uint32_t own, uint32_t other) const {
    return own != other && sequences_[other].rows.count == sequences_[own].rows.count &&
           sequences_[own].rows.count <= kMaxLinedUp;
  }
  bool comparable(uint32_t own, uint32_t other) const {
    const Sequence& a = sequences_[own];
    const Sequence& b = sequences_[other];
    if (!line_up(own, other) || a.form == nullptr || b.form == nullptr) return false;
    // Integers with some that are none among them are decimals without places.
    const bool same_type =
        a.form->type == b.form->type || (is_plain_number(a) && is_plain_number(b));
    return same_type && a.form->scale == b.form->scale &&
           date_units(a.form->date) == date_units(b.form->date);
  }
  template <typename Body>
  void for_near(uint32_t own, const Body& body) {
    const uint32_t first = own > limits_.near ? own - limits_.near : 0;
    const size_t end = std::min(sequences_.size(), size_t{own} + limits_.near + 1);
    for (uint32_t other = first; other < end; ++other) {
      if (line_up(own, other)) body(other);
    }
  }

  void try_others(uint32_t own) {
    if (sequences_[own].form == nullptr) return;
    State& state = state_[own];
    for_near(own, [&](uint32_t other) {
      if (sequences_[other].form == nullptr) return;
      const bool alike = comparable(own, other);
      if (alike) {
        const double bits = consider(own, {.predictor = Predictor::other, .first = other});
        if (!state.source || bits < state.source_bits) {
          state.source = other;
          state.source_bits = bits;
        }
        glance(own, {.predictor = Predictor::other_last, .first = other});
        glance(own, {.predictor = Predictor::running, .first = other});
        glance(own, {.predictor = Predictor::running_last, .first = other});
      }
      try_moves(own, other, alike);
      if (is_plain_number(sequences_[own]) && is_plain_number(sequences_[other])) {
        glance(own, {.predictor = Predictor::ratio, .first = other});
      }
    });
    if (state.best > 0) try_formulas(own);
  }

  // own goes up by k where the other goes up by 1.
  void try_moves(uint32_t own, uint32_t other, bool alike) {
    const std::span<const int64_t> a = excerpt_.values(other);
    const std::span<const int64_t> values = excerpt_.values(own);
    Prediction prediction{.predictor = Predictor::moves, .first = other};
    if (alike) {
      prediction.factor = 1;
      glance(own, prediction);
    }
    for (const uint32_t i : excerpt_.quick_rows(own)) {
      const int64_t by = subtract_modulo(a[i], a[i - 1]);
      const int64_t moved = subtract_modulo(values[i], values[i - 1]);
      if (by == 0 || by == -1 || moved % by != 0 || moved / by == 0) continue;
      if (moved / by != prediction.factor) {
        prediction.factor = moved / by;
        glance(own, prediction);
      }
      break;
    }
  }

  void try_formulas(uint32_t own) {
    if (!is_plain_number(sequences_[own])) return;
    std::vector<uint32_t> near;
    for_near(own, [&](uint32_t other) {
      const uint32_t distance = own > other ? own - other : other - own;
      if (distance <= limits_.formulas && is_plain_number(sequences_[other])) near.push_back(other);
    });
    for (const uint32_t a : near) {
      for (const uint32_t b : near) {
        if (a != b) try_pair(own, a, b);
      }
    }
  }

  void try_pair(uint32_t own, uint32_t a, uint32_t b) {
    const State& state = state_[own];
    const auto formula = [&](Predictor predictor, int factor = 0) {
      glance(own, {.predictor = predictor, .first = a, .second = b, .factor = factor}, kBetter);
    };
    if (comparable(own, a) && comparable(own, b)) {
      if (state.source == a) {
        formula(Predictor::larger);
        formula(Predictor::smaller);
      }
      if (a < b) formula(Predictor::sum);
      formula(Predictor::difference);
      if (sequences_[own].form->scale == 0) formula(Predictor::clock);
    }
    const int scale = sequences_[own].form->scale;
    const int shift = sequences_[a].form->scale + sequences_[b].form->scale - scale;
    if (a < b && shift >= 0 && shift <= kMaxScale) formula(Predictor::product, shift);
    const int widen = scale + sequences_[b].form->scale - sequences_[a].form->scale;
    if (widen >= 0 && widen <= kMaxScale) formula(Predictor::quotient, widen);
  }

  void try_group(uint32_t own, const Prediction& prediction) {
    if (limits_.glances) {
      // There are few of them.
      const size_t counted = std::exchange(state_[own].counted, 0);
      glance(own, prediction);
      state_[own].counted = counted;
    } else {
      consider(own, prediction);
    }
  }

  void try_groups(uint32_t own) {
    State& state = state_[own];
    for_near(own, [&](uint32_t group) {
      if (!excerpt_.is_group(group)) return;
      const Prediction last{.predictor = Predictor::group_last, .group = group};
      state.groups.emplace_back(quick(own, last), group);
      try_group(own, last);
      if (!state.source) return;
      for_near(own, [&](uint32_t other) {
        if (other == group || !comparable(own, other)) return;
        glance(own, {.predictor = Predictor::group_other, .first = other, .group = group});
      });
      if (is_plain_number(sequences_[own])) {
        for_near(own, [&](uint32_t other) {
          if (other == group || !is_plain_number(sequences_[other])) return;
          glance(own, {.predictor = Predictor::group_ratio, .first = other, .group = group});
        });
      }
    });
    std::sort(state.groups.begin(), state.groups.end());
  }

  // The best group of each sequence with each other, the sequences that take most first.
  void try_pairs_of_groups() {
    std::vector<uint32_t> order;
    for (uint32_t own = 0; own < state_.size(); ++own) {
      const State& state = state_[own];
      const auto rows = static_cast<double>(excerpt_.counted(own));
      if (state.groups.size() > 1 && state.best > rows / 4) order.push_back(own);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return state_[a].best > state_[b].best; });
    size_t numbered = 0;
    for (const uint32_t own : order) {
      const std::vector<std::pair<size_t, uint32_t>> groups = state_[own].groups;
      size_t tried = 0;
      for (size_t i = 1; i < groups.size() && tried < limits_.pairs_of_own; ++i, ++tried) {
        if (numbered >= limits_.pairs_of_groups) return;
        const auto [one, two] = std::minmax(groups[0].second, groups[i].second);
        ++numbered;
        if (!excerpt_.are_group(one, two)) continue;
        try_group(own, {.predictor = Predictor::pair_last, .group = one, .other_group = two});
        if (!state_[own].source) continue;
        glance(own, {.predictor = Predictor::pair_other,
                     .first = *state_[own].source,
                     .group = one,
                     .other_group = two});
      }
    }
  }

  std::span<const Sequence> sequences_;
  Limits limits_;
  Excerpt excerpt_;
  std::vector<State> state_;
  std::vector<Candidate> candidates_;
};

}  // namespace

Predictions choose_predictions(std::span<const Sequence> sequences, Effort effort) {
  return Search(sequences, effort).run();
}

}  // namespace hoist::records
