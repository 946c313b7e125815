// Patterns as lines of JSON, as exports and snapshots have them:
//
//   {"name":"0ea1…","events":[["a","b"],["c"]],"frequency":3,"emotives":[{"joy":0.5}],
//    "metadata":{"book":["x"]}}
//
// Only `events` must be there. `emotives` may be one object, as `hoist match build` reads them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "service/node/node.h"
#include "service/session/json_shape.h"

namespace hoist::service {

// Without a line feed.
std::string pattern_line(const match::VisitedPattern& pattern, std::string_view metadata);
// `invalid_argument` says what is wrong.
Result<PatternRecord> parse_pattern_line(std::string_view line,
                                         size_t most_values = kMostJsonValues);

}  // namespace hoist::service
