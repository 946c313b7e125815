// Work that other threads give to a loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "net/event_loop.h"

namespace hoist::net {

// Shared by the loop's owner and those who post. What is posted runs in order, on the thread that
// runs the loop.
class Mailbox {
 public:
  // The owner must close() it before `loop` goes.
  static Result<std::shared_ptr<Mailbox>> create(EventLoop& loop);

  // From any thread. False after close(): the work is dropped.
  bool post(std::function<void()> work);
  // Makes the loop's run_once() return. From any thread, and from a signal's handler.
  void wake() const;
  // On the loop's thread, or when that thread has ended.
  void close();

 private:
  Mailbox(EventLoop& loop, UniqueFd event) : loop_(loop), event_(std::move(event)) {}
  void run_posted();

  EventLoop& loop_;
  const UniqueFd event_;
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<std::function<void()>> posted_;
};

}  // namespace hoist::net
