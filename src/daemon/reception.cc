#include "daemon/reception.h"

#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "device/remote/futex.h"

namespace hoist::daemon {
namespace {

constexpr uint64_t kPatienceNs = 2'000'000'000;
constexpr size_t kMostCandidates = 128;
constexpr int kPauseMilliseconds = 100;
constexpr int kMostAtOnce = 32;

}  // namespace

using device::remote::monotonic_ns;
using device::remote::Received;

Result<std::unique_ptr<Reception>> Reception::open(Loop& loop, int listener, Statistics& statistics,
                                                   Visitor visitor) {
  std::unique_ptr<Reception> reception(
      new Reception(loop, listener, statistics, std::move(visitor)));
  if (Status added = reception->listen(); !added) return tl::unexpected(added.error());
  return reception;
}

Status Reception::listen() {
  listening_ = true;
  return loop_.add(listener_, [this] { accept_some(); });
}

// Faster than a crowd can come, without starving those who are in.
void Reception::accept_some() {
  for (int i = 0; i < kMostAtOnce && accept(); ++i) {
  }
}

bool Reception::accept() {
  UniqueFd socket(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.valid()) {
    // Out of descriptors: the connection stays in the backlog, and would wake us without end.
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      loop_.remove(listener_);
      listening_ = false;
    }
    return false;
  }
  const Result<device::remote::Peer> peer = device::remote::peer_of(socket.get());
  if (!peer) return true;
  if (candidates_.size() == kMostCandidates) drop(candidates_.begin());
  const int fd = socket.get();
  candidates_.push_back({std::move(socket), *peer, monotonic_ns() + kPatienceNs});
  const Place place = std::prev(candidates_.end());
  if (!loop_.add(fd, [this, place] { hear(place); })) candidates_.erase(place);
  return true;
}

void Reception::hear(Place place) {
  Result<std::optional<Received>> received =
      device::remote::receive_message(place->socket.get(), 0);
  if (!received) return drop(place);
  if (!*received) return;
  loop_.remove(place->socket.get());
  Candidate candidate = std::move(*place);
  candidates_.erase(place);
  visitor_(std::move(candidate.socket), candidate.peer, std::move(**received));
}

void Reception::drop(Place place) {
  loop_.remove(place->socket.get());
  candidates_.erase(place);
  statistics_.refused.fetch_add(1, std::memory_order_relaxed);
}

int Reception::expire() {
  const uint64_t now = monotonic_ns();
  while (!candidates_.empty() && candidates_.front().until_ns <= now) drop(candidates_.begin());
  if (!listening_ && !closed_) {
    (void)listen();
    return kPauseMilliseconds;
  }
  if (candidates_.empty()) return -1;
  return static_cast<int>((candidates_.front().until_ns - now) / 1'000'000) + 1;
}

void Reception::close() {
  closed_ = true;
  if (listening_) loop_.remove(listener_);
  listening_ = false;
  while (!candidates_.empty()) drop(candidates_.begin());
}

}  // namespace hoist::daemon
