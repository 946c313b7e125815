// Predictions without groups: from the sequence itself, from another one, and from two others.
#pragma once

#include "records/prediction_trials.h"

namespace hoist::records {

// The first trial of a sequence.
void try_self(Trials& trials, uint32_t own);

void try_others(Trials& trials, uint32_t own);

}  // namespace hoist::records
