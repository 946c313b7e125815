#include <fmt/core.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/report.h"
#include "cli/segments.h"

namespace hoist::cli {
namespace {

struct OperationCount {
  uint64_t calls = 0;
  uint64_t bytes = 0;
  uint64_t nanoseconds = 0;
};

// Operations of all segments together.
std::map<std::string, OperationCount> operations_of(const std::vector<Segment>& segments) {
  std::map<std::string, OperationCount> total;
  for (const Segment& segment : segments) {
    const hoist_counters* layout = segment.counters->layout();
    const uint32_t count = std::min<uint32_t>(layout->operation_count, HOIST_MAX_OPERATIONS);
    for (uint32_t i = 0; i < count; ++i) {
      const hoist_operation_slot& slot = layout->operations[i];
      OperationCount& sum = total[std::string(slot.name, ::strnlen(slot.name, HOIST_NAME_BYTES))];
      sum.calls += __atomic_load_n(&slot.calls, __ATOMIC_RELAXED);
      sum.bytes += __atomic_load_n(&slot.bytes, __ATOMIC_RELAXED);
      sum.nanoseconds += __atomic_load_n(&slot.nanoseconds, __ATOMIC_RELAXED);
    }
  }
  return total;
}

std::string json_text(const std::vector<Segment>& segments) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const Segment& segment : segments) {
    nlohmann::ordered_json run = {{"pid", segment.counters->layout()->root_pid}};
    run.update(nlohmann::ordered_json::parse(segment.counters->to_json()));
    for (auto& program : run["programs"]) program["alive"] = is_alive(program["pid"]);
    runs.push_back(std::move(run));
  }
  return nlohmann::ordered_json{{"runs", std::move(runs)}}.dump(2) + "\n";
}

std::string programs_text(const std::vector<Segment>& segments) {
  const std::string title =
      fmt::format("{:>8} {:>8} {:<9} {:<28} {}\n", "RUN", "PID", "RUNS ON", "WHY", "PROGRAM");
  std::string out;
  for (const Segment& segment : segments) {
    // A shell that execs, an engine that steps aside: one process, of which the last record counts.
    std::map<int, ProgramRecord> last;
    for (ProgramRecord& program : programs_of(*segment.counters)) {
      if (is_alive(program.pid)) last[program.pid] = std::move(program);
    }
    for (const auto& [pid, program] : last) {
      out += fmt::format("{:>8} {:>8} {:<9} {:<28} {}\n", segment.counters->layout()->root_pid,
                         program.pid, program.taken_over ? "engine" : "original", program.reason,
                         program.command);
    }
  }
  // A plain `hoist run` counts nothing, so that it starts at once.
  if (out.empty()) return "no counted program runs: `hoist run --stats -- PROGRAM` counts\n";
  return title + out;
}

// `seconds`: since `before` was read; 0 where there is nothing to compare with.
std::string operations_text(const std::map<std::string, OperationCount>& now,
                            const std::map<std::string, OperationCount>& before, double seconds) {
  if (now.empty()) return {};
  std::string out = fmt::format("\n{:<10} {:>10} {:>12} {:>10} {:>10}\n", "OPERATION", "CALLS",
                                "MB", "SECONDS", "MB/S NOW");
  for (const auto& [name, count] : now) {
    const auto earlier = before.find(name);
    const uint64_t start = earlier != before.end() ? earlier->second.bytes : 0;
    // A segment that was removed meanwhile takes its bytes with it.
    const uint64_t moved = count.bytes > start ? count.bytes - start : 0;
    const std::string rate =
        seconds > 0 ? fmt::format("{:.1f}", static_cast<double>(moved) * 1e-6 / seconds) : "-";
    out += fmt::format("{:<10} {:>10} {:>12.1f} {:>10.3f} {:>10}\n", name, count.calls,
                       static_cast<double>(count.bytes) * 1e-6,
                       static_cast<double>(count.nanoseconds) * 1e-9, rate);
  }
  return out;
}

void pause(double seconds) {
  const double whole = std::floor(seconds);
  const timespec time = {static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
  ::nanosleep(&time, nullptr);
}

}  // namespace

int top_command(const TopOptions& options) {
  const bool screen = ::isatty(STDOUT_FILENO) != 0 && !options.once && !options.json;
  std::map<std::string, OperationCount> before;
  double elapsed = 0;
  while (true) {
    sweep_segments();
    const std::vector<Segment> segments = open_segments();
    if (options.json) {
      fmt::print("{}", json_text(segments));
    } else {
      const std::map<std::string, OperationCount> now = operations_of(segments);
      fmt::print("{}{}{}", screen ? "\x1b[H\x1b[2J" : "", programs_text(segments),
                 operations_text(now, before, elapsed));
      before = now;
    }
    std::fflush(stdout);
    if (options.once || std::ferror(stdout) != 0) return kDone;
    pause(options.interval);
    elapsed = options.interval;
  }
}

}  // namespace hoist::cli
