// A bounded pipe of bytes between a connection's loop, which never waits, and a thread, which does:
// a body that is too large for memory, read or written by a thread of the handler's.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "net/http/message.h"

namespace hoist::net {

class HttpPipe {
 public:
  static constexpr size_t kCapacity = 1 << 20;

  // The thread's side. They wait. `cancelled` and false: the connection is gone.
  Result<size_t> read(std::span<char> into);  // 0: the end
  bool write(std::string_view bytes);

  // The loop's side. `wake` is called, from the thread, when there is room or there are bytes
  // again.
  void set_wake(std::function<void()> wake);
  bool offer(std::string_view bytes);  // takes all; false: no more before `wake`
  HttpBodySource::Next collect(std::string& piece);

  // Either side calls these.
  void finish();   // the last byte is in it
  void abandon();  // one side is gone

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string bytes_;
  size_t taken_ = 0;  // of bytes_
  std::function<void()> wake_;
  bool loop_waits_ = false;
  bool finished_ = false;
  bool abandoned_ = false;
};

// A request's body, for one thread. Destroyed early, it drops the rest.
class HttpBodyReader {
 public:
  explicit HttpBodyReader(std::shared_ptr<HttpPipe> pipe) : pipe_(std::move(pipe)) {}
  HttpBodyReader(HttpBodyReader&&) = default;
  ~HttpBodyReader();

  // Waits for at least a byte. 0: the body's end; `cancelled`: the client is gone before it.
  Result<size_t> read(std::span<char> into) { return pipe_->read(into); }

 private:
  std::shared_ptr<HttpPipe> pipe_;
};

// A response's body, written by one thread. Destroyed before finish(), it closes the connection.
class HttpBodyWriter {
 public:
  HttpBodyWriter();
  HttpBodyWriter(HttpBodyWriter&&) = default;
  ~HttpBodyWriter();

  // For HttpResponse::source; once.
  std::shared_ptr<HttpBodySource> source();
  // Waits while the client is slow. False: it is gone.
  bool write(std::string_view bytes) { return pipe_->write(bytes); }
  void finish() { pipe_->finish(); }

 private:
  std::shared_ptr<HttpPipe> pipe_;
};

}  // namespace hoist::net
