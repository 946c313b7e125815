#include "graph/gpu/places.h"

#include <algorithm>

#include "graph/program/move.h"

namespace hoist::graph::gpu {

using kernels::KernelStep;
using kernels::Lowered;
using kernels::Memory;
using kernels::ProductStep;
using kernels::Step;
using kernels::Storage;
using program::Graph;
using program::Id;

namespace {

bool touches(const Step& step, Storage storage, bool wants_written) {
  if (const auto* product = std::get_if<ProductStep>(&step)) {
    if (wants_written) return product->c == storage;
    return product->a.storage == storage || product->b.storage == storage;
  }
  const auto& arguments = std::get<KernelStep>(step).arguments;
  return std::any_of(arguments.begin(), arguments.end(), [&](const KernelStep::Argument& it) {
    return it.storage == storage && it.is_written == wants_written;
  });
}

bool is_in_arena(const Graph& graph, const Memory& memory) {
  if (!memory.node) return true;
  const std::vector<Id>& outputs = graph.outputs();
  return !program::is_leaf(graph[*memory.node].op) &&
         std::find(outputs.begin(), outputs.end(), *memory.node) == outputs.end();
}

std::optional<Storage> storage_of(const Lowered& lowered, Id node) {
  for (size_t i = 0; i < lowered.memories.size(); ++i) {
    if (lowered.memories[i].node == node) return static_cast<Storage>(i);
  }
  return {};
}

bool may_share(const Lowered& lowered, Storage input, Storage output) {
  if (lowered.memories[input].element != lowered.memories[output].element ||
      lowered.memories[input].count != lowered.memories[output].count) {
    return false;
  }
  bool is_written = false;
  for (const Step& step : lowered.steps) {
    const bool reads = touches(step, input, false);
    const bool writes = touches(step, output, true);
    if (reads && is_written) return false;
    if (reads && writes) {
      const auto* kernel = std::get_if<KernelStep>(&step);
      if (kernel == nullptr) return false;
      const std::pair pair(input, output);
      if (std::find(kernel->in_place.begin(), kernel->in_place.end(), pair) ==
          kernel->in_place.end()) {
        return false;
      }
    }
    is_written |= writes;
  }
  return true;
}

}  // namespace

ArenaPlan plan_arena(const Graph& graph, const Lowered& lowered) {
  struct Range {
    size_t begin;
    size_t end;
    size_t last_step;
  };
  ArenaPlan plan;
  plan.begins.resize(lowered.memories.size());
  std::vector<Range> live;
  std::vector<bool> is_placed(lowered.memories.size());
  for (size_t step = 0; step < lowered.steps.size(); ++step) {
    std::erase_if(live, [&](const Range& range) { return range.last_step < step; });
    for (Storage storage = 0; storage < lowered.memories.size(); ++storage) {
      const Memory& memory = lowered.memories[storage];
      if (is_placed[storage] || !is_in_arena(graph, memory)) continue;
      if (!touches(lowered.steps[step], storage, true)) continue;
      size_t last = step;
      for (size_t later = step; later < lowered.steps.size(); ++later) {
        if (touches(lowered.steps[later], storage, true) ||
            touches(lowered.steps[later], storage, false)) {
          last = later;
        }
      }
      const size_t bytes = (memory.bytes() + kArenaAlignment) / kArenaAlignment * kArenaAlignment;
      std::sort(live.begin(), live.end(),
                [](const Range& a, const Range& b) { return a.begin < b.begin; });
      size_t begin = 0;
      for (const Range& range : live) {
        if (range.begin >= begin + bytes) break;
        begin = std::max(begin, range.end);
      }
      live.push_back({begin, begin + bytes, last});
      plan.begins[storage] = begin;
      plan.bytes = std::max(plan.bytes, begin + bytes);
      is_placed[storage] = true;
    }
  }
  return plan;
}

std::vector<std::vector<bool>> find_in_place(const Graph& graph, const Lowered& lowered) {
  std::vector<std::vector<bool>> all;
  for (const Id output : graph.outputs()) {
    std::vector<bool>& of_output = all.emplace_back();
    const auto to = storage_of(lowered, output);
    for (const Id input : graph.inputs()) {
      const auto from = storage_of(lowered, input);
      of_output.push_back(from && to && may_share(lowered, *from, *to));
    }
  }
  return all;
}

void append_values(const program::Node& constant, std::vector<std::byte>& bytes) {
  const size_t begin = bytes.size();
  const size_t count = constant.values->size();
  bytes.resize(begin + count * program::bytes_of(constant.dtype));
  program::narrow(constant.dtype, constant.values->bytes(), count, bytes.data() + begin);
}

}  // namespace hoist::graph::gpu
