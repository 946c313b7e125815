// What lines of JSON and record batches have in common: how a client's values become a pattern's.
#pragma once

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "service/node/node.h"

namespace hoist::service {

// As observed: symbols of vectors first, each kind sorted by itself. An empty event is none.
void add_event(Event event, PatternRecord& record);

// A list of objects of numbers, or one such object. `invalid_argument` says what is wrong.
Status read_emotives(const nlohmann::json& value, PatternRecord& record);
// An object; its values, or those of its lists, become texts as Python's str() writes them.
Status read_metadata(const nlohmann::json& value, PatternRecord& record);

}  // namespace hoist::service
