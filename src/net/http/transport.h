// A connection's bytes: a non-blocking socket, plain or under TLS.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "base/file.h"

namespace hoist::net {

class Transport {
 public:
  explicit Transport(UniqueFd socket) : socket_(std::move(socket)) {}

  // `wait`: not now. `closed`: the other side is gone, or has said that it sends no more.
  enum class Outcome { done, wait, closed };
  Outcome receive(std::span<char> into, size_t& count);
  Outcome send(std::span<const iovec> parts, size_t& count);

  int fd() const { return socket_.get(); }

 private:
  UniqueFd socket_;
};

}  // namespace hoist::net
