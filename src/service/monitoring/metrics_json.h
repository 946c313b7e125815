// Health and metrics as JSON, with the keys that clients of the reference read.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "service/monitoring/monitor.h"

namespace hoist::service {

// What the service is.
nlohmann::ordered_json root_json(const Monitor& monitor);
nlohmann::ordered_json health_json(const Monitor& monitor);
nlohmann::ordered_json status_json(const Monitor& monitor);
nlohmann::ordered_json metrics_json(const Monitor& monitor);
nlohmann::ordered_json stats_json(const Monitor& monitor, std::chrono::minutes span);
// A metric's values of the last `span`; none where there is no such metric or no value.
std::optional<nlohmann::ordered_json> metric_json(const Monitor& monitor, std::string_view metric,
                                                  std::chrono::minutes span);
nlohmann::ordered_json concurrency_json(const Monitor& monitor, unsigned threads);
// What the status page shows: rates, latencies, nodes, and two minutes of samples.
nlohmann::ordered_json live_json(const Monitor& monitor);

}  // namespace hoist::service
