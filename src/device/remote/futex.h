// Futexes in memory that processes share (futex(2)): a word that one side changes and the other
// sleeps on. Time is CLOCK_MONOTONIC throughout (base/monotonic.h).
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>

#include "base/monotonic.h"

namespace hoist::device::remote {

// Sleeps while `word` holds `expected`, until a wake-up, a signal or `deadline_ns` (0: none).
// May return early: callers look again.
inline void futex_wait(const uint32_t* word, uint32_t expected, uint64_t deadline_ns) {
  const timespec until = {static_cast<time_t>(deadline_ns / 1'000'000'000),
                          static_cast<long>(deadline_ns % 1'000'000'000)};
  // WAIT_BITSET takes an absolute time where WAIT would take an interval.
  ::syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected, deadline_ns != 0 ? &until : nullptr,
            nullptr, FUTEX_BITSET_MATCH_ANY);
}

inline void futex_wake_all(const uint32_t* word) {
  ::syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace hoist::device::remote
