#include "records/group_search.h"

#include <algorithm>
#include <utility>

namespace hoist::records {
namespace {

void try_group(Trials& trials, uint32_t own, const Prediction& prediction) {
  if (trials.limits().glances) {
    // There are few of them.
    const size_t counted = std::exchange(trials.state(own).counted, 0);
    trials.glance(own, prediction);
    trials.state(own).counted = counted;
  } else {
    trials.consider(own, prediction);
  }
}

// Sequences with groups, those that take most first.
std::vector<uint32_t> by_bits(Trials& trials) {
  std::vector<uint32_t> order;
  for (uint32_t own = 0; own < trials.size(); ++own) {
    const Trials::State& state = trials.state(own);
    const auto rows = static_cast<double>(trials.excerpt().counted(own));
    if (state.groups.size() > 1 && state.best > rows / 4) order.push_back(own);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return trials.state(a).best > trials.state(b).best;
  });
  return order;
}

}  // namespace

void try_groups(Trials& trials, uint32_t own) {
  Trials::State& state = trials.state(own);
  trials.for_near(own, [&](uint32_t group) {
    if (!trials.excerpt().is_group(group)) return;
    const Prediction last{.predictor = Predictor::group_last, .group = group};
    state.groups.emplace_back(trials.quick(own, last), group);
    try_group(trials, own, last);
    if (!state.source) return;
    trials.for_near(own, [&](uint32_t other) {
      if (other == group || !trials.comparable(own, other)) return;
      trials.glance(own, {.predictor = Predictor::group_other, .first = other, .group = group});
    });
    if (!trials.is_plain_number(own)) return;
    trials.for_near(own, [&](uint32_t other) {
      if (other == group || !trials.is_plain_number(other)) return;
      trials.glance(own, {.predictor = Predictor::group_ratio, .first = other, .group = group});
    });
  });
  std::sort(state.groups.begin(), state.groups.end());
}

void try_pairs_of_groups(Trials& trials) {
  size_t numbered = 0;
  for (const uint32_t own : by_bits(trials)) {
    const Trials::State& state = trials.state(own);
    size_t tried = 0;
    for (size_t i = 1; i < state.groups.size() && tried < trials.limits().pairs_of_own;
         ++i, ++tried) {
      if (numbered >= trials.limits().pairs_of_groups) return;
      const auto [one, two] = std::minmax(state.groups[0].second, state.groups[i].second);
      ++numbered;
      if (!trials.excerpt().are_group(one, two)) continue;
      try_group(trials, own, {.predictor = Predictor::pair_last, .group = one, .other_group = two});
      if (!state.source) continue;
      trials.glance(own, {.predictor = Predictor::pair_other,
                          .first = *state.source,
                          .group = one,
                          .other_group = two});
    }
  }
}

}  // namespace hoist::records
