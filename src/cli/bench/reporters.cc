#include "cli/bench/reporters.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "cli/bench/names.h"
#include "cli/report.h"
#include "device/cuda_plugin.h"

namespace hoist::cli {
namespace {

// Google Benchmark renamed the field in version 1.8.
template <typename Run>
std::string error_of(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred ? run.error_message : "";
  } else {
    return static_cast<bool>(run.skipped) ? run.skip_message : "";
  }
}

// Aggregates of repetitions are no measurements of their own.
bool is_measurement(const benchmark::BenchmarkReporter::Run& run) {
  return run.run_type == benchmark::BenchmarkReporter::Run::RT_Iteration;
}

Measured measured_in(const benchmark::BenchmarkReporter::Run& run) {
  Measured measured = {run.run_name.str(), 0, 0, error_of(run)};
  if (!measured.error.empty() || run.iterations == 0) return measured;
  measured.seconds = run.real_accumulated_time / static_cast<double>(run.iterations);
  const auto bytes = run.counters.find("bytes_per_second");
  if (bytes != run.counters.end()) measured.bytes_per_second = bytes->second;
  return measured;
}

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s ", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  if (seconds >= 1e-6) return fmt::format("{:.2f} us", seconds * 1e6);
  return fmt::format("{:.1f} ns", seconds * 1e9);
}

// How many times as fast `ours` is. Rates come first: they do not count time in which other
// programs had the processor.
double ratio_of(const Measured& ours, const Measured& peer) {
  if (ours.bytes_per_second > 0 && peer.bytes_per_second > 0) {
    return ours.bytes_per_second / peer.bytes_per_second;
  }
  return ours.seconds > 0 ? peer.seconds / ours.seconds : 0;
}

}  // namespace

Progress::Progress(std::vector<std::string> names)
    : names_(std::move(names)), visible_(::isatty(STDERR_FILENO) != 0) {
  show();
}

Progress::~Progress() {
  if (visible_) print_error("\r\033[K");
}

void Progress::done(const std::string& name) {
  // Benchmarks run in the order of registration, which is that of the list; others are not counted.
  const auto found = std::find(names_.begin() + static_cast<long>(next_), names_.end(), name);
  if (found == names_.end()) return;
  next_ = static_cast<size_t>(found - names_.begin()) + 1;
  show();
}

void Progress::show() const {
  if (!visible_ || next_ >= names_.size()) return;
  std::string left;
  if (next_ > 0) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    const double each = spent.count() / static_cast<double>(next_);
    left = fmt::format(", {:.0f} s left", each * static_cast<double>(names_.size() - next_));
  }
  print_error(fmt::format("\r\033[K[{}/{}] {}{}", next_ + 1, names_.size(), names_[next_], left));
}

bool is_failure(const std::string& benchmark, const std::string& error) {
  if (error.empty() || parse_peer(benchmark)) return false;
  const Status gpu = device::cuda_available();
  return gpu || error != gpu.error().message;
}

void TableReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (!is_measurement(run)) continue;
    const Measured now = measured_in(run);
    if (measured_.empty() || measured_.back().name != now.name) {
      measured_.push_back(now);
    } else if (measured_.back().error.empty() &&
               (!now.error.empty() || ratio_of(now, measured_.back()) > 1)) {
      measured_.back() = now;
    }
    progress_.done(now.name);
  }
}

void JsonReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    failed_ = failed_ || is_failure(run.run_name.str(), error_of(run));
    progress_.done(run.run_name.str());
  }
  JSONReporter::ReportRuns(runs);
}

std::string table_of(const std::vector<Measured>& measured) {
  std::vector<std::string> names;
  size_t width = 9;
  for (const Measured& row : measured) {
    names.push_back(row.name);
    width = std::max(width, row.name.size());
  }
  std::string text = fmt::format("{:<{}}  {:>9}  {:>11}  {}\n", "benchmark", width, "GB/s", "time",
                                 "times as fast");
  for (size_t i = 0; i < measured.size(); ++i) {
    const Measured& row = measured[i];
    if (!row.error.empty()) {
      text += fmt::format("{:<{}}  {}\n", row.name, width, row.error);
      continue;
    }
    const std::string rate =
        row.bytes_per_second > 0 ? fmt::format("{:.2f}", row.bytes_per_second / 1e9) : "-";
    std::string peers;
    for (const size_t peer : peers_of(i, names)) {
      if (!measured[peer].error.empty()) continue;
      peers += fmt::format("{}{:.2f} {}", peers.empty() ? "" : ", ", ratio_of(row, measured[peer]),
                           parse_peer(names[peer])->peer);
    }
    text += fmt::format("{:<{}}  {:>9}  {:>11}  {}\n", row.name, width, rate,
                        time_text(row.seconds), peers);
  }
  return text;
}

}  // namespace hoist::cli
