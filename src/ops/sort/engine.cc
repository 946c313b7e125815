#include "ops/sort/engine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "base/stopwatch.h"
#include "device/cuda_environment.h"
#include "ops/sort/check.h"
#include "ops/sort/chunk.h"
#include "ops/sort/emit.h"
#include "ops/sort/gpu_sorter.h"
#include "ops/sort/merge.h"
#include "ops/sort/output.h"
#include "ops/sort/temp_files.h"
#include "takeover/takeover.h"

namespace hoist::sort {
namespace {

constexpr int kMostThreads = 64;
constexpr size_t kLeastOnGpu = size_t{1} << 12;  // of a chunk or run; whoever asked has measured

// Says at HOIST_LOG=debug what each step of a chunk took.
class StepClock {
 public:
  void note(const char* step) {
    log(LogLevel::debug, "sort: {} {:.1f} ms", step, watch_.restart());
  }

 private:
  Stopwatch watch_;
};

// Sorts what is in memory and writes it to `output`.
Status sort_chunk(ChunkReader& chunks, const MergeContext& context, CodeSorter* other,
                  StepClock& clock, Output& output) {
  const char terminator = context.coder.comparator().options().terminator;
  EntrySorter sorter(context.coder, chunks.text(), terminator, context.pool, other);
  const Status sorted =
      sorter.sort(chunks.entries(), chunks.scratch(), [&chunks] { return chunks.index_again(); });
  if (!sorted) return sorted;
  clock.note("sorted");
  if (const Status begun = output.begin(); !begun) return begun;
  if (!emit(chunks.entries(), chunks.text(), terminator, output, context.pool)) {
    return output.status();
  }
  clock.note("written");
  return {};
}

// Sorts the input in memory where it fits, else in sorted runs that are merged at the end.
Status sort_files(const Options& options, const MergeContext& context, CodeSorter* other,
                  Output& output, uint64_t& bytes) {
  StepClock clock;
  std::vector<Run> runs;
  TempFiles files(options.temporary_directories, options.compress_program);
  {
    // Where a GPU may take part, what did the work is known at the end.
    ChunkReader chunks(options, context.coder, context.memory, context.pool, other == nullptr);
    while (true) {
      const Result<bool> got = chunks.next();
      clock.note("read");
      if (!got) return got.error();
      if (runs.empty() && chunks.at_end()) {
        bytes = chunks.unreported_bytes();
        return sort_chunk(chunks, context, other, clock, output);
      }
      if (!*got) break;
      bytes = chunks.unreported_bytes();
      Result<Run> run = files.create();
      if (!run) return run.error();
      const Status sorted = sort_chunk(chunks, context, other, clock, run->output());
      if (!sorted) return sorted;
      if (const Status written = run->finish(); !written) return written;
      runs.push_back(std::move(*run));
      if (const Status limited = limit_runs(runs, files, context); !limited) return limited;
    }
  }
  if (const Status begun = output.begin(); !begun) return begun;
  return merge_runs(runs, context, output);
}

}  // namespace

std::string reason_to_step_aside(const Options& options) {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) return "a standard stream is closed";
  }
  if (!options.compress_program.empty() && find_program(options.compress_program).empty()) {
    return "compress program not found";
  }
  for (const std::string& file : options.files) {
    struct stat info;
    const bool standard_input = file == "-";
    if ((standard_input ? ::fstat(0, &info) : ::stat(file.c_str(), &info)) != 0 ||
        (!standard_input && ::access(file.c_str(), R_OK) != 0) || S_ISDIR(info.st_mode)) {
      return "unreadable input";
    }
  }
  return {};
}

Result<Outcome> run(const Options& options, std::string_view program, GpuUse use) {
  // The compress program's environment is to be the user's.
  if (use == GpuUse::any && options.compress_program.empty()) device::hide_other_gpus();
  ThreadPool pool(
      std::clamp(options.threads > 0 ? std::min(options.threads, usable_cpus()) : usable_cpus(), 1,
                 kMostThreads));
  const Comparator comparator(options);
  const Coder coder(comparator);
  Outcome outcome;
  outcome.implementation = implementation_name(pool);
  if (options.mode == Mode::check || options.mode == Mode::check_quiet) {
    const Result<bool> in_order = check_file(program, coder);
    if (!in_order) return in_order.error();
    outcome.status = *in_order ? 0 : 1;
    outcome.implementation = "cpu-1";
    return outcome;
  }
  if (options.mode == Mode::merge) {
    if (Status fits = check_merge(options); !fits) return fits.error();
  }
  Result<Output> output = Output::open(options.output);
  if (!output) return output.error();
  std::optional<GpuSorter> gpu;
  if (use != GpuUse::none && options.mode == Mode::sort) {
    gpu.emplace(kLeastOnGpu, lent_gpu(use), pool.size());
  }
  const MergeContext context{coder, pool,
                             options.memory_limit > 0
                                 ? std::min(options.memory_limit, allowed_memory())
                                 : default_memory_limit()};
  const Status done =
      options.mode == Mode::merge
          ? merge_files(context, *output)
          : sort_files(options, context, gpu ? &*gpu : nullptr, *output, outcome.bytes);
  if (!done) return done.error();
  if (gpu && gpu->was_used()) outcome.implementation = gpu->implementation();
  if (const Status finished = output->finish(); !finished) {
    return finished.error();
  }
  return outcome;
}

}  // namespace hoist::sort
