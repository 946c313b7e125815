// Which prediction makes each sequence of a block smallest, by a sample of it.
#pragma once

#include <span>
#include <vector>

#include "records/number_text.h"
#include "records/prediction.h"

namespace hoist::records {

struct Sequence {
  std::span<const int64_t> values;   // empty: there is none to predict
  const NumberForm* form = nullptr;  // of numbers; null: codes of a dictionary
  size_t codes = 0;                  // entries of that
};

struct Predictions {
  std::vector<Prediction> of;   // for each sequence; sources are numbers of sequences
  std::vector<uint32_t> order;  // all sequences, each behind its sources
};

Predictions choose_predictions(std::span<const Sequence> sequences);

}  // namespace hoist::records
