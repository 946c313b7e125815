#include "daemon/reception.h"

#include <sys/types.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "device/remote/futex.h"

namespace hoist::daemon {
namespace {

constexpr uint64_t kPatienceNs = 2'000'000'000;
constexpr size_t kMostCandidates = 128;

}  // namespace

using device::remote::Received;

Result<std::unique_ptr<Reception>> Reception::open(net::EventLoop& loop, Closer& closer,
                                                   int listener, Statistics& statistics,
                                                   Visitor visitor) {
  std::unique_ptr<Reception> reception(
      new Reception(loop, closer, listener, statistics, std::move(visitor)));
  if (Status added = reception->listening_.start(); !added) return added.error();
  return reception;
}

Reception::Reception(net::EventLoop& loop, Closer& closer, int listener, Statistics& statistics,
                     Visitor visitor)
    : loop_(loop),
      closer_(closer),
      listening_(loop, listener, [this](UniqueFd socket) { receive(std::move(socket)); }),
      statistics_(statistics),
      visitor_(std::move(visitor)) {}

void Reception::receive(UniqueFd socket) {
  const Result<device::remote::Peer> peer = device::remote::peer_of(socket.get());
  if (!peer) return closer_.hang_up(std::move(socket));
  const int fd = socket.get();
  candidates_.push_back({std::move(socket), *peer, monotonic_ns() + kPatienceNs});
  const Place place = std::prev(candidates_.end());
  if (!loop_.add(fd, [this, place] { hear(place); })) {
    closer_.hang_up(std::move(place->socket));
    candidates_.erase(place);
  }
  if (candidates_.size() > kMostCandidates) make_room();
}

// The oldest of the user that has most has to go.
void Reception::make_room() {
  std::map<uid_t, size_t> counts;
  for (const Candidate& candidate : candidates_) ++counts[candidate.peer.uid];
  const auto most = std::max_element(
      counts.begin(), counts.end(),
      [](const auto& left, const auto& right) { return left.second < right.second; });
  drop(std::find_if(candidates_.begin(), candidates_.end(),
                    [&](const Candidate& candidate) { return candidate.peer.uid == most->first; }));
}

void Reception::hear(Place place) {
  std::vector<UniqueFd> unwanted;
  Result<std::optional<Received>> received =
      device::remote::receive_message(place->socket.get(), 0, &unwanted);
  closer_.close(std::move(unwanted));
  if (!received) return drop(place);
  if (!*received) return;
  loop_.remove(place->socket.get());
  Candidate candidate = std::move(*place);
  candidates_.erase(place);
  visitor_(std::move(candidate.socket), candidate.peer, std::move(**received));
}

void Reception::drop(Place place) {
  loop_.remove(place->socket.get());
  closer_.hang_up(std::move(place->socket));
  candidates_.erase(place);
  statistics_.refused.fetch_add(1, std::memory_order_relaxed);
}

int Reception::expire() {
  const uint64_t now = monotonic_ns();
  while (!candidates_.empty() && candidates_.front().until_ns <= now) drop(candidates_.begin());
  const int rest = listening_.wake();
  if (candidates_.empty()) return rest;
  const int next = static_cast<int>((candidates_.front().until_ns - now) / 1'000'000) + 1;
  return rest < 0 ? next : std::min(rest, next);
}

void Reception::close() {
  listening_.stop();
  while (!candidates_.empty()) drop(candidates_.begin());
}

}  // namespace hoist::daemon
