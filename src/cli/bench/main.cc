// hoist bench: measures the parts of Hoist beside their peers, with the benchmarks that lie beside
// the sources (*_bench.cc).
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <algorithm>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/threads.h"
#include "cli/bench/names.h"
#include "cli/bench/reporters.h"
#include "cli/command.h"
#include "cli/report.h"
#include "cli/tool.h"

namespace hoist::cli {
namespace {

struct Options {
  std::vector<std::string> areas;
  std::string filter;
  bool json = false;
  bool quick = false;
  bool list = false;
};

// Google Benchmark is set up through its command line, whose first word it keeps a pointer to.
void configure(std::vector<std::string> flags) {
  static char program[] = "hoist bench";
  std::vector<char*> argv = {program};
  for (std::string& flag : flags) argv.push_back(flag.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(argv.size()) - 1;
  benchmark::Initialize(&argc, argv.data());
}

// Only for its stream, into which the list goes.
class ListReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {}
};

std::vector<std::string> all_names() {
  configure({"--benchmark_list_tests=true"});
  std::ostringstream list;
  ListReporter reporter;
  reporter.SetOutputStream(&list);
  benchmark::RunSpecifiedBenchmarks(&reporter, "all");
  configure({"--benchmark_list_tests=false"});
  std::vector<std::string> names;
  std::istringstream lines(list.str());
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  return names;
}

int measure(const std::vector<std::string>& names, const Options& options) {
  // The best of some short repetitions: others may use the machine now and then.
  if (options.quick) {
    configure({"--benchmark_min_time=0.01", "--benchmark_repetitions=1"});
  } else {
    configure({"--benchmark_min_time=0.1", "--benchmark_repetitions=5"});
  }
  Progress progress(names);
  const std::string pattern = pattern_of(names);
  if (options.json) {
    benchmark::AddCustomContext("hoist_version", HOIST_VERSION);
    benchmark::AddCustomContext("usable_cpus", std::to_string(usable_cpus()));
    JsonReporter reporter(progress);
    reporter.SetOutputStream(&std::cout);
    benchmark::RunSpecifiedBenchmarks(&reporter, pattern);
    std::cout.flush();
    return reporter.failed() ? kFailed : kDone;
  }
  TableReporter reporter(progress);
  benchmark::RunSpecifiedBenchmarks(&reporter, pattern);
  fmt::print("{}", table_of(reporter.measured()));
  const bool failed = std::ranges::any_of(reporter.measured(), [](const Measured& measured) {
    return is_failure(measured.name, measured.error);
  });
  return failed ? kFailed : kDone;
}

// The first component of each name, once.
std::set<std::string> areas_of(const std::vector<std::string>& names) {
  std::set<std::string> areas;
  for (const std::string& name : names) areas.insert(name.substr(0, name.find('/')));
  return areas;
}

int bench_command(const Options& options) {
  const std::vector<std::string> all = all_names();
  const std::set<std::string> areas = areas_of(all);
  for (const std::string& area : options.areas) {
    if (areas.contains(area)) continue;
    return report({ErrorCode::invalid_argument, fmt::format("no such area ({}): there are {}", area,
                                                            CLI::detail::join(areas, ", "))});
  }
  std::regex filter;
  try {
    filter = std::regex(options.filter);
  } catch (const std::regex_error&) {
    return report({ErrorCode::invalid_argument,
                   fmt::format("not a regular expression: {} (--filter): ECMAScript syntax",
                               options.filter)});
  }
  const std::vector<std::string> names = select_benchmarks(all, options.areas, filter);
  if (names.empty()) {
    return report({ErrorCode::invalid_argument,
                   "no such benchmark (hoist bench): `hoist bench --list` names all"});
  }
  if (!options.list) return measure(names, options);
  for (const std::string& name : names) fmt::print("{}\n", name);
  return kDone;
}

}  // namespace
}  // namespace hoist::cli

int main(int argc, char** argv) {
  using namespace hoist::cli;
  CLI::App app("Measures the parts of Hoist on this machine, beside their peers in the same run",
               argv[0]);
  Options options;
  suggest(
      app.add_option("AREA", options.areas,
                     "The first part of benchmarks' names, as --list prints them (default: "
                     "all)"),
      "aes codec container device gemm match memcpy placement qsort radix_sort records tensors");
  app.add_option("--filter", options.filter,
                 "Only benchmarks in whose names the regular expression RE is found, and their "
                 "peers")
      ->type_name("RE");
  app.add_flag("--quick", options.quick, "Shorter, once each: a rough picture");
  app.add_flag("--list", options.list, "Print the names, measure nothing");
  app.add_flag("--json", options.json, "Print Google Benchmark's JSON, with all repetitions");
  app.footer(
      "The table shows the best of five repetitions: GB/s of decoded bytes, and rates as\n"
      "multiples of the peers'. Measure on an idle machine. What needs a GPU says so where there\n"
      "is none.\n\n"
      "Examples:\n"
      "  hoist bench codec --quick\n"
      "  hoist bench codec --filter 'parity/.*10\\+4'\n"
      "  hoist bench placement --json > placement.json");
  return run_tool(app, argc, argv, [&] { return bench_command(options); });
}
