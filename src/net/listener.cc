#include "net/listener.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/monotonic.h"

namespace hoist::net {
namespace {

constexpr uint64_t kRestNs = 100'000'000;
constexpr int kMostAtOnce = 32;

}  // namespace

Status Listener::start() {
  wanted_ = true;
  Status added = loop_.add(listener_, [this] { accept_some(); });
  listening_ = added.has_value();
  return added;
}

void Listener::stop() {
  if (listening_) loop_.remove(listener_);
  wanted_ = listening_ = false;
}

// Faster than a crowd can come, without starving those who are in.
void Listener::accept_some() {
  for (int i = 0; i < kMostAtOnce && listening_; ++i) {
    UniqueFd socket(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.valid()) {
      receive_(std::move(socket));
      continue;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) rest();
    return;
  }
}

void Listener::rest() {
  if (listening_) loop_.remove(listener_);
  listening_ = false;
  rests_until_ns_ = monotonic_ns() + kRestNs;
}

int Listener::wake() {
  if (!wanted_ || listening_) return -1;
  if (monotonic_ns() >= rests_until_ns_ && !start()) rest();
  if (listening_) return -1;
  const uint64_t now = monotonic_ns();
  return now < rests_until_ns_ ? static_cast<int>((rests_until_ns_ - now) / 1'000'000) + 1 : 0;
}

}  // namespace hoist::net
