// The GPUs that nodes' indexes use.
#pragma once

#include <span>
#include <vector>

#include "service/monitoring/monitor.h"

namespace hoist::service {

// Those of NodeFacts::device_memory that are open, in the driver's order. Opens none.
std::vector<GpuFacts> open_gpus(std::span<const NodeFacts> nodes);

}  // namespace hoist::service
