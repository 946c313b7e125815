#include "ops/gunzip/file_sink.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/counters.h"
#include "base/crash_fallback.h"
#include "base/file.h"
#include "base/quiet_thread.h"

namespace hoist::gunzip {

uint8_t* DiscardingSink::first_buffer() {
  if (!buffer_) buffer_.reset(new uint8_t[OutputWindow::kBufferSize]);
  return buffer_.get();
}

uint8_t* DiscardingSink::submit(uint8_t* buffer, const uint8_t*, const uint8_t*) { return buffer; }

FileSink::~FileSink() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FileSink::redirect(int fd) {
  fd_ = fd;
  submitted_ = 0;
  error_ = 0;
}

uint8_t* FileSink::buffer_at(size_t index) {
  std::unique_ptr<uint8_t[]>& buffer = buffers_[index];
  if (!buffer) buffer.reset(new uint8_t[OutputWindow::kBufferSize]);
  return buffer.get();
}

uint8_t* FileSink::first_buffer() { return buffer_at(current_); }

bool FileSink::worth_a_thread() const { return second_cpu_ && submitted_ >= kThreadThreshold; }

// Signals reach the thread that knows what to clean up. False where no thread can be had.
bool FileSink::start_thread() {
  auto thread = start_quiet_thread([this] { write_pieces(); });
  if (thread) thread_ = *std::move(thread);
  second_cpu_ = thread.has_value();
  return second_cpu_;
}

void FileSink::report_progress(uint64_t bytes) {
  constexpr uint64_t kReportBytes = 16u << 20;
  unreported_ += bytes;
  if (unreported_ < kReportBytes) return;
  Counters::process().add_progress("gunzip", thread_.joinable() ? "cpu-all" : "cpu-1", unreported_);
  reported_ += std::exchange(unreported_, 0);
}

uint8_t* FileSink::submit(uint8_t* buffer, const uint8_t* begin, const uint8_t* end) {
  const Piece piece = {begin, end};
  submitted_ += static_cast<uint64_t>(end - begin);
  report_progress(static_cast<uint64_t>(end - begin));
  if (!thread_.joinable()) {
    if (!worth_a_thread() || !start_thread()) {
      if (error_ == 0) error_ = write_piece(piece);
      return error_ == 0 ? buffer : nullptr;
    }
  }
  std::unique_lock lock(mutex_);
  queue_[queued_ % kBuffers] = piece;
  ++queued_;
  changed_.notify_all();
  // One buffer is being filled, so the others may wait to be written.
  changed_.wait(lock, [this] { return queued_ - written_ < kBuffers || error_ != 0; });
  if (error_ != 0) return nullptr;
  current_ = (current_ + 1) % kBuffers;
  return buffer_at(current_);
}

int FileSink::drain() {
  if (!thread_.joinable()) return error_;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queued_ == written_; });
  return error_;
}

// Thread-safe; errno, or 0. A file of ours can still be removed, what came out of standard output
// cannot be taken back.
int FileSink::write_piece(const Piece& piece) const {
  if (fd_ == STDOUT_FILENO) commit_run();
  const Status written = write_full(fd_, piece.begin, static_cast<size_t>(piece.end - piece.begin));
  return written ? 0 : written.error().system_errno;
}

void FileSink::write_pieces() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return queued_ != written_ || closing_; });
    if (queued_ == written_) return;
    const Piece piece = queue_[written_ % kBuffers];
    if (error_ == 0) {
      lock.unlock();
      const int error = write_piece(piece);
      lock.lock();
      if (error != 0) error_ = error;
    }
    ++written_;
    changed_.notify_all();
  }
}

}  // namespace hoist::gunzip
