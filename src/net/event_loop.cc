#include "net/event_loop.h"

#include <fmt/core.h>
#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hoist::net {
namespace {

Error system_error(const char* call) {
  const int code = errno;
  return fail(ErrorCode::io, fmt::format("{}: {}", call, std::strerror(code)), code);
}

}  // namespace

Result<EventLoop> EventLoop::create() {
  EventLoop loop;
  loop.epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!loop.epoll_.valid()) return system_error("epoll_create");
  return loop;
}

Status EventLoop::add(int fd, std::function<void()> handler) {
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLRDHUP;
  const uint32_t time = ++times_;
  event.data.u64 = uint64_t{time} << 32 | static_cast<uint32_t>(fd);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return system_error("epoll_ctl");
  handlers_[fd] = {time, std::make_shared<std::function<void()>>(std::move(handler))};
  return {};
}

void EventLoop::remove(int fd) {
  if (handlers_.erase(fd) > 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

Status EventLoop::run_once(int milliseconds) {
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), milliseconds);
  if (count < 0 && errno != EINTR) return system_error("epoll_wait");
  for (int i = 0; i < count; ++i) {
    const uint64_t told = events[static_cast<size_t>(i)].data.u64;
    const auto found = handlers_.find(static_cast<int>(told & 0xffffffff));
    // An earlier handler may have removed it, and added another of the same number.
    if (found == handlers_.end() || found->second.time != told >> 32) continue;
    const auto handler = found->second.handler;  // which may remove itself
    (*handler)();
  }
  return {};
}

}  // namespace hoist::net
