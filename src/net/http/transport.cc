#include "net/http/transport.h"

#include <sys/socket.h>

#include <cerrno>

namespace hoist::net {
namespace {

Transport::Outcome outcome_of(ssize_t result, size_t& count) {
  if (result > 0) {
    count = static_cast<size_t>(result);
    return Transport::Outcome::done;
  }
  const bool later = result < 0 && (errno == EAGAIN || errno == EINTR);
  return later ? Transport::Outcome::wait : Transport::Outcome::closed;
}

}  // namespace

Transport::Outcome Transport::receive(std::span<char> into, size_t& count) {
  if (tls_) return tls_->receive(into, count);
  return outcome_of(::recv(socket_.get(), into.data(), into.size(), MSG_DONTWAIT), count);
}

Transport::Outcome Transport::send(std::span<const iovec> parts, size_t& count) {
  if (tls_) return tls_->send(parts, count);
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(parts.data());
  message.msg_iovlen = parts.size();
  return outcome_of(::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT), count);
}

void Transport::shut_down() {
  if (tls_) tls_->shut_down();
  ::shutdown(socket_.get(), SHUT_WR);
}

}  // namespace hoist::net
