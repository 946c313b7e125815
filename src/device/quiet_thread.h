// A thread that takes no signals, so that the host program's handlers stay on its own threads, and
// runs on all CPUs of the process, though its starter may be bound to one.
#pragma once

#include <functional>
#include <thread>

#include "base/result.h"

namespace hoist::device {

// `exhausted` where the system gives no more threads.
Result<std::thread> start_quiet_thread(std::function<void()> body);

}  // namespace hoist::device
