// Files that are no .holo files, by their first bytes: those of the program that this grew from,
// whose names and magic words are similar, and models that were not packed.
#pragma once

#include "container/source.h"

namespace hoist::tensors {

// `unsupported` (haagenti's) or `invalid_argument` (a model), naming the format and the mend, where
// the source begins as one of them.
Status refuse_foreign(const container::Source& source);

}  // namespace hoist::tensors
