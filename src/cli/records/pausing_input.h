// Input that is given in pieces of time: what a slow pipe brings within a while, and what it had
// brought when the user stops the command.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace hoist::cli {

class PausingInput {
 public:
  // `pause`: how long read() waits for more behind the first byte; 0: until there is no room left.
  // The caller has called catch_interrupts() (cli/interrupts.h).
  PausingInput(int fd, std::string name, std::chrono::milliseconds pause)
      : fd_(fd), name_(std::move(name)), pause_(pause) {}

  // Fills the span as far as the input and the time allow; 0 at the end. `cancelled` after an
  // interrupt, once what was read before it has been given.
  Result<size_t> read(std::span<char> into);

  uint64_t bytes() const { return bytes_; }  // given so far

 private:
  // False: the time is up, or an interrupt came.
  Result<bool> wait(bool has_deadline, std::chrono::steady_clock::time_point deadline) const;

  int fd_;
  std::string name_;
  std::chrono::milliseconds pause_;
  uint64_t bytes_ = 0;
};

}  // namespace hoist::cli
