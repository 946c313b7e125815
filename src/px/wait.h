// Waiting for launches that somebody may want to stop: Ctrl-C, say.
//
//   std::stop_source stop;
//   Status done = program.launch(stream, kernel, grid, arguments, {.stop = stop.get_token()});
//   if (done) done = wait_or_stop(stream, stop, is_interrupted);
#pragma once

#include <functional>
#include <stop_token>

#include "device/stream.h"

namespace hoist::px {

// Returns when all work of the stream is done. Every 20 ms it asks `is_wanted`, on the calling
// thread, and requests the stop once the answer is yes. `cancelled` where a stop was requested,
// by it or by others, before the work was done.
Status wait_or_stop(device::Stream& stream, std::stop_source& stop,
                    const std::function<bool()>& is_wanted);

}  // namespace hoist::px
