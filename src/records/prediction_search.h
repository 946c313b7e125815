// Which prediction makes each sequence of a block smallest, by an excerpt of it.
#pragma once

#include <span>
#include <vector>

#include "records/byte_stream.h"
#include "records/number_text.h"
#include "records/prediction.h"
#include "records/sources.h"

namespace hoist::records {

struct Sequence {
  NumberRows rows;                   // none: there is nothing to predict
  const NumberForm* form = nullptr;  // of numbers; null: codes of a dictionary
};

struct Predictions {
  std::vector<Prediction> of;   // for each sequence; sources are numbers of sequences
  std::vector<uint32_t> order;  // all sequences, each behind its sources
};

Predictions choose_predictions(std::span<const Sequence> sequences, Effort effort);

}  // namespace hoist::records
