// From candidates to one prediction a sequence, without circles, and an order in which each
// sequence is behind its sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "records/prediction_search.h"

namespace hoist::records {

struct Candidate {
  uint32_t sequence;
  Prediction prediction;
  double saved;  // bits of the excerpt
};

// Takes the candidate that saves most first, and none that would close a circle.
Predictions choose(std::vector<Candidate> candidates, size_t sequences);

}  // namespace hoist::records
