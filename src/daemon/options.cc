#include "daemon/options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "device/remote/ring_layout.h"

namespace hoist::daemon {
namespace {

// A size such as 256M, at least `least` bytes. -1 would become a very large one.
void take_size(CLI::Option* option, uint64_t least, const char* shown) {
  const auto has_no_sign = [](const std::string& text) {
    return text.starts_with('-') ? fmt::format("{} is no size", text) : std::string();
  };
  const auto is_enough = [least, shown](const std::string& text) {
    uint64_t size = 0;
    const bool is_size = CLI::detail::lexical_cast(text, size);
    return is_size && size >= least ? std::string()
                                    : fmt::format("{} is less than {}", text, shown);
  };
  option->transform(CLI::AsSizeValue(false))
      ->transform(CLI::Validator(has_no_sign, ""))  // comes first
      ->check(CLI::Validator(is_enough, ""));
}

}  // namespace

Parsed parse_options(int argc, char** argv) {
  Parsed parsed;
  Options& options = parsed.options;
  CLI::App app("hoistd: lends a GPU to programs that must not open it themselves", "hoistd");
  constexpr char kVersion[] = "hoistd " HOIST_VERSION;
  app.set_version_flag("-V,--version", kVersion, "print the version");
  const CLI::App* const version = app.add_subcommand("version", "print the version");
  app.add_option("--device", options.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--socket", options.socket,
                 "path to listen at, or to ask (default: $HOIST_SOCKET, else the user's, root: "
                 "/run/hoist/hoistd.sock)");
  app.add_option("--group", options.group, "members of this group may connect, too");
  CLI::Option* const pool = app.add_option("--pool", options.pool_limit,
                                           "most shared memory of one client, such as 256M");
  take_size(pool->default_str("256M"), HOIST_RING_PAGE, "4K, a page");
  take_size(app.add_option("--memory", options.memory_limit,
                           "most device memory of one client (default: half of the device's); "
                           "with --group one user's share three quarters"),
            1, "a byte");
  app.add_option("--clients", options.client_limit, "most clients at once")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--metrics", options.metrics_port,
                 "port of 127.0.0.1 for Prometheus (default: none)")
      ->check(CLI::Range(1, UINT16_MAX));
  uint32_t idle = 0;
  CLI::Option* const idle_option = app.add_option(
      "--idle-timeout", idle, "end after so many seconds without a client (default: never)");
  CLI::Option* const status =
      app.add_flag("--status", options.status, "ask the one that runs, and print its answer");
  app.add_flag("--json", options.json, "with --status: as JSON")->needs(status);
  app.footer(
      "Programs under `hoist run` start one by themselves where a GPU pays, and it ends soon "
      "after\n"
      "its last client; start it by hand to have it ready, or for several users.\n\n"
      "Examples:\n"
      "  hoistd --device cuda:0 --pool 1G\n"
      "  hoistd --socket /run/hoist/hoistd.sock --group gpu --metrics 9464\n"
      "  hoistd --status --json");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      parsed.exit_status = app.exit(error);
    } else {
      fmt::print(stderr, "hoistd: error: {} (hoistd): see `hoistd --help`\n", error.what());
      parsed.exit_status = 2;
    }
    return parsed;
  }
  if (version->parsed()) {
    fmt::print("{}\n", kVersion);
    parsed.exit_status = 0;
  }
  if (idle_option->count() > 0) options.idle = std::chrono::seconds(idle);
  return parsed;
}

}  // namespace hoist::daemon
