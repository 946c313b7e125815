// Values as Python's str() writes them: pattern metadata keeps its values so.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hoist::service {

// "text" as it is; True, None, 1.0, 1e+16; ['a', 1] and {'k': 'v'} with Python's quotes inside.
std::string python_text(const nlohmann::ordered_json& value);

}  // namespace hoist::service
