// Decisions as JSON, as a profile has them and `hoist tune --json` prints them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "placement/operation.h"
#include "placement/profile.h"

namespace hoist::placement {

// [{"from": 0, "implementation": "original"}, …]
nlohmann::json json_of(const std::vector<Interval>& intervals);
// [{"cpus": 1, "intervals": […]}, …]
nlohmann::json json_of(const std::vector<Row>& rows);

}  // namespace hoist::placement
