#include "graph/program/traffic.h"

#include <algorithm>
#include <map>

namespace hoist::graph::program {
namespace {

// Elements of the domain that lie at different places; those of a product are counted as a whole.
int64_t places(const Loop& loop, const Operand& operand) {
  int64_t count = operand.row == 0 ? 1 : loop.rows;
  for (size_t i = 0; i < loop.outer.size(); ++i) {
    if (operand.outer[i] != 0) count *= loop.outer[i];
  }
  if (operand.columns == Extents{0}) return count;
  for (size_t i = 0; i < operand.columns.size(); ++i) {
    if (operand.columns[i] != 0) count *= loop.column_axes.empty() ? 1 : loop.column_axes[i];
  }
  return count;
}

}  // namespace

uint64_t traffic(const Graph& graph, const Kernel& kernel) {
  std::map<Id, int64_t> moved;
  for (const Loop& loop : kernel.loops) {
    std::map<Id, int64_t> of_loop;
    for (size_t k = 0; k < loop.operands.size(); ++k) {
      const Operand& operand = loop.operands[k];
      if (operand.place == Place::product) continue;
      int64_t count = places(loop, operand);
      if (loop.product && (k == loop.product->a || k == loop.product->b)) {
        count *= static_cast<int64_t>(loop.product->depth);
        if (k == loop.product->b) count *= loop.columns;
      }
      of_loop[operand.node] += count;
    }
    for (const auto& [node, count] : of_loop) {
      moved[node] += std::min(count, graph[node].elements());
    }
  }
  uint64_t bytes = 0;
  for (const auto& [node, count] : moved) {
    bytes += static_cast<uint64_t>(count) * bytes_of(graph[node].dtype);
  }
  return bytes;
}

}  // namespace hoist::graph::program
