// JSON of clients, before and while it is parsed.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace hoist::service {

// What a client sent. Its objects are maps: those of ordered_json look a key up one by one, which
// many keys turn into minutes.
using ClientJson = nlohmann::json;

// Why a text is not parsed, so that a small one cannot ask for much memory or a deep stack: it is
// deeper than 64 levels, or has more than two million values. Null where nothing is wrong.
const char* check_json_shape(std::string_view text);

}  // namespace hoist::service
