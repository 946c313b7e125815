// A connection's bytes: a non-blocking socket, plain or under TLS.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "base/file.h"
#include "net/http/tls.h"

namespace hoist::net {

class Transport {
 public:
  explicit Transport(UniqueFd socket, std::unique_ptr<TlsStream> tls = nullptr)
      : socket_(std::move(socket)), tls_(std::move(tls)) {}

  // `wait`: not now. `closed`: the other side is gone, or has said that it sends no more.
  using Outcome = TlsStream::Outcome;
  Outcome receive(std::span<char> into, size_t& count);
  Outcome send(std::span<const iovec> parts, size_t& count);
  void shut_down();  // says that no more is sent

  int fd() const { return socket_.get(); }
  bool established() const { return !tls_ || tls_->established(); }
  bool has_received() const { return tls_ && tls_->has_received(); }
  bool wants_write() const { return tls_ && tls_->wants_write(); }

 private:
  UniqueFd socket_;
  std::unique_ptr<TlsStream> tls_;  // goes before its socket
};

}  // namespace hoist::net
