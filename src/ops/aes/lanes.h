// Threads for large calls. To the program it shall look as if the default provider had done the
// work: threads wait for the next large call for a moment and then end, and none lives through a
// fork() of the program (Python warns where a process that forks has more threads than one).
//
// Starting a thread for each call would be simpler, and takes 20 us for one thread, but 200 us for
// 15 of them, where waking them takes 30: half the speed of 16 MiB on 16 cores.
#pragma once

#include <cstddef>
#include <type_traits>

namespace hoist::aes {

constexpr size_t kMaxLanes = 64;

// Calls call(context, lane) for lane 0 on the calling thread and, where threads can be had, for
// lanes up to `lanes` - 1 on others, all at the same time; returns when all have returned. Other
// lanes than the first may be left out: what there is to do must be taken from a shared count, not
// depend on the lane. `lanes` is at most kMaxLanes. Calls of several threads wait for one another.
//
// Until it returns, signals to the calling thread wait, except those of its own faults: a handler
// that jumped out of the call would take from the other lanes the memory that they work with.
void run_lanes(size_t lanes, void (*call)(void* context, size_t lane), void* context);

// Whether the calling thread is in run_lanes() with others: in a handler of a fault of its own, or
// for good, where such a handler has left the call by siglongjmp(). It may have no second one.
bool in_lanes();

// run_lanes() with body(lane), which must not throw.
template <typename Body>
void for_each_lane(size_t lanes, Body&& body) {
  run_lanes(
      lanes,
      [](void* erased, size_t lane) {
        (*static_cast<std::remove_reference_t<Body>*>(erased))(lane);
      },
      &body);
}

}  // namespace hoist::aes
