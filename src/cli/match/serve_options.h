// The command line of `hoist match serve`: hoist-match declares it, for help and completion, and
// becomes hoist-serve, which reads it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "net/http/server_state.h"
#include "service/service.h"

namespace hoist::cli {

struct ServeOptions {
  service::ServiceOptions service;
  net::HttpServerOptions server;
  std::string config_file;           // empty: none
  std::string token_file;            // empty: everybody may ask
  std::vector<std::string> origins;  // that may ask from a browser's page; "*": all
  uint64_t grace_seconds = 10;       // for requests under way, when it ends
  std::string durability = "batch";
  std::string sessions = "memory";
  bool json = false;  // how it says where it listens
};

void declare_serve(CLI::App& command, ServeOptions& options);

}  // namespace hoist::cli
