// How `hoist bench` shows what Google Benchmark measured.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace hoist::cli {

// "[3/40] NAME, 12 s left" on standard error, in place, while a terminal is there to see it.
class Progress {
 public:
  explicit Progress(std::vector<std::string> names);
  ~Progress();
  // That the benchmark of this name is done.
  void done(const std::string& name);

 private:
  void show() const;

  std::vector<std::string> names_;
  size_t next_ = 0;
  bool visible_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What the best repetition of a benchmark took.
struct Measured {
  std::string name;
  double seconds = 0;           // of one iteration
  double bytes_per_second = 0;  // 0: not stated
  std::string error;            // why there is no measurement
};

// Whether an error makes the command fail: not that there is no GPU, nor that a peer cannot do what
// is asked of it.
bool is_failure(const std::string& benchmark, const std::string& error);

// Keeps measurements for a table at the end.
class TableReporter : public benchmark::BenchmarkReporter {
 public:
  explicit TableReporter(Progress& progress) : progress_(progress) {}

  bool ReportContext(const Context& context) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;
  const std::vector<Measured>& measured() const { return measured_; }

 private:
  Progress& progress_;
  std::vector<Measured> measured_;
};

// Google Benchmark's own JSON on standard output.
class JsonReporter : public benchmark::JSONReporter {
 public:
  explicit JsonReporter(Progress& progress) : progress_(progress) {}

  void ReportRuns(const std::vector<Run>& runs) override;
  bool failed() const { return failed_; }

 private:
  Progress& progress_;
  bool failed_ = false;
};

// A row for each benchmark: rate, time, and rates as multiples of the peers'.
std::string table_of(const std::vector<Measured>& measured);

}  // namespace hoist::cli
