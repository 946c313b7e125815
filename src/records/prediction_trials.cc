#include "records/prediction_trials.h"

namespace hoist::records {
namespace {

// A prediction from other columns must save this much to be worth the dependence.
constexpr double kWorth = 0.99;
constexpr double kDear = 1.02;
constexpr size_t kFewQuickRows = 16;
constexpr double kNoise = 0.985;
// A prediction may look worse than the best by a bit for so many rows, as chance has it.
constexpr size_t kRowsABit = 4;

constexpr Trials::Limits kUsual{.glances = true,
                                .near = 16,
                                .formulas = 8,
                                .counted = 20,
                                .pairs_of_groups = 44,
                                .pairs_of_own = 10,
                                .noise = 4};
constexpr Trials::Limits kBest{.glances = false,
                               .near = 24,
                               .formulas = 24,
                               .counted = 1000,
                               .pairs_of_groups = 1000,
                               .pairs_of_own = 100,
                               .noise = 24};

}  // namespace

Trials::Trials(std::span<const Sequence> sequences, Effort effort)
    : sequences_(sequences),
      limits_(effort == Effort::best ? kBest : kUsual),
      excerpt_(sequences, effort),
      states_(sequences.size()) {}

void Trials::set_self(uint32_t own, const Prediction& prediction, double bits) {
  State& state = states_[own];
  state.self = state.best = bits;
  state.quick = state.self_quick = quick(own, prediction);
  state.is_noise = sequences_[own].form != nullptr && bits > kNoise * excerpt_.bits_of_range(own);
  // Never closes a circle, so that its place among the candidates does not matter.
  candidates_.push_back({own, prediction, 0});
}

double Trials::consider(uint32_t own, const Prediction& prediction) {
  State& state = states_[own];
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

void Trials::glance(uint32_t own, const Prediction& prediction, size_t twentieths) {
  State& state = states_[own];
  if (state.counted >= limits_.counted || !promises(own, prediction, twentieths)) return;
  ++state.counted;
  consider(own, prediction);
}

bool Trials::promises(uint32_t own, const Prediction& prediction, size_t twentieths) {
  const State& state = states_[own];
  const size_t rows = excerpt_.quick_rows(own).size();
  if (rows == 0) return false;
  const size_t most = (state.quick * kFewQuickRows * 5 / 4 + kFewQuickRows * rows / 2) / rows;
  if (excerpt_.quick_cost(own, prediction, kFewQuickRows, most) > most) return false;
  const size_t bits =
      excerpt_.quick_cost(own, prediction, Excerpt::kQuickRows, state.quick * twentieths / 20);
  return bits * 20 < state.quick * twentieths && bits < state.quick + rows / kRowsABit;
}

bool Trials::is_plain_number(uint32_t number) const {
  const NumberForm* form = sequences_[number].form;
  return form != nullptr &&
         (form->type == NumberType::integer || form->type == NumberType::decimal);
}

bool Trials::line_up(uint32_t own, uint32_t other) const {
  return own != other && sequences_[other].rows.count == sequences_[own].rows.count &&
         sequences_[own].rows.count <= kMaxLinedUp;
}

bool Trials::comparable(uint32_t own, uint32_t other) const {
  const NumberForm* a = sequences_[own].form;
  const NumberForm* b = sequences_[other].form;
  if (!line_up(own, other) || a == nullptr || b == nullptr) return false;
  // Integers with some that are none among them are decimals without places.
  const bool same_type = a->type == b->type || (is_plain_number(own) && is_plain_number(other));
  return same_type && a->scale == b->scale && date_units(a->date) == date_units(b->date);
}

}  // namespace hoist::records
