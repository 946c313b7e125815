// hoist-sort: what runs in place of sort(1).
#include <unistd.h>

#include <chrono>
#include <clocale>
#include <cstdio>
#include <new>

#include "base/counters.h"
#include "base/options.h"
#include "base/takeover.h"
#include "base/verify.h"
#include "ops/sort/engine.h"
#include "ops/sort/messages.h"
#include "ops/sort/options.h"

namespace {

const char* program_name = "sort";

[[noreturn]] void out_of_memory() {
  ::dprintf(STDERR_FILENO, "%s: %s\n", program_name, hoist::sort::translate("memory exhausted"));
  ::_exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hoist;
  std::setlocale(LC_ALL, "");
  program_name = argv[0];
  std::set_new_handler(out_of_memory);
  const Takeover takeover = begin_takeover(argc, argv, "sort");
  if (hoist_is_off() || !operation_enabled("sort")) return step_aside(takeover, "sort", "off");
  if (switched_off("sort")) return step_aside(takeover, "sort", "switched off by --verify");
  const Result<sort::Options> options = sort::parse_options(takeover.argv, takeover.version);
  if (!options) return step_aside(takeover, "sort", options.error().message);
  const std::string reason = sort::reason_to_step_aside(*options);
  if (!reason.empty()) return step_aside(takeover, "sort", reason);

  if (!options->output.empty()) {
    verify_left_out("sort", "-o");
  } else if (const auto status = verify_run(takeover, "sort", options->files)) {
    return *status;
  }
  const bool merging = options->mode == sort::Mode::merge;
  if (!merging) confirm_takeover(takeover, "sort engine");
  const auto start = std::chrono::steady_clock::now();
  const Result<sort::Outcome> outcome = sort::run(*options, argv[0]);
  if (!outcome && outcome.error().code == ErrorCode::unsupported) {
    return step_aside(takeover, "sort", outcome.error().message);
  }
  if (merging) confirm_takeover(takeover, "sort engine");
  if (!outcome) {
    sort::report(argv[0], outcome.error());
    return 2;
  }
  const auto spent = std::chrono::steady_clock::now() - start;
  Counters::process().add_call(
      "sort", outcome->implementation, outcome->bytes,
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count()));
  return outcome->status;
}
