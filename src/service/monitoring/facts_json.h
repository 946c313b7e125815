// Parts that several answers have in common.
#pragma once

#include <nlohmann/json.hpp>

#include "service/monitoring/monitor.h"

namespace hoist::service {

nlohmann::ordered_json processors_json(const ServiceFacts& facts);
nlohmann::ordered_json gpus_json(const ServiceFacts& facts);
nlohmann::ordered_json resources_json(const Sample& latest);

}  // namespace hoist::service
