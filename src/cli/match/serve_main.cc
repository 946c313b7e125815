// libexec/hoist/hoist-serve: what `hoist match serve` becomes.
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "base/quiet_thread.h"
#include "cli/match/serve_options.h"
#include "cli/report.h"
#include "cli/tool.h"
#include "net/http/server.h"
#include "service/origins.h"
#include "service/tokens.h"

namespace hoist::cli {
namespace {

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

// Reads again what may change while it serves. What is wrong stays as it was.
void reload(const ServeOptions& options, service::Tokens& tokens, net::HttpServer& server) {
  const auto tell = [](std::string_view what, const Status& status) {
    if (status) log(LogLevel::info, "read {} again", what);
    if (!status) log(LogLevel::error, "{} stays as it was: {}", what, status.error().message);
  };
  if (!options.config_file.empty())
    tell("the configuration", service::load_session_defaults(options.config_file));
  if (!options.token_file.empty()) tell("the tokens", tokens.load(options.token_file));
  if (!options.server.certificate_file.empty()) {
    tell("the certificate", server.reload_certificate());
  }
}

// Waits for signals, and looks after sessions once a second, until it is told to stop.
void attend(const ServeOptions& options, service::Service& service, service::Tokens& tokens,
            net::HttpServer& server, int signals) {
  for (;;) {
    signalfd_siginfo signal = {};
    pollfd wanted = {.fd = signals, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wanted, 1, 1000);
    service.tend();
    if (ready <= 0) continue;
    if (!read_full(signals, &signal, sizeof signal)) continue;
    if (signal.ssi_signo == SIGHUP) {
      reload(options, tokens, server);
      continue;
    }
    server.stop(options.grace_seconds * 1000);
    return;
  }
}

void allow_origin(const service::Origins& origins, const net::HttpExchange& exchange,
                  net::HttpResponse& response) {
  if (exchange.origin.empty() || !origins.is_allowed(exchange.origin)) return;
  response.headers.push_back({"access-control-allow-origin", std::string(exchange.origin)});
  response.headers.push_back({"vary", "origin"});
  if (exchange.method != "OPTIONS") return;
  response.headers.push_back({"access-control-allow-methods", "GET, POST, DELETE"});
  response.headers.push_back(
      {"access-control-allow-headers", "content-type, authorization, x-node-id, x-test-id"});
  response.headers.push_back({"access-control-max-age", "600"});
}

void say_where(const ServeOptions& options, const net::HttpServer& server) {
  if (options.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"listening", server.addresses()}}.dump());
  } else {
    for (const std::string& address : server.addresses()) {
      fmt::print("hoist match serve listens on {}\n", address);
    }
  }
  std::fflush(stdout);
}

int serve(ServeOptions& options) {
  log_to_stderr();
  options.service.node.durability =
      options.durability == "sync" ? match::Durability::sync : match::Durability::batch;
  options.service.durable_sessions = options.sessions == "durable";
  options.service.most_requests = options.server.most_under_way;
  options.server.threads = options.service.threads;
  // Blocked in all threads, so that signalfd gets them.
  const sigset_t signals = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const UniqueFd signal_fd(::signalfd(-1, &signals, SFD_CLOEXEC));
  if (!signal_fd.valid()) return report(fail(ErrorCode::io, "signalfd failed", errno));

  service::Tokens tokens;
  if (!options.config_file.empty()) {
    if (Status loaded = service::load_session_defaults(options.config_file); !loaded)
      return report(loaded.error());
  }
  if (!options.token_file.empty()) {
    if (Status loaded = tokens.load(options.token_file); !loaded) return report(loaded.error());
  }
  const service::Origins origins(options.origins, !options.token_file.empty());
  options.server.check = [&](const net::HttpRequest& request) {
    auto refused = origins.check(request);
    if (!refused && !options.token_file.empty()) refused = tokens.check(request);
    return refused;
  };
  options.server.on_response = [&](const net::HttpExchange& exchange, net::HttpResponse& response) {
    allow_origin(origins, exchange, response);
  };
  auto service = service::Service::open(options.service);
  if (!service) return report(service.error());
  net::HttpRouter router;
  (*service)->add_routes(router);
  auto server = net::HttpServer::create(options.server, std::move(router));
  if (!server) return report(server.error());
  (*service)->count_connections([&server] { return (*server)->counters().connections.load(); });

  auto attendant =
      start_quiet_thread([&] { attend(options, **service, tokens, **server, signal_fd.get()); });
  if (!attendant) return report(attendant.error());
  say_where(options, **server);
  const Status ended = (*server)->run();
  // It ended by itself: the attendant still waits.
  if (!ended) ::kill(::getpid(), SIGTERM);
  attendant->join();
  (*service)->stop();
  (*service)->count_connections({});
  return ended ? 0 : report(ended.error());
}

}  // namespace
}  // namespace hoist::cli

int main(int argc, char** argv) {
  CLI::App app("Serve match indexes over HTTP, with KATO's interface", "hoist match serve");
  hoist::cli::ServeOptions options;
  hoist::cli::declare_serve(app, options);
  return hoist::cli::run_tool(app, argc, argv, [&] { return hoist::cli::serve(options); });
}
