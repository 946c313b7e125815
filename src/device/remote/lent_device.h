// The GPU that this process may use for a piece of work, as HOIST_GPU says:
//
//   Result<std::shared_ptr<Device>> device = lent_device({});
//   if (!device) …                                              // do it on the CPU
//
//   off        none
//   inprocess  the first GPU, in a context of the process's own (0.26 s, threads, breaks fork)
//   else       hoistd's; where none answers, what `otherwise` says
#pragma once

#include <chrono>
#include <memory>

#include "device/device.h"

namespace hoist::device::remote {

// What there is without a hoistd. Where it is not to be waited for (`open`, `none`), one that does
// not answer within 0.1 s, being stopped, is none, and neither is one that lends a CPU, unless
// HOIST_GPU=require.
enum class WithoutHoistd {
  start,  // one is started, at most every 30 s, and found by a later call, or by this one in `wait`
  open,   // the first GPU as for inprocess: in Hoist's own programs, not in somebody else's
  none,
};

struct LendOptions {
  std::chrono::milliseconds wait{0};
  WithoutHoistd otherwise = WithoutHoistd::start;
  // Not 0: a connection of the caller's own, with so much memory for copies, whose descriptors are
  // closed with the device. Else all engines of the process share one.
  uint64_t own_pool = 0;
};

// `unavailable` with the reason where there is none. Thread-safe; in a child after fork() a new one
// is found. Whether a GPU is behind it: properties().compute_major > 0; a hoistd may lend a CPU,
// for tests.
Result<std::shared_ptr<Device>> lent_device(const LendOptions& options);

// Whether a hoistd that lent_device() would use answers, within 0.1 s. It may lend a CPU.
bool hoistd_answers();

}  // namespace hoist::device::remote
