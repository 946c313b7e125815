#include "net/http/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

#include "base/quiet_thread.h"
#include "base/threads.h"
#include "net/address.h"

namespace hoist::net {
namespace {

constexpr std::string_view kCrowded =
    "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n"
    "connection: close\r\n\r\n";

// With more connections than descriptors, those beyond wait unanswered in the backlog.
void allow_descriptors(size_t connections) {
  constexpr rlim_t kOthers = 1000;  // files, sockets of others
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(connections + kOthers, limit.rlim_max);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

HttpServer::HttpServer(HttpServerOptions options, HttpRouter router)
    : state_(std::move(options), std::move(router)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::create(HttpServerOptions options,
                                                       HttpRouter router) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(options), std::move(router)));
  allow_descriptors(server->state_.options.most_connections);
  if (Status loaded = server->reload_certificate(); !loaded) return loaded.error();
  for (const std::string& address : server->state_.options.listen) {
    auto sockets = listen_at(address);
    if (!sockets) return sockets.error();
    for (UniqueFd& socket : *sockets) {
      server->addresses_.push_back(listening_address(socket.get()));
      server->sockets_.push_back(std::move(socket));
    }
  }
  const unsigned wanted = server->state_.options.threads;
  const unsigned threads = wanted > 0 ? wanted : static_cast<unsigned>(usable_cpus());
  for (unsigned i = 0; i < threads; ++i) {
    auto loop = HttpLoop::create(server->state_);
    if (!loop) return loop.error();
    server->loops_.push_back(std::move(*loop));
  }
  for (const UniqueFd& socket : server->sockets_) {
    server->listeners_.push_back(std::make_unique<Listener>(
        server->loops_.front()->events(), socket.get(),
        [server = server.get()](UniqueFd client) { server->receive(std::move(client)); }));
  }
  return server;
}

Status HttpServer::reload_certificate() {
  const HttpServerOptions& options = state_.options;
  if (options.certificate_file.empty()) return {};
  auto context = TlsContext::load(options.certificate_file, options.key_file);
  if (!context) return context.error();
  state_.set_tls(std::move(*context));
  return {};
}

HttpServer::~HttpServer() { stop_listening(); }

void HttpServer::stop_listening() {
  for (const auto& listener : listeners_) listener->stop();
  sockets_.clear();
  for (const std::string& address : state_.options.listen) {
    if (address.starts_with("unix:")) ::unlink(address.c_str() + 5);
  }
}

Status HttpServer::run() {
  for (const auto& listener : listeners_) {
    if (Status started = listener->start(); !started) return started;
  }
  std::vector<Status> ends(loops_.size());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < loops_.size(); ++i) {
    auto thread = start_quiet_thread([this, i, &ends] { ends[i] = loops_[i]->run(); });
    if (!thread) {
      ends[0] = thread.error();
      break;
    }
    threads.push_back(std::move(*thread));
  }
  if (ends[0]) ends[0] = loops_[0]->run([this] { return each_time(); });
  for (size_t i = 0; i < threads.size(); ++i) {
    if (!ends[0]) loops_[i + 1]->drain(0);
    threads[i].join();
  }
  const auto failed =
      std::find_if(ends.begin(), ends.end(), [](const Status& end) { return !end; });
  return failed == ends.end() ? Status() : *failed;
}

// On the first loop's thread, before each wait.
int HttpServer::each_time() {
  if (const uint64_t grace_ms = grace_ms_; grace_ms != drains_ms_) {
    stop_listening();
    for (const auto& loop : loops_) loop->drain(grace_ms);
    drains_ms_ = grace_ms;
  }
  int wait = -1;
  for (const auto& listener : listeners_) {
    const int rest = listener->wake();
    if (rest >= 0) wait = wait < 0 ? rest : std::min(wait, rest);
  }
  return wait;
}

void HttpServer::stop(uint64_t grace_ms) {
  grace_ms_ = grace_ms;
  loops_.front()->wake();
}

// To the loop that has the fewest.
void HttpServer::receive(UniqueFd socket) {
  ++state_.counters.accepted;
  const auto loop = std::min_element(
      loops_.begin(), loops_.end(),
      [](const auto& a, const auto& b) { return a->connections() < b->connections(); });
  size_t connections = 0;
  for (const auto& each : loops_) connections += each->connections();
  if (connections >= state_.options.most_connections) {
    ++state_.counters.refused;
    (void)!::send(socket.get(), kCrowded.data(), kCrowded.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  const int one = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  std::string peer = peer_address(socket.get());
  (*loop)->adopt(std::move(socket), std::move(peer));
}

}  // namespace hoist::net
