#include "graph/text/report.h"

#include <fmt/format.h>

namespace hoist::graph::text {
namespace {

double percent(uint64_t part, uint64_t all) {
  return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

std::vector<std::string> operations_of(const program::Program& program,
                                       const program::KernelReport& kernel) {
  std::vector<std::string> names;
  for (const program::Id id : kernel.nodes) {
    names.emplace_back(program::properties(program.graph()[id].op).name);
  }
  return names;
}

std::string report_text(const program::Program& program) {
  const program::Report& report = program.report();
  const size_t kernels = report.kernels.size();
  std::string text = fmt::format(
      "{} nodes traced, {} left, {} kernel{} ({:.0f} % of the nodes traced)\n", report.nodes_traced,
      report.nodes_left, kernels, kernels == 1 ? "" : "s", percent(kernels, report.nodes_traced));
  text += fmt::format("{} bytes moved, {} planned between kernels\n", report.bytes_moved,
                      report.arena_bytes);
  for (size_t i = 0; i < kernels; ++i) {
    const program::KernelReport& kernel = report.kernels[i];
    text += fmt::format("{:4}: {:>12} bytes {:3.0f} %  {}\n", i, kernel.bytes,
                        percent(kernel.bytes, report.bytes_moved),
                        fmt::join(operations_of(program, kernel), " "));
  }
  return text;
}

}  // namespace hoist::graph::text
