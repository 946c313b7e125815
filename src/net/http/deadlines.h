// When each connection's patience ends. Every kind of wait has one length, so its connections stand
// in the order in which they end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>

namespace hoist::net {

class HttpConnection;

enum class HttpWait { nothing, head, body, idle, write, linger, ping };

class HttpDeadlines {
 public:
  static constexpr size_t kWaits = 7;
  struct Waiting {
    HttpConnection* connection;
    HttpWait wait;
    uint64_t until_ns;
  };
  using Place = std::list<Waiting>::iterator;

  explicit HttpDeadlines(const std::array<uint64_t, kWaits>& milliseconds);

  Place add(HttpConnection* connection);  // waits for nothing
  void set(Place place, HttpWait wait, uint64_t now_ns);
  void remove(Place place);

  // One whose time is over; null: nobody's is. The caller must set() or remove() it.
  HttpConnection* expired(uint64_t now_ns) const;
  // Milliseconds until the next is over; -1: nobody waits.
  int milliseconds(uint64_t now_ns) const;

 private:
  std::list<Waiting>& list(HttpWait wait) { return lists_[static_cast<size_t>(wait)]; }

  std::array<uint64_t, kWaits> lengths_ns_;
  std::array<std::list<Waiting>, kWaits> lists_;
};

}  // namespace hoist::net
