// Predictions from the last row with the same value in another sequence, or in two.
#pragma once

#include "records/prediction_trials.h"

namespace hoist::records {

void try_groups(Trials& trials, uint32_t own);

// Behind try_groups() of all sequences: the best group of each with each other, the sequences that
// take most first.
void try_pairs_of_groups(Trials& trials);

}  // namespace hoist::records
