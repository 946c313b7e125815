#include "cli/match/serve_options.h"

#include "base/threads.h"
#include "cli/command.h"

namespace hoist::cli {
namespace {

constexpr const char* kExamples =
    "Sessions observe, learn and predict; `hoist help match-service` is a quick start.\n"
    "SIGTERM answers what is under way and ends; SIGHUP reads --config, --tokens and the "
    "certificate\n"
    "again.\n\n"
    "Examples:\n"
    "  hoist match serve shop\n"
    "  hoist match serve shop --listen 0.0.0.0:8000 --tokens tokens.txt --sessions durable";

void add_network(CLI::App& command, ServeOptions& options) {
  net::HttpServerOptions& server = options.server;
  command
      .add_option("--listen", server.listen,
                  "HOST:PORT, [::1]:PORT, unix:PATH, or systemd; several times for several")
      ->type_name("ADDRESS")
      ->capture_default_str();
  command.add_option("--threads", options.service.threads, "Threads that answer")
      ->check(number_in(1, 256))
      ->type_name("N")
      ->capture_default_str();
  CLI::Option* const certificate =
      command
          .add_option("--tls-certificate", server.certificate_file, "PEM file; then it speaks TLS")
          ->type_name("FILE");
  CLI::Option* const key =
      command.add_option("--tls-key", server.key_file, "The certificate's private key, PEM")
          ->type_name("FILE");
  certificate->needs(key);
  key->needs(certificate);
  command
      .add_option("--tokens", options.token_file,
                  "File of tokens, one a line; then every request must bring one")
      ->type_name("FILE");
  command
      .add_option("--origin", options.origins,
                  "Let pages of this origin ask from a browser (CORS); * is all")
      ->type_name("ORIGIN");
}

void add_limits(CLI::App& command, ServeOptions& options) {
  net::HttpServerOptions& server = options.server;
  command.add_option("--max-connections", server.most_connections, "Connections at once")
      ->check(count())
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--max-requests", server.most_under_way,
                  "Requests being answered at once; more get 503")
      ->check(count())
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--max-rate", server.most_per_second,
                  "Requests a second of one address; more get 429 (0: any)")
      ->check(number_in(0, 1e9))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--max-sessions", options.service.sessions.most, "Sessions at once")
      ->check(count())
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--max-open-nodes", options.service.node.most_open,
                  "Nodes that are open at once; others are opened when they are asked for")
      ->check(count())
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--max-memory", options.service.node.max_memory,
                  "Memory of a node: its index, affinities and vectors; more gets 507")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
  command
      .add_option("--grace", options.grace_seconds,
                  "Seconds that requests have to finish when it ends")
      ->check(number_in(0, 86'400))
      ->type_name("SECONDS")
      ->capture_default_str();
}

}  // namespace

void declare_serve(CLI::App& command, ServeOptions& options) {
  options.service.threads = static_cast<unsigned>(usable_cpus());
  command.footer(kExamples);
  command
      .add_option("FOLDER", options.service.node.folder,
                  "Where patterns are kept; made when it is missing")
      ->required();
  add_network(command, options);
  command
      .add_option("--config", options.config_file,
                  "JSON file with the sessions' defaults, such as {\"recall_threshold\": 0.2}")
      ->type_name("FILE");
  command.add_option("--sessions", options.sessions, "durable: they survive a restart")
      ->check(CLI::IsMember({"memory", "durable"}))
      ->type_name("WHERE")
      ->capture_default_str();
  command
      .add_option("--session-ttl", options.service.sessions.ttl_seconds,
                  "Seconds that a session lives after its last request")
      ->check(number_in(1, INT32_MAX))
      ->type_name("SECONDS")
      ->capture_default_str();
  command.add_flag_callback(
      "--fixed-ttl", [&] { options.service.sessions.extend_on_access = false; },
      "A session's time runs out whether it is used or not");
  command
      .add_option("--durability", options.durability,
                  "batch: what was answered survives kill -9; sync: a power cut, too")
      ->check(CLI::IsMember({"batch", "sync"}))
      ->type_name("HOW")
      ->capture_default_str();
  suggest(
      command.add_option("--device", options.service.node.device,
                         "Where patterns are searched: cpu, cuda:N, or auto: a GPU once it pays"),
      "auto cpu cuda:0")
      ->type_name("DEVICE")
      ->capture_default_str();
  add_limits(command, options);
  command.add_flag("--json", options.json, "Say where it listens as JSON");
}

}  // namespace hoist::cli
