// The fields of records that depend on the other records of a prediction, the ensemble.
#pragma once

#include <span>
#include <vector>

#include "base/threads.h"
#include "match/record/record.h"

namespace hoist::match {

// Fills them in; sums run over the records in their order.
void add_ensemble_metrics(const StateView& state, const RecordSource& source,
                          const RecordOptions& options, std::span<Record> records,
                          ThreadPool& pool);

// Predictive information, and the futures that the records share.
std::vector<FuturePotential> add_predictive_information(std::span<Record> records);

}  // namespace hoist::match
