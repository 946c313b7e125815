// The symbols of a query as ids. What the vocabulary does not have gets ids from the top down, the
// same one for the same symbol: no pattern has them.
#pragma once

#include <cstdint>
#include <vector>

#include "match/vocabulary/pattern.h"
#include "match/vocabulary/vocabulary.h"

namespace hoist::match {

// `state` is normalised.
std::vector<uint32_t> query_symbols(const PatternText& state, const Vocabulary& vocabulary);

}  // namespace hoist::match
