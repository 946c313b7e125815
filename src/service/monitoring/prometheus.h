// Metrics in Prometheus's text format (version 0.0.4).
#pragma once

#include <string>

#include "service/monitoring/monitor.h"

namespace hoist::service {

// Counters, gauges and histograms; docs/reference/match-service.md names each.
std::string prometheus_text(const Monitor& monitor);

}  // namespace hoist::service
