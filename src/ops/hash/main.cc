// hoist-hash: md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum, b2sum and cksum of
// coreutils, with faster digests and all CPUs.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "base/counters.h"
#include "base/takeover.h"
#include "base/verify.h"
#include "ops/hash/check.h"
#include "ops/hash/generate.h"
#include "ops/hash/options.h"
#include "ops/hash/plain_sum.h"
#include "ops/hash/report.h"

namespace {

using hoist::hash::Options;

constexpr char kOperation[] = "hash";

// Opening a file would give it the number of a closed standard stream.
bool standard_streams_are_open() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) return false;
  }
  return true;
}

const char* program_name = "";

// Several files open at once must not run into a limit that one at a time keeps.
bool descriptors_are_scarce() {
  rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 256;
}

[[noreturn]] void out_of_memory() {
  dprintf(STDERR_FILENO, "%s: memory exhausted\n", program_name);
  _exit(EXIT_FAILURE);
}

// Why the original should run, or null.
const char* objection(const Options& options) {
  if (!standard_streams_are_open()) return "closed standard stream";
  if (options.algorithm == hoist::hash::Algorithm::crc && !hoist::hash::PosixCrc::available()) {
    return "no ISA-L";
  }
  if (descriptors_are_scarce()) return "few file descriptors";
  return nullptr;
}

int run(const hoist::Takeover& takeover, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  hoist::hash::Report report(takeover.argv[0]);
  hoist::hash::JobTotals totals;
  const bool ok =
      options.check ? check(options, report, totals) : generate(options, report, totals);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  hoist::Counters::process().add_call(
      kOperation, totals.parallel ? "cpu-all" : "cpu-1", totals.bytes,
      static_cast<uint64_t>(std::chrono::nanoseconds(elapsed).count()));
  return report.finish(ok ? EXIT_SUCCESS : EXIT_FAILURE);
}

}  // namespace

int main(int argc, char** argv) {
  program_name = argv[0];
  std::set_new_handler(out_of_memory);
  const hoist::Takeover takeover = hoist::begin_takeover(argc, argv, "sha256sum");
  const hoist::Result<Options> options = hoist::hash::parse_options(takeover);
  if (!options) return step_aside(takeover, kOperation, options.error().message);
  if (hoist::switched_off(kOperation)) {
    return step_aside(takeover, kOperation, "switched off by --verify");
  }
  if (const char* reason = objection(*options)) return step_aside(takeover, kOperation, reason);
  if (options->check) {
    // The lists may name what can be read only once, and they are not read yet.
    hoist::verify_left_out(kOperation, "-c");
  } else if (const auto status = verify_run(takeover, kOperation, options->files)) {
    return *status;
  }
  confirm_takeover(takeover, "arguments understood");
  return run(takeover, *options);
}
