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
  return outcome_of(::recv(socket_.get(), into.data(), into.size(), MSG_DONTWAIT), count);
}

Transport::Outcome Transport::send(std::span<const iovec> parts, size_t& count) {
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(parts.data());
  message.msg_iovlen = parts.size();
  return outcome_of(::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT), count);
}

}  // namespace hoist::net
