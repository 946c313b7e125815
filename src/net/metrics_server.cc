#include "net/metrics_server.h"

#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/monotonic.h"

namespace hoist::net {
namespace {

constexpr uint64_t kPatienceNs = 2'000'000'000;
constexpr size_t kMostVisits = 8;
constexpr size_t kMostRequest = 8192;

}  // namespace

MetricsServer::MetricsServer(EventLoop& loop, UniqueFd listener, std::function<std::string()> text)
    : loop_(loop),
      listener_(std::move(listener)),
      listening_(loop, listener_.get(), [this](UniqueFd socket) { receive(std::move(socket)); }),
      text_(std::move(text)) {}

MetricsServer::~MetricsServer() {
  listening_.stop();
  while (!visits_.empty()) drop(visits_.begin());
}

Status MetricsServer::start() { return listening_.start(); }

void MetricsServer::receive(UniqueFd socket) {
  if (visits_.size() == kMostVisits) drop(visits_.begin());
  const int fd = socket.get();
  visits_.push_back({std::move(socket), monotonic_ns() + kPatienceNs, {}});
  const Place place = std::prev(visits_.end());
  if (!loop_.add(fd, [this, place] { read(place); })) visits_.erase(place);
}

void MetricsServer::read(Place place) {
  char bytes[1024];
  const ssize_t count = ::recv(place->socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0) place->request.append(bytes, static_cast<size_t>(count));
  const bool complete = place->request.find("\r\n\r\n") != std::string::npos;
  if (complete) {
    const std::string text = text_();
    const std::string answer = fmt::format(
        "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n"
        "Connection: close\r\n\r\n{}",
        text.size(), text);
    // A few KiB: it fits the socket's buffer.
    (void)::send(place->socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  if (complete || count <= 0 || place->request.size() > kMostRequest) drop(place);
}

void MetricsServer::drop(Place place) {
  loop_.remove(place->socket.get());
  visits_.erase(place);
}

int MetricsServer::expire() {
  const uint64_t now = monotonic_ns();
  while (!visits_.empty() && visits_.front().until_ns <= now) drop(visits_.begin());
  const int rest = listening_.wake();
  if (visits_.empty()) return rest;
  const int next = static_cast<int>((visits_.front().until_ns - now) / 1'000'000) + 1;
  return rest < 0 ? next : std::min(rest, next);
}

}  // namespace hoist::net
