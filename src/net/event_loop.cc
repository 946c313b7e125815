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

uint64_t told(int fd, uint32_t time) { return uint64_t{time} << 32 | static_cast<uint32_t>(fd); }

uint32_t events_of(EventLoop::Interest interest) {
  return (interest.read ? uint32_t{EPOLLIN} : 0) | (interest.write ? uint32_t{EPOLLOUT} : 0) |
         (interest.end ? uint32_t{EPOLLRDHUP} : 0);
}

EventLoop::Ready ready_of(uint32_t events) {
  return {.read = (events & EPOLLIN) != 0,
          .write = (events & EPOLLOUT) != 0,
          .end = (events & EPOLLRDHUP) != 0,
          .broken = (events & (EPOLLERR | EPOLLHUP)) != 0};
}

}  // namespace

Result<EventLoop> EventLoop::create() {
  EventLoop loop;
  loop.epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!loop.epoll_.valid()) return system_error("epoll_create");
  return loop;
}

Status EventLoop::insert(int fd, uint32_t events, std::function<void(Ready)> handler) {
  epoll_event event = {};
  event.events = events;
  const uint32_t time = ++times_;
  event.data.u64 = told(fd, time);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return system_error("epoll_ctl");
  handlers_[fd] = {time, std::make_shared<std::function<void(Ready)>>(std::move(handler))};
  return {};
}

Status EventLoop::add(int fd, std::function<void()> handler) {
  return insert(fd, EPOLLIN | EPOLLRDHUP, [handler = std::move(handler)](Ready) { handler(); });
}

Status EventLoop::watch(int fd, Interest interest, std::function<void(Ready)> handler) {
  return insert(fd, events_of(interest), std::move(handler));
}

Status EventLoop::change(int fd, Interest interest) {
  epoll_event event = {};
  event.events = events_of(interest);
  event.data.u64 = told(fd, handlers_.at(fd).time);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) != 0) return system_error("epoll_ctl");
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
    const epoll_event& event = events[static_cast<size_t>(i)];
    const auto found = handlers_.find(static_cast<int>(event.data.u64 & 0xffffffff));
    // An earlier handler may have removed it, and added another of the same number.
    if (found == handlers_.end() || found->second.time != event.data.u64 >> 32) continue;
    const auto handler = found->second.handler;  // which may remove itself
    (*handler)(ready_of(event.events));
  }
  return {};
}

}  // namespace hoist::net
