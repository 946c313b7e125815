#include "net/http/deadlines.h"

#include <algorithm>
#include <limits>

namespace hoist::net {

HttpDeadlines::HttpDeadlines(const std::array<uint64_t, kWaits>& milliseconds) {
  std::transform(milliseconds.begin(), milliseconds.end(), lengths_ns_.begin(),
                 [](uint64_t length) { return length * 1'000'000; });
}

HttpDeadlines::Place HttpDeadlines::add(HttpConnection* connection) {
  auto& waiting = list(HttpWait::nothing);
  return waiting.insert(waiting.end(), {connection, HttpWait::nothing, 0});
}

void HttpDeadlines::set(Place place, HttpWait wait, uint64_t now_ns) {
  auto& to = list(wait);
  to.splice(to.end(), list(place->wait), place);
  place->wait = wait;
  place->until_ns = now_ns + lengths_ns_[static_cast<size_t>(wait)];
}

void HttpDeadlines::remove(Place place) { list(place->wait).erase(place); }

HttpConnection* HttpDeadlines::expired(uint64_t now_ns) const {
  for (size_t i = 1; i < lists_.size(); ++i) {
    if (!lists_[i].empty() && lists_[i].front().until_ns <= now_ns) {
      return lists_[i].front().connection;
    }
  }
  return nullptr;
}

int HttpDeadlines::milliseconds(uint64_t now_ns) const {
  uint64_t next = std::numeric_limits<uint64_t>::max();
  for (size_t i = 1; i < lists_.size(); ++i) {
    if (!lists_[i].empty()) next = std::min(next, lists_[i].front().until_ns);
  }
  if (next == std::numeric_limits<uint64_t>::max()) return -1;
  return next <= now_ns
             ? 0
             : static_cast<int>(std::min<uint64_t>((next - now_ns) / 1'000'000 + 1, 3'600'000));
}

}  // namespace hoist::net
