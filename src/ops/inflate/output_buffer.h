// Where a stream's output is decoded to, with what was written before in front of it.
//
// The program's own memory would save a copy, but the fast loop copies matches in words, past their
// end, and programs may rely on what lies behind the last byte that inflate() has written: a
// buffer filled with zeros still ends a text with one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "codec/deflate_loop.h"

namespace hoist::inflate {

class OutputBuffer {
 public:
  static constexpr size_t kMostWindow = size_t{32} << 10;

  OutputBuffer() = default;
  // Only what is of use is copied.
  OutputBuffer(const OutputBuffer& other) { *this = other; }
  OutputBuffer& operator=(const OutputBuffer& other) {
    if (this == &other) return *this;
    window_ = other.window_;
    known_ = other.known_;
    next_ = other.next_;
    unsent_ = other.unsent_;
    const size_t kept = std::min(next_, kMostWindow);
    std::memcpy(next() - kept, other.buffer_.data() + next_ - kept, kept);
    return *this;
  }

  void set_window(size_t size) { window_ = size; }

  // Before a call of inflate(): matches reach back `window` bytes behind its output.
  void begin_call() { known_ = std::min(known_, window_); }

  // Where the next byte goes. There is room for a match and what the fast loop adds to it, unless
  // full().
  uint8_t* next() { return buffer_.data() + next_; }
  void advance(size_t count) {
    next_ += count;
    known_ += count;
  }
  bool full() const { return next_ >= kFull; }
  size_t until_full() const { return kFull - next_; }

  // How far back a match may reach.
  size_t reach() const { return std::min(known_, kMostWindow); }

  // What pass_on() would copy.
  const uint8_t* unsent() const { return buffer_.data() + unsent_; }
  size_t unsent_size() const { return next_ - unsent_; }
  void pass_on(uint8_t* to) {
    if (unsent_size() != 0) std::memcpy(to, unsent(), unsent_size());
    unsent_ = next_;
    if (full()) slide();
  }

  // Bytes that matches may refer to, and that nobody gets. All output has been passed on.
  void put_before(const uint8_t* data, size_t size) {
    const size_t kept = std::min(size, window_);
    if (kept == 0) return;
    if (kept > kFull - next_) slide();
    std::memcpy(next(), data + (size - kept), kept);
    next_ += kept;
    unsent_ = next_;
    known_ = std::min(known_ + kept, window_);
  }

 private:
  static constexpr size_t kFull = 3 * kMostWindow;

  void slide() {
    const size_t kept = std::min(next_, kMostWindow);
    std::memmove(buffer_.data(), next() - kept, kept);
    next_ = unsent_ = kept;
  }

  size_t window_ = kMostWindow;
  size_t next_ = 0;
  size_t unsent_ = 0;
  size_t known_ = 0;
  std::array<uint8_t, kFull + codec::deflate::kOutputMargin> buffer_;
};

}  // namespace hoist::inflate
