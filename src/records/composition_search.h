// Which columns of texts are composed of others.
#pragma once

#include <vector>

#include "records/column_analysis.h"

namespace hoist::records {

// Turns columns of strings, or of dictionaries that hardly repeat, into composed ones where that is
// smaller: by a sample, and for Effort::best by encoding both.
void compose_columns(const Tokens& tokens, Effort effort, std::vector<AnalysedColumn>& columns);

}  // namespace hoist::records
