// Objects of which one thread at a time may use each: a second one gets an error instead of a race.
//
//   const OneUser user(busy_, "decoder");   // with the interpreter's lock held
//
// No lock is waited for, so that a child after fork() cannot meet one that nobody unlocks.
#pragma once

#include <atomic>
#include <string>

#include "base/result.h"
#include "python/errors.h"

namespace hoist::python {

class OneUser {
 public:
  OneUser(std::atomic<bool>& busy, const std::string& what) : busy_(busy) {
    if (busy_.exchange(true)) {
      raise({ErrorCode::invalid_argument,
             "another thread uses this " + what + ": take turns, or give each thread its own"});
    }
  }
  ~OneUser() { busy_ = false; }
  OneUser(const OneUser&) = delete;
  OneUser& operator=(const OneUser&) = delete;

 private:
  std::atomic<bool>& busy_;
};

}  // namespace hoist::python
