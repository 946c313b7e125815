// Health, metrics, the status page and the interface's description over HTTP.
#pragma once

#include "net/http/router.h"
#include "service/monitoring/monitor.h"

namespace hoist::service {

// `monitor` must outlive the router. `threads`: the server's loops.
void add_monitoring_routes(net::HttpRouter& router, Monitor& monitor, unsigned threads);

}  // namespace hoist::service
