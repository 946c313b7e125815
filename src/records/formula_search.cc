#include "records/formula_search.h"

namespace hoist::records {
namespace {

constexpr int64_t kLongestLag = 32;
constexpr double kHopeless = 1e300;  // bits

class FormulaSearch {
 public:
  FormulaSearch(Trials& trials, uint32_t own)
      : trials_(trials), own_(own), state_(trials.state(own)) {}

  void try_self() {
    Prediction best;
    double least_bits = trials_.excerpt().cost(own_, best);
    const auto try_it = [&](const Prediction& prediction) {
      const double bits = trials_.excerpt().cost(own_, prediction);
      if (bits >= least_bits) return;
      least_bits = bits;
      best = prediction;
    };
    try_it({.predictor = Predictor::last});
    if (form() != nullptr) try_it({.predictor = Predictor::line});
    Prediction lag{.predictor = Predictor::lag};
    size_t least = trials_.quick(own_, best) * 3 / 4;
    for (int64_t k = 2; k <= kLongestLag; ++k) {
      const size_t bits = trials_.quick(own_, {.predictor = Predictor::lag, .factor = k});
      if (bits >= least) continue;
      least = bits;
      lag.factor = k;
    }
    if (lag.factor > 0) try_it(lag);
    trials_.set_self(own_, best, least_bits);
  }

  void try_others() {
    trials_.for_near(own_, [&](uint32_t other) {
      if (trials_.sequence(other).form != nullptr) try_other(other);
    });
    if (state_.best > 0) try_formulas();
  }

 private:
  const NumberForm* form() const { return trials_.sequence(own_).form; }
  int scale(uint32_t number) const { return trials_.sequence(number).form->scale; }
  void glance(const Prediction& prediction) { trials_.glance(own_, prediction); }

  void try_other(uint32_t other) {
    const bool alike = trials_.comparable(own_, other);
    if (alike) {
      try_as_it_is(other);
      glance({.predictor = Predictor::other_last, .first = other});
      glance({.predictor = Predictor::running, .first = other});
      glance({.predictor = Predictor::running_last, .first = other});
    }
    try_moves(other, alike);
    if (trials_.is_plain_number(own_) && trials_.is_plain_number(other)) {
      glance({.predictor = Predictor::ratio, .first = other});
    }
  }

  void try_as_it_is(uint32_t other) {
    const Prediction prediction{.predictor = Predictor::other, .first = other};
    // All of them are counted that may be better than the sequence itself: larger() and smaller()
    // need the best, and the others' places where that would close a circle.
    const bool promises = !trials_.limits().glances ||
                          trials_.quick(own_, prediction) <
                              state_.self_quick + trials_.excerpt().quick_rows(own_).size() / 2;
    const double bits = promises ? trials_.consider(own_, prediction) : kHopeless;
    if (!state_.source || bits < state_.source_bits) {
      state_.source = other;
      state_.source_bits = bits;
    }
  }

  // own goes up by k where the other goes up by 1.
  void try_moves(uint32_t other, bool alike) {
    const std::span<const int64_t> a = trials_.excerpt().values(other);
    const std::span<const int64_t> values = trials_.excerpt().values(own_);
    Prediction prediction{.predictor = Predictor::moves, .first = other};
    if (alike) {
      prediction.factor = 1;
      glance(prediction);
    }
    for (const uint32_t i : trials_.excerpt().quick_rows(own_)) {
      const int64_t by = subtract_modulo(a[i], a[i - 1]);
      const int64_t moved = subtract_modulo(values[i], values[i - 1]);
      if (by == 0 || by == -1 || moved % by != 0 || moved / by == 0) continue;
      if (moved / by != prediction.factor) {
        prediction.factor = moved / by;
        glance(prediction);
      }
      break;
    }
  }

  void try_formulas() {
    if (!trials_.is_plain_number(own_)) return;
    times_ = trials_.excerpt().may_be_times(own_);
    std::vector<uint32_t> near;
    trials_.for_next(own_, [&](uint32_t other) {
      if (trials_.is_plain_number(other)) near.push_back(other);
    });
    for (const uint32_t a : near) {
      for (const uint32_t b : near) {
        if (a != b) try_pair(a, b);
      }
    }
  }

  void try_pair(uint32_t a, uint32_t b) {
    const auto formula = [&](Predictor predictor, int64_t factor = 0) {
      trials_.glance(own_, {.predictor = predictor, .first = a, .second = b, .factor = factor},
                     Trials::kBetter);
    };
    if (trials_.comparable(own_, a) && trials_.comparable(own_, b)) {
      if (state_.source == a) {
        formula(Predictor::larger);
        formula(Predictor::smaller);
      }
      if (a < b) formula(Predictor::sum);
      formula(Predictor::difference);
      if (scale(own_) == 0 && times_ && trials_.excerpt().may_be_times(a))
        formula(Predictor::clock);
    } else if (const auto scales = sum_scales(scale(a), scale(b), scale(own_))) {
      const int64_t factor = factor_of(*scales);
      if (a < b) formula(Predictor::scaled_sum, factor);
      formula(Predictor::scaled_difference, factor);
    }
    const int shift = scale(a) + scale(b) - scale(own_);
    if (a < b && shift >= 0 && shift <= kMaxScale) formula(Predictor::product, shift);
    const int widen = scale(own_) + scale(b) - scale(a);
    if (widen >= 0 && widen <= kMaxScale) formula(Predictor::quotient, widen);
  }

  Trials& trials_;
  uint32_t own_;
  Trials::State& state_;
  bool times_ = false;  // whether own may be times of day
};

}  // namespace

void try_self(Trials& trials, uint32_t own) { FormulaSearch(trials, own).try_self(); }

void try_others(Trials& trials, uint32_t own) {
  if (trials.sequence(own).form != nullptr) FormulaSearch(trials, own).try_others();
}

}  // namespace hoist::records
