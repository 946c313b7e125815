#include "ops/sort/merge.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/crash_fallback.h"
#include "ops/sort/merge_tree.h"
#include "ops/sort/messages.h"

namespace hoist::sort {
namespace {

constexpr uint64_t kSmallestParallel = uint64_t{4} << 20;  // below, threads do not pay
constexpr uint64_t kSmallestBlock = uint64_t{16} << 10;    // of a reader in a parallel merge
constexpr uint64_t kAlwaysAllowed = uint64_t{64} << 20;    // buffers, whatever the memory limit
constexpr uint64_t kSmallestRange = uint64_t{64} << 10;
// Input and output of a range fit the L2 cache, so that the kernel copies from there.
constexpr uint64_t kBestRange = uint64_t{256} << 10;
constexpr uint64_t kPerFile = uint64_t{32} << 10;  // of a range: less would be many small reads
constexpr uint64_t kMostRanges = 1 << 16;          // each costs memory for its cut
constexpr size_t kDecompressors = 16;              // at a time

// A range is in memory three times: twice as input, once as output.
uint64_t range_size(const MergeContext& context, size_t files, uint64_t total) {
  const uint64_t share = context.memory / (3 * static_cast<uint64_t>(context.pool.size()));
  const uint64_t best = std::max({kBestRange, files * kPerFile, total / kMostRanges});
  return std::clamp(share, kSmallestRange, best);
}

size_t block_size(const MergeContext& context, size_t files) {
  return std::clamp<size_t>(context.memory / (2 * files), size_t{32} << 10, LineReader::kBlock);
}

// Merges in parallel where that is possible and pays; false: nothing was done.
Result<bool> merge_in_parallel(std::span<const FileRange> files, bool trusted,
                               const MergeContext& context, Output& output) {
  uint64_t total = 0;
  for (const FileRange& file : files) total += file.end - file.begin;
  if (total < kSmallestParallel) return false;
  // Every thread reads every file through two buffers.
  const uint64_t buffers =
      2 * kSmallestBlock * files.size() * static_cast<uint64_t>(context.pool.size());
  if (buffers > std::max(context.memory, kAlwaysAllowed)) return false;
  return merge_ranges(files, trusted, range_size(context, files.size(), total), context, output);
}

std::vector<LineReader> readers_of(std::span<const FileRange> files, const MergeContext& context) {
  std::vector<LineReader> readers;
  for (const FileRange& file : files) {
    readers.emplace_back(context.coder.comparator().options().terminator,
                         block_size(context, files.size()));
    readers.back().restart(file.fd, file.name, file.begin, file.end);
  }
  return readers;
}

Status merge_compressed(std::span<Run> runs, const MergeContext& context, Output& output) {
  std::vector<std::optional<Filter>> filters(runs.size());
  {
    std::vector<LineReader> readers;
    for (size_t i = 0; i < runs.size(); ++i) {
      auto reader = runs[i].decompress(context.coder.comparator().options().terminator,
                                       block_size(context, runs.size()), filters[i]);
      if (!reader) return reader.error();
      readers.push_back(std::move(*reader));
    }
    if (Status merged = merge_lines(readers, context.coder, output); !merged) return merged;
  }
  for (std::optional<Filter>& filter : filters) {
    if (Status ended = filter->wait(); !ended) return ended;
  }
  return {};
}

size_t most_runs(bool compressing) {
  if (compressing) return kDecompressors;
  struct rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 16;
  // Half is left for inputs and for what the process holds open anyway.
  return static_cast<size_t>(std::clamp<rlim_t>(limit.rlim_cur / 2, 4, 1024));
}

// One input of sort -m.
struct Input {
  UniqueFd owned;
  FileRange file;
  struct stat info {};
};

bool are_too_few(int error) { return error == EMFILE || error == ENFILE; }

Result<Input> open_input(const std::string& name) {
  Input input;
  input.file.name = name;
  input.file.fd = STDIN_FILENO;
  if (name != "-") {
    Result<UniqueFd> fd = open_file(name, O_RDONLY);
    if (!fd) return io_error("open failed", name, fd.error().system_errno);
    input.owned = std::move(*fd);
    input.file.fd = input.owned.get();
  }
  if (::fstat(input.file.fd, &input.info) != 0) input.info = {};
  return input;
}

// Regular files whose size can be believed, from where their descriptors stand. Files in /proc have
// content and no size.
bool locate(std::vector<Input>& inputs) {
  for (Input& input : inputs) {
    const off_t at = ::lseek(input.file.fd, 0, SEEK_CUR);
    if (!S_ISREG(input.info.st_mode) || at < 0 || at >= input.info.st_size) return false;
    input.file.begin = static_cast<uint64_t>(at);
    input.file.end = static_cast<uint64_t>(input.info.st_size);
    ::posix_fadvise(input.file.fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  return true;
}

Result<bool> merge_inputs_in_parallel(std::vector<Input>& inputs, const MergeContext& context,
                                      Output& output) {
  if (!locate(inputs)) return false;
  std::vector<FileRange> files;
  for (const Input& input : inputs) files.push_back(input.file);
  Result<bool> merged = merge_in_parallel(files, false, context, output);
  if (!merged || !*merged) return merged;
  for (const Input& input : inputs) {
    // Whoever shares standard input finds it read.
    if (!input.owned.valid()) ::lseek(input.file.fd, static_cast<off_t>(input.file.end), SEEK_SET);
  }
  return true;
}

bool get_status(const std::string& name, int standard_stream, struct stat& info) {
  const bool is_stream = name.empty() || name == "-";
  return (is_stream ? ::fstat(standard_stream, &info) : ::stat(name.c_str(), &info)) == 0;
}

bool is_regular(const std::string& name) {
  struct stat info;
  return ::stat(name.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool are_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Whether so many files may be open at once in addition.
bool has_descriptors_for(size_t files) {
  std::vector<UniqueFd> taken;
  while (taken.size() < files) {
    taken.emplace_back(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!taken.back().valid()) return false;
  }
  return true;
}

}  // namespace

Status merge_lines(std::span<LineReader> readers, const Coder& coder, Output& output,
                   std::optional<std::string> previous) {
  const Options& options = coder.comparator().options();
  // Lines leave at once, so there is no second try after a guess.
  const MergeOrder order(coder, !coder.guessed());
  uint64_t previous_code = previous ? order.code({previous->data(), previous->size()}) : 0;
  MergeTree tree(readers, order);
  for (; !tree.empty() && !tree.failed(); tree.advance()) {
    const Line line = tree.line();
    if (options.unique) {
      if (previous && order.prove(previous_code, {previous->data(), previous->size()}, tree.code(),
                                  line) == 0) {
        continue;
      }
      if (!previous) previous.emplace();
      previous->assign(line.text, line.length);
      previous_code = tree.code();
    }
    if (!output.append(line.text, line.length, options.terminator)) return output.status();
  }
  for (const LineReader& reader : readers) {
    if (!reader.status()) return reader.status();
  }
  return {};
}

Status merge_runs(std::span<Run> runs, const MergeContext& context, Output& output) {
  if (runs.empty()) return {};
  if (runs.front().compressed()) return merge_compressed(runs, context, output);
  std::vector<FileRange> files;
  for (const Run& run : runs) files.push_back({run.fd(), run.name(), 0, run.size()});
  const Result<bool> merged = merge_in_parallel(files, true, context, output);
  if (!merged) return merged.error();
  if (*merged) return {};
  std::vector<LineReader> readers = readers_of(files, context);
  return merge_lines(readers, context.coder, output);
}

Status limit_runs(std::vector<Run>& runs, TempFiles& files, const MergeContext& context) {
  const size_t most = most_runs(files.compressing());
  if (runs.size() < most) return {};
  // The later half holds the small ones: earlier merges collect in the first half, so that a line
  // is rarely merged twice.
  const size_t first = most / 2;
  Result<Run> merged = files.create();
  if (!merged) return merged.error();
  Status written = merge_runs(std::span(runs).subspan(first), context, merged->output());
  if (!written) return written;
  if (Status finished = merged->finish(); !finished) return finished;
  runs.erase(runs.begin() + static_cast<ptrdiff_t>(first), runs.end());
  runs.push_back(std::move(*merged));
  return {};
}

Status check_merge(const Options& options) {
  constexpr size_t kOurs = 4;  // the output, counters, libraries
  if (options.files.size() > options.batch_size) {
    return fail(ErrorCode::unsupported, "more files than the batch size");
  }
  if (std::count(options.files.begin(), options.files.end(), "-") > 1) {
    return fail(ErrorCode::unsupported, "standard input is merged with itself");
  }
  struct stat target;
  const bool has_target = get_status(options.output, STDOUT_FILENO, target);
  bool all_regular = !has_target || options.output.empty() || S_ISREG(target.st_mode);
  for (const std::string& name : options.files) {
    struct stat info;
    if (!get_status(name, STDIN_FILENO, info)) continue;
    if (has_target && are_same(info, target)) {
      return fail(ErrorCode::unsupported, "the output is one of the inputs");
    }
    all_regular &= name == "-" || S_ISREG(info.st_mode);
  }
  if (!all_regular && !has_descriptors_for(options.files.size() + kOurs)) {
    return fail(ErrorCode::unsupported, "too few file descriptors");
  }
  return {};
}

Status merge_files(const MergeContext& context, Output& output) {
  const Options& options = context.coder.comparator().options();
  std::vector<Input> inputs;
  bool may_step_aside = true;
  for (const std::string& name : options.files) {
    if (name != "-" && !is_regular(name)) {  // who writes to it notices when it is opened
      may_step_aside = false;
      commit_run();
    }
    Result<Input> input = open_input(name);
    if (!input && may_step_aside && are_too_few(input.error().system_errno)) {
      return fail(ErrorCode::unsupported, "too few file descriptors");
    }
    if (!input) return input.error();
    inputs.push_back(std::move(*input));
  }
  if (Status begun = output.begin(); !begun) return begun;
  const Result<bool> merged = merge_inputs_in_parallel(inputs, context, output);
  if (!merged) return merged.error();
  if (*merged) return {};
  std::vector<LineReader> readers;
  for (Input& input : inputs) {
    readers.push_back(LineReader(std::move(input.owned), input.file.name, options.terminator,
                                 block_size(context, inputs.size())));
  }
  return merge_lines(readers, context.coder, output);
}

}  // namespace hoist::sort
