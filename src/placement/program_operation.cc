#include "placement/program_operation.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "placement/room.h"
#include "placement/spawned_group.h"
#include "takeover/decisions.h"
#include "takeover/takeover.h"

namespace hoist::placement {
namespace {

// Indices of runs_of().
constexpr size_t kCpuAll = 2;
constexpr size_t kCuda = 3;
constexpr size_t kHoistd = 4;

constexpr const char* kNames[] = {"original", "cpu-1", "cpu-all", "cuda", "hoistd"};

// The CPUs do less in less time than it takes to reach a GPU, 70 ms or more.
constexpr uint64_t kLeastForGpu = uint64_t{1} << 20;

std::vector<Interval> built_in_intervals(const std::string& name) {
  hoist_decisions none = {};
  std::array<hoist_interval, HOIST_MOST_INTERVALS> row;
  constexpr int kSeveralCpus = 2;
  const size_t count = hoist_find_row(&none, name.c_str(), kSeveralCpus, row.data());
  std::vector<Interval> intervals;
  for (size_t i = 0; i < count; ++i) {
    intervals.push_back({row[i].from, hoist_choice_name(row[i].choice)});
  }
  return intervals;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> clean_environment(const std::vector<std::string>& added) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("HOIST") && !text.starts_with("LD_PRELOAD=")) {
      environment.emplace_back(text);
    }
  }
  for (const std::string& entry : added) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    std::erase_if(environment, [&](const std::string& old) { return old.starts_with(name); });
    environment.push_back(entry);
  }
  return environment;
}

// The share of memory that input may take: what makes compressed input holds its text beside it,
// and what is measured must find its input in the page cache.
constexpr unsigned kMemoryShare = 16;

Result<std::vector<std::string>> write_inputs(const ProgramVariant& variant, const Shape& shape,
                                              const std::string& directory) {
  for (const Status& status :
       {check_memory(shape.bytes, kMemoryShare), check_room(directory, shape.bytes)}) {
    if (!status) return status.error();
  }
  // The programs must take all names at once.
  const uint64_t name_bytes = directory.size() + 32;
  if (shape.items * name_bytes > static_cast<uint64_t>(::sysconf(_SC_ARG_MAX)) / 2) {
    return fail(ErrorCode::exhausted, fmt::format("no room for {} names", shape.items));
  }
  std::vector<std::string> files;
  for (uint64_t i = 0; i < shape.items; ++i) {
    const Result<std::string> content = variant.content(shape.bytes / shape.items, i);
    if (!content) return content.error();
    files.push_back(fmt::format("{}/input-{}", directory, i));
    Result<UniqueFd> fd = open_file(files.back(), O_WRONLY | O_CREAT | O_TRUNC);
    if (!fd) return fd.error();
    if (const Status status = write_full(fd->get(), content->data(), content->size(), files.back());
        !status) {
      return status.error();
    }
  }
  return files;
}

// The original with Hoist off; the engine without a PATH in which it could find an original to
// step aside for, which would be measured under its name, and without a profile to ask.
std::vector<ProgramRun> runs_of(const ProgramVariant& variant, const std::string& engine,
                                const std::vector<std::string>& files, const std::string& socket) {
  std::vector<std::string> words = {variant.program};
  words.insert(words.end(), variant.arguments.begin(), variant.arguments.end());
  words.insert(words.end(), files.begin(), files.end());
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), variant.environment.begin(), variant.environment.end());
    return more;
  };
  const std::vector<std::string> alone = {"PATH=/nonexistent", "HOIST_PROFILE=/nonexistent/profile",
                                          "HOIST_VERIFY=0"};
  std::vector<std::string> one_thread = alone;
  one_thread.emplace_back("HOIST_THREADS=1");
  const auto on_gpu = [&](const std::string& where) {
    std::vector<std::string> variables = alone;
    variables.insert(variables.end(), {"HOIST_GPU=require", "HOIST_SOCKET=" + where});
    return with(std::move(variables));
  };
  return {{find_original(variant.program), words, with({"HOIST=off"})},
          {engine, words, with(one_thread)},
          {engine, words, with(alone)},
          {engine, words, on_gpu("/nonexistent/hoistd")},
          {engine, words, on_gpu(socket)}};
}

// The hoistd that is measured: started where it is first wanted, and once, for all sizes.
class Lender {
 public:
  explicit Lender(std::function<Result<std::function<Status()>>(const std::string&)> lend)
      : lend_(std::move(lend)) {}

  // Where it is to answer; what is named first.
  const std::string& socket(const std::string& directory) {
    if (socket_.empty()) socket_ = directory + "/hoistd.sock";
    return socket_;
  }
  Status run(const ProgramRun& program) {
    if (!answers_) answers_ = lend_(socket_);
    if (!*answers_) return answers_->error();
    if (Status done = run_program(program); !done) return done;
    // Without it the engine did the work in another way.
    Status answers = (**answers_)();
    if (!answers) answers_.reset();
    return answers;
  }

 private:
  const std::function<Result<std::function<Status()>>(const std::string&)> lend_;
  std::string socket_;
  std::optional<Result<std::function<Status()>>> answers_;
};

}  // namespace

Status run_program(const ProgramRun& program) {
  const std::vector<std::string> environment = clean_environment(program.environment);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int error = spawn_in_group(&child, program.file.c_str(), &actions,
                                   pointers(program.words).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return fail(ErrorCode::unavailable,
                fmt::format("cannot start {} ({}): install it", program.words[0],
                            program.file.empty() ? "not in PATH" : std::strerror(error)));
  }
  // Its number stays its own until the group is released.
  siginfo_t ended;
  while (::waitid(P_PID, child, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
  release_spawned_group();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno == EINTR) continue;
    return fail(ErrorCode::internal, fmt::format("{}: {}", program.file, std::strerror(errno)));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(
      ErrorCode::internal,
      fmt::format("{} ended with {} {}", program.file, WIFEXITED(status) ? "status" : "signal",
                  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)));
}

Operation make_program_operation(const std::string& name, std::vector<ProgramVariant> variants,
                                 const std::string& engine, const GpuAccess& gpu) {
  Operation operation;
  operation.name = name;
  std::vector<size_t> runs_by;  // of each implementation, the index in runs_of()
  const auto is_enough = [](const Shape& shape) { return shape.bytes >= kLeastForGpu; };
  const bool is_there[] = {true, true, true, gpu.find && gpu.opens, !!gpu.lend};
  for (size_t run = 0; run < std::size(kNames); ++run) {
    if (!is_there[run]) continue;
    Implementation one{.name = kNames[run], .threads = run < kCpuAll ? 1 : 0};
    if (run >= kCuda) one.supports = is_enough;
    operation.implementations.push_back(std::move(one));
    runs_by.push_back(run);
  }
  for (const ProgramVariant& variant : variants) {
    operation.variants.push_back({.name = variant.name,
                                  .items = variant.items,
                                  .defaults = built_in_intervals(name + "/" + variant.name),
                                  .item_bytes = variant.item_bytes});
    if (!variant.may_use_gpu) operation.variants.back().without = {kNames[kCuda], kNames[kHoistd]};
  }
  operation.prepare = [variants = std::move(variants), engine, runs_by, find = gpu.find,
                       lender = std::make_shared<Lender>(gpu.lend)](
                          size_t variant, const Shape& shape,
                          const std::string& directory) -> Result<Run> {
    const auto files = write_inputs(variants[variant], shape, directory);
    if (!files) return files.error();
    return [runs = runs_of(variants[variant], engine, *files, lender->socket(directory)), runs_by,
            find, lender](size_t implementation) -> Status {
      const size_t run = runs_by[implementation];
      if (run >= kCuda) {
        if (Status found = find(); !found) return found;
      }
      return run == kHoistd ? lender->run(runs[run]) : run_program(runs[run]);
    };
  };
  return operation;
}

}  // namespace hoist::placement
