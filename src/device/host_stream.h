// Sockets and pipes as an end of a transfer: one thread, in order, waiting in poll() so that a stop
// is noticed at once.
#pragma once

#include <memory>
#include <stop_token>

#include "device/host_end.h"

namespace hoist::device {

Result<std::shared_ptr<HostReader>> open_stream_source(HostStream stream, uint64_t size,
                                                       std::stop_token stop);
Result<std::shared_ptr<HostWriter>> open_stream_sink(HostStream stream, uint64_t size,
                                                     std::stop_token stop);

}  // namespace hoist::device
