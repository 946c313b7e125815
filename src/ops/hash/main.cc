// hoist-hash: md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum, b2sum and cksum of
// coreutils, with faster digests and all CPUs.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "base/counters.h"
#include "base/crash_fallback.h"
#include "base/option_values.h"
#include "base/threads.h"
#include "device/remote/lent_device.h"
#include "ops/hash/check.h"
#include "ops/hash/generate.h"
#include "ops/hash/gpu_hasher.h"
#include "ops/hash/options.h"
#include "ops/hash/plain_sum.h"
#include "ops/hash/report.h"
#include "ops/hash/small_files.h"
#include "placement/profile_file.h"
#include "placement/record.h"
#include "takeover/gpu_hint.h"
#include "takeover/run_choice.h"
#include "takeover/takeover.h"
#include "takeover/verify.h"

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

// Several files open at once must not run into a limit that one at a time keeps. Descriptors that
// were inherited count as well: they lie below the lowest free one.
bool descriptors_are_scarce(int threads) {
  constexpr rlim_t kOwn = 64;  // lists, counters and what libraries open
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  const int lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (lowest < 0) return true;
  close(lowest);
  return limit.rlim_cur < static_cast<rlim_t>(lowest) + static_cast<rlim_t>(threads) + kOwn;
}

[[noreturn]] void out_of_memory() {
  hoist::run_original_instead("engine ran out of memory");
  dprintf(STDERR_FILENO, "%s: memory exhausted\n", program_name);
  _exit(EXIT_FAILURE);
}

// Why the original should run, or null.
const char* objection(const Options& options) {
  if (!standard_streams_are_open()) return "closed standard stream";
  if (options.algorithm == hoist::hash::Algorithm::crc && !hoist::hash::PosixCrc::available()) {
    return "no ISA-L";
  }
  for (const std::string& file : options.files) {
    if (file.starts_with("/proc/thread-self/")) return "file of a thread";  // any thread may read
  }
  return nullptr;
}

// The input that is known before it is read; in check mode the lists alone are.
struct Input {
  std::string variant;
  std::optional<uint64_t> bytes;
  std::optional<uint64_t> small_bytes;  // of many small files, also where only some were looked at
};

// Costs are the algorithm's, which `cksum -a` may borrow from another program. What no program
// stands for (bsd, sysv, sm3) is not measured.
std::string variant_of(const Options& options) {
  using hoist::hash::Algorithm;
  if (!options.algorithm || options.algorithm == Algorithm::crc) return options.program;
  const hoist::hash::AlgorithmInfo& algorithm = info(*options.algorithm);
  return *algorithm.program != '\0' ? algorithm.program : algorithm.option;
}

Input input_of(const Options& options) {
  Input input{variant_of(options), {}, {}};
  if (!options.check) input.bytes = hoist::input_size(options.files);
  // To learn the sizes takes time where nobody has looked.
  if (input.bytes || hoist_gpu_may_serve()) {
    input.small_bytes = bytes_of_small_files(options, input.bytes);
  }
  const bool is_small = input.bytes && input.small_bytes;
  if (options.files.size() > 1) input.variant += is_small ? "-small" : "-many";
  return input;
}

bool lends_what_was_measured() {
  return hoist::device::remote::hoistd_answers() && hoist::placement::has_measured_these_gpus();
}

// With hoistd's GPU, where that is for it. This process opens none.
std::optional<hoist::RunChoice> choose_gpu(const hoist::Takeover& takeover, const Input& input) {
  const hoist_gpu_use use = hoist::gpu_use();
  if (!input.small_bytes || use == HOIST_GPU_INPROCESS || use == HOIST_GPU_OFF) return {};
  if (use == HOIST_GPU_REQUIRE) {
    return hoist::RunChoice{
        .on_gpu = true, .threads = hoist::usable_cpus(), .reason = "HOIST_GPU=require"};
  }
  hoist::RunChoice choice =
      choose_run(takeover, "hash/sha256sum-small", input.small_bytes, lends_what_was_measured);
  if (!choice.on_gpu) return {};
  return choice;
}

int run(const hoist::Takeover& takeover, const Options& options, const Input& input, int threads,
        bool on_gpu) {
  const auto start = std::chrono::steady_clock::now();
  hoist::hash::Report report(takeover.argv[0]);
  hoist::hash::JobTotals totals;
  std::optional<hoist::hash::GpuHasher> gpu;
  if (on_gpu) gpu.emplace(hoist::hash::lent_gpu());
  hoist::hash::GpuHasher* const lent = gpu ? &*gpu : nullptr;
  const bool ok = options.check ? check(options, threads, lent, report, totals)
                                : generate(options, threads, lent, report, totals);
  const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - start;
  const bool used_gpu = gpu && gpu->was_used();
  hoist::Counters& counters = hoist::Counters::process();
  const char* const by_threads = totals.parallel ? "cpu-all" : "cpu-1";
  if (used_gpu) counters.add_progress(kOperation, by_threads, std::exchange(totals.bytes, 0));
  counters.add_call(kOperation, used_gpu ? "hoistd" : by_threads, totals.bytes,
                    static_cast<uint64_t>(elapsed.count()));
  if (ok && input.bytes) {
    const char* const on_cpus = threads > 1 ? "cpu-all" : "cpu-1";
    hoist::placement::record(kOperation, input.variant, used_gpu ? "hoistd" : on_cpus,
                             {*input.bytes, options.files.size()},
                             std::chrono::duration<double>(elapsed).count());
  }
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
  const Input input = input_of(*options);
  hoist::RunChoice choice =
      choose_run(takeover, fmt::format("{}/{}", kOperation, input.variant), input.bytes);
  if (const auto with_gpu = choose_gpu(takeover, input)) choice = *with_gpu;
  if (choice.original) return step_aside(takeover, kOperation, choice.reason);
  if (descriptors_are_scarce(choice.threads)) {
    return step_aside(takeover, kOperation, "few file descriptors");
  }
  if (options->check) {
    // The lists may name what can be read only once, and they are not read yet.
    hoist::verify_left_out(kOperation, "-c");
  } else if (const auto status = verify_run(takeover, kOperation, options->files)) {
    return *status;
  }
  confirm_takeover(takeover, choice.reason);
  return run(takeover, *options, input, choice.threads, choice.on_gpu);
}
