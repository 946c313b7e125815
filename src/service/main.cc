// libexec/hoist/hoist-serve: what `hoist match serve` becomes.
#include <fmt/core.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/quiet_thread.h"
#include "base/threads.h"
#include "net/http/server.h"
#include "service/service.h"

namespace hoist::service {
namespace {

net::HttpServer* running = nullptr;  // for the signal's handler

void stop_running(int) { running->stop(); }

int complain(const Error& error) {
  fmt::print(stderr, "hoist match serve: {}\n", error.message);
  return error.code == ErrorCode::invalid_argument ? 2 : 1;
}

int run(int argc, char** argv) {
  ServiceOptions options;
  net::HttpServerOptions server_options;
  server_options.listen = {"127.0.0.1:8000"};
  options.threads = static_cast<unsigned>(usable_cpus());
  std::string durability = "batch";

  CLI::App app("Serve match indexes over HTTP, with the interface of KATO", "hoist match serve");
  app.add_option("FOLDER", options.node.folder, "Where all is kept; made when it is missing")
      ->required();
  app.add_option("--listen", server_options.listen, "Addresses: HOST:PORT, [::1]:PORT, unix:PATH")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Threads that answer")->check(CLI::Range(1, 256));
  app.add_option("--durability", durability,
                 "batch: what is answered survives kill -9; sync: a power cut, too")
      ->check(CLI::IsMember({"batch", "sync"}));
  app.add_option("--device", options.node.device, "auto, cpu, cuda:0: where patterns are searched");
  app.add_option("--session-ttl", options.sessions.ttl_seconds,
                 "Seconds that a session lives after its last request")
      ->check(CLI::Range(int64_t{1}, int64_t{INT32_MAX}));
  app.add_option("--max-sessions", options.sessions.most, "Sessions at once");
  CLI11_PARSE(app, argc, argv);

  log_to_stderr();
  options.node.durability =
      durability == "sync" ? match::Durability::sync : match::Durability::batch;
  auto service = Service::open(options);
  if (!service) return complain(service.error());
  net::HttpRouter router;
  (*service)->add_routes(router);
  server_options.threads = options.threads;
  auto server = net::HttpServer::create(server_options, std::move(router));
  if (!server) return complain(server.error());

  running = server->get();
  struct sigaction action = {};
  action.sa_handler = stop_running;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  for (const std::string& address : (*server)->addresses()) {
    fmt::print("listening on {}\n", address);
  }
  std::fflush(stdout);
  Status ended = (*server)->run();
  return ended ? 0 : complain(ended.error());
}

}  // namespace
}  // namespace hoist::service

int main(int argc, char** argv) { return hoist::service::run(argc, argv); }
