// hoist-gunzip: takes the place of `gzip -d`, `gzip -t` and `gzip -l`.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "ops/gunzip/job.h"
#include "ops/gunzip/options.h"
#include "ops/gunzip/original.h"
#include "takeover/run_choice.h"
#include "takeover/takeover.h"
#include "takeover/verify.h"

int main(int argc, char** argv) {
  using namespace hoist;
  bool streams_open = true;  // else a file could be opened in the place of one
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0) streams_open = false;
  }
  const Takeover takeover = begin_takeover(argc, argv, "gzip");
  if (!streams_open) return step_aside(takeover, gunzip::kOperation, "closed stream");
  if (std::getenv("GZIP") != nullptr) {
    return step_aside(takeover, gunzip::kOperation, "GZIP is set");
  }
  const gunzip::ParsedOptions parsed = gunzip::parse_options(takeover.program, takeover.argv);
  if (!parsed.unsupported.empty()) {
    return step_aside(takeover, gunzip::kOperation, parsed.unsupported);
  }
  if (switched_off(gunzip::kOperation)) {
    return step_aside(takeover, gunzip::kOperation, "switched off by --verify");
  }
  const gunzip::Options& options = parsed.options;
  const std::vector<std::string> inputs =
      options.operands.empty() ? std::vector<std::string>{"-"} : options.operands;
  const std::optional<uint64_t> bytes = input_size(inputs);
  const RunChoice choice = choose_run(takeover, "gunzip/gzip", bytes);
  if (choice.original) return step_aside(takeover, gunzip::kOperation, choice.reason);
  if (!options.to_stdout && !options.operands.empty()) {
    verify_left_out(gunzip::kOperation, "replaces files");
  } else if (const auto status = verify_run(takeover, gunzip::kOperation, inputs)) {
    return *status;
  }
  return gunzip::Job(takeover, options, choice, bytes).run();
}
