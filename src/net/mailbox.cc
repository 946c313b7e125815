#include "net/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace hoist::net {

Result<std::shared_ptr<Mailbox>> Mailbox::create(EventLoop& loop) {
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) return fail(ErrorCode::io, "cannot make an eventfd", errno);
  const int fd = event.get();
  std::shared_ptr<Mailbox> mailbox(new Mailbox(loop, std::move(event)));
  const Status added = loop.add(fd, [box = mailbox.get()] { box->run_posted(); });
  if (!added) return added.error();
  return mailbox;
}

bool Mailbox::post(std::function<void()> work) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    first = posted_.empty();
    posted_.push_back(std::move(work));
  }
  if (first) wake();
  return true;
}

void Mailbox::wake() const {
  const uint64_t one = 1;
  // It fails only where the count is near its end: then the loop is awake.
  (void)!::write(event_.get(), &one, sizeof one);
}

void Mailbox::run_posted() {
  uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof count);
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(posted_);
  }
  for (const auto& each : work) each();
}

void Mailbox::close() {
  std::vector<std::function<void()>> dropped;  // without the lock: their ends may post
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) loop_.remove(event_.get());
    closed_ = true;
    dropped.swap(posted_);
  }
}

}  // namespace hoist::net
