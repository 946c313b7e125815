// What an engine for library calls tells about itself: counters where `hoist run` reads them, the
// sample that --verify draws, and whether the operation is still on.
//
//   static LibraryCalls* const calls = new LibraryCalls("zstd");   // static destructors may call
//   if (calls->is_switched_off()) return calls->passed("switched off by --verify");
//   const CallClock clock;
//   … the work …
//   calls->done("cpu-all", bytes, clock.nanoseconds());
//
// All members may be called from any thread, inside OwnWork (base/own_work.h): they may throw where
// memory is short.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/counters.h"

namespace hoist {

class LibraryCalls {
 public:
  // Reads the environment and the note of --verify once. A program under `hoist run` shares its
  // launcher's counters; it gets none of its own, and no descriptor stays open in it.
  explicit LibraryCalls(std::string_view operation);

  // One call that stays with the original, and why. Always false.
  bool passed(std::string_view reason);
  void done(std::string_view implementation, uint64_t bytes, uint64_t nanoseconds);

  bool is_switched_off() const { return switched_off_.load(std::memory_order_relaxed); }
  // Whether this call is in the sample that --verify=RATE draws.
  bool is_drawn() const;
  // What came of the comparison. A difference switches the operation off, here and in every later
  // process; `what` describes the call.
  void verified(bool same, std::string_view what);
  // A call that was drawn and cannot be compared.
  void verification_left_out(std::string_view why);

 private:
  const std::string operation_;
  std::unique_ptr<Counters> counters_;
  double rate_ = 0;
  std::atomic<bool> switched_off_;
};

class CallClock {
 public:
  uint64_t nanoseconds() const {
    return static_cast<uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count());
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hoist
