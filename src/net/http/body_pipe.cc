#include "net/http/body_pipe.h"

#include <algorithm>
#include <cstring>

namespace hoist::net {
namespace {

class PipeSource : public HttpBodySource {
 public:
  explicit PipeSource(std::shared_ptr<HttpPipe> pipe) : pipe_(std::move(pipe)) {}
  ~PipeSource() override { pipe_->abandon(); }

  Next next(std::string& piece) override { return pipe_->collect(piece); }
  void set_wake(std::function<void()> wake) override { pipe_->set_wake(std::move(wake)); }

 private:
  const std::shared_ptr<HttpPipe> pipe_;
};

}  // namespace

Result<size_t> HttpPipe::read(std::span<char> into) {
  std::function<void()> wake;
  size_t count = 0;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return taken_ < bytes_.size() || finished_ || abandoned_; });
    if (abandoned_) return fail(ErrorCode::cancelled, "the connection is gone");
    count = std::min(into.size(), bytes_.size() - taken_);
    std::memcpy(into.data(), bytes_.data() + taken_, count);
    taken_ += count;
    if (taken_ == bytes_.size()) {
      bytes_.clear();
      taken_ = 0;
    }
    if (loop_waits_ && bytes_.size() - taken_ <= kCapacity / 2) {
      loop_waits_ = false;
      wake = wake_;
    }
  }
  if (wake) wake();
  return count;
}

bool HttpPipe::write(std::string_view bytes) {
  std::function<void()> wake;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return bytes_.size() < kCapacity || abandoned_; });
    if (abandoned_) return false;
    bytes_ += bytes;
    if (std::exchange(loop_waits_, false)) wake = wake_;
  }
  if (wake) wake();
  return true;
}

void HttpPipe::set_wake(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

bool HttpPipe::offer(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (abandoned_) return true;  // nobody wants them
  if (taken_ > 0 && bytes_.size() + bytes.size() > bytes_.capacity()) {
    bytes_.erase(0, taken_);
    taken_ = 0;
  }
  bytes_ += bytes;
  loop_waits_ = bytes_.size() - taken_ >= kCapacity;
  changed_.notify_one();
  return !loop_waits_;
}

HttpBodySource::Next HttpPipe::collect(std::string& piece) {
  const std::lock_guard lock(mutex_);
  if (!bytes_.empty()) {
    piece += bytes_;
    bytes_.clear();
    changed_.notify_one();
    return HttpBodySource::Next::piece;
  }
  if (finished_) return HttpBodySource::Next::end;
  if (abandoned_) return HttpBodySource::Next::failed;
  loop_waits_ = true;
  return HttpBodySource::Next::later;
}

void HttpPipe::finish() {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    if (std::exchange(loop_waits_, false)) wake = wake_;
    changed_.notify_one();
  }
  if (wake) wake();
}

void HttpPipe::abandon() {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (!finished_) abandoned_ = true;
    if (std::exchange(loop_waits_, false)) wake = wake_;
    changed_.notify_one();
  }
  if (wake) wake();
}

HttpBodyReader::~HttpBodyReader() {
  if (pipe_) pipe_->abandon();
}

HttpBodyWriter::HttpBodyWriter() : pipe_(std::make_shared<HttpPipe>()) {}

HttpBodyWriter::~HttpBodyWriter() {
  if (pipe_) pipe_->abandon();
}

std::shared_ptr<HttpBodySource> HttpBodyWriter::source() {
  return std::make_shared<PipeSource>(pipe_);
}

}  // namespace hoist::net
