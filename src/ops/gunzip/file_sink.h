// Where inflated bytes go: nowhere, or a descriptor, written by a second thread once there is
// enough to be worth one.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "ops/gunzip/output_window.h"

namespace hoist::gunzip {

class DiscardingSink : public ByteSink {
 public:
  uint8_t* first_buffer() override;
  uint8_t* submit(uint8_t* buffer, const uint8_t* begin, const uint8_t* end) override;

 private:
  std::unique_ptr<uint8_t[]> buffer_;
};

// Not thread-safe itself: one thread submits and drains.
class FileSink : public ByteSink {
 public:
  // With `threads` above 1 a second thread writes where that pays.
  explicit FileSink(int threads) : second_cpu_(threads > 1) {}
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() override;

  // What is submitted from now on goes to `fd`; drain() first.
  void redirect(int fd);

  uint8_t* first_buffer() override;
  uint8_t* submit(uint8_t* buffer, const uint8_t* begin, const uint8_t* end) override;

  // Waits until everything is written; errno of a write that failed, else 0.
  int drain();

  uint64_t written() const { return submitted_; }  // since redirect(); exact after drain()
  // How much of all that was ever submitted the counters already know as progress.
  uint64_t reported() const { return reported_; }
  bool used_thread() const { return thread_.joinable(); }

 private:
  static constexpr size_t kBuffers = 4;
  // Below this a thread costs more than it saves, and so does finding out whether it would have a
  // CPU of its own.
  static constexpr uint64_t kThreadThreshold = uint64_t{512} << 10;

  struct Piece {
    const uint8_t* begin;
    const uint8_t* end;
  };

  bool worth_a_thread() const;
  bool start_thread();
  void report_progress(uint64_t bytes);
  uint8_t* buffer_at(size_t index);
  int write_piece(const Piece& piece) const;
  void write_pieces();

  int fd_ = -1;
  uint64_t submitted_ = 0;
  uint64_t unreported_ = 0;
  uint64_t reported_ = 0;
  bool second_cpu_;
  size_t current_ = 0;  // buffer that the decoder fills
  std::array<std::unique_ptr<uint8_t[]>, kBuffers> buffers_;

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_ once the thread runs.
  std::array<Piece, kBuffers> queue_{};
  uint64_t queued_ = 0;   // pieces ever queued
  uint64_t written_ = 0;  // pieces ever written
  int error_ = 0;
  bool closing_ = false;
};

}  // namespace hoist::gunzip
