// Candidates are tried in three steps: what predicts a sequence from itself; formulas of other
// columns near it, most of which a few rows show to be hopeless; and groups, by one column, then by
// pairs of them. What is left is counted on an excerpt.
#include "records/prediction_search.h"

#include "records/formula_search.h"
#include "records/group_search.h"
#include "records/prediction_choice.h"
#include "records/prediction_trials.h"

namespace hoist::records {

Predictions choose_predictions(std::span<const Sequence> sequences, Effort effort) {
  Trials trials(sequences, effort);
  for (uint32_t own = 0; own < sequences.size(); ++own) {
    if (sequences[own].rows.numbers.size() < 3 || trials.excerpt().counted(own) == 0) continue;
    try_self(trials, own);
    if (trials.state(own).best <= 0) continue;
    try_others(trials, own);
    try_groups(trials, own);
  }
  try_pairs_of_groups(trials);
  return choose(trials.take_candidates(), sequences.size());
}

}  // namespace hoist::records
