#include "graph/program/plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace hoist::graph::program {
namespace {

constexpr size_t kNever = SIZE_MAX;
constexpr size_t kAlignment = 64;

struct Range {
  size_t begin = 0;
  size_t bytes = 0;
  size_t last_use = 0;  // kernel
};

// When a loop's steps read and write its operands, counted from 1.
struct LoopUses {
  struct Node {
    size_t first_operand = 0;
    size_t operands = 0;
  };

  explicit LoopUses(const Loop& loop)
      : last_read(loop.operands.size()), first_write(loop.operands.size(), kNever) {
    for (size_t i = 0; i < loop.operands.size(); ++i) {
      Node& node = of_node.try_emplace(loop.operands[i].node, Node{i, 0}).first->second;
      ++node.operands;
    }
    if (loop.phases.empty()) return;
    const auto operand = [&](uint32_t slot) -> std::optional<size_t> {
      if (loop.slots[slot].kind != Slot::Kind::operand) return {};
      return loop.slots[slot].index;
    };
    size_t now = 0;
    for (const auto* steps : {&loop.phases[0].columns, &loop.phases[0].steps}) {
      for (const LoopStep& step : *steps) {
        ++now;
        for (const uint32_t slot : step.inputs) {
          if (const auto read = operand(slot)) last_read[*read] = now;
        }
        if (const auto written = operand(step.output)) {
          first_write[*written] = std::min(first_write[*written], now);
        }
      }
    }
  }

  std::unordered_map<Id, Node> of_node;
  std::vector<size_t> last_read;    // 0: not
  std::vector<size_t> first_write;  // kNever: not
};

class Planner {
 public:
  Planner(const Graph& graph, std::vector<Kernel>& kernels) : graph_(graph), kernels_(kernels) {}

  Plan run() {
    find_last_uses();
    for (const Kernel& kernel : kernels_) uses_.emplace_back(kernel.loops[0]);
    for (size_t k = 0; k < kernels_.size(); ++k) {
      std::erase_if(live_, [&](const Range& range) { return range.last_use < k; });
      for (const Id output : kernels_[k].outputs) {
        const auto use = last_use_.find(output);
        if (use == last_use_.end() || graph_.output_of(output)) continue;
        place(output, k, use->second);
      }
    }
    for (Kernel& kernel : kernels_) {
      for (Loop& loop : kernel.loops) {
        for (Operand& operand : loop.operands) resolve(operand);
      }
    }
    find_outputs_in_place();
    return plan_;
  }

 private:
  bool is_boolean(Id id) const { return graph_[id].dtype == DType::boolean; }

  void find_last_uses() {
    for (size_t k = 0; k < kernels_.size(); ++k) {
      for (const Loop& loop : kernels_[k].loops) {
        for (const Operand& operand : loop.operands) {
          if (operand.place == Place::arena) last_use_[operand.node] = k;
        }
      }
    }
  }

  void place(Id id, size_t kernel, size_t last_use) {
    if (const Id input = replaceable(id, kernel); input != id) {
      begin_[id] = begin_[input];
      for (Range& range : live_) {
        if (range.begin == begin_[id]) range.last_use = last_use;
      }
      last_use_[input] = kNever;  // given away
      ++plan_.in_place;
      return;
    }
    const auto elements = static_cast<size_t>(graph_[id].elements());
    // Booleans are numbers there.
    const size_t item = std::max(bytes_of(graph_[id].dtype), is_boolean(id) ? sizeof(float) : 1);
    const size_t bytes =
        (std::max<size_t>(elements, 1) * item + kAlignment - 1) / kAlignment * kAlignment;
    std::sort(live_.begin(), live_.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
    size_t begin = 0;
    for (const Range& range : live_) {
      if (range.begin >= begin + bytes) break;
      begin = std::max(begin, range.begin + range.bytes);
    }
    begin_[id] = begin;
    live_.push_back({begin, bytes, last_use});
    plan_.arena = std::max(plan_.arena, begin + bytes);
  }

  // An input of the kernel whose place the result may take: it dies here, each of its elements is
  // read only where the result's is written, and not after that. `id` itself: there is none.
  Id replaceable(Id id, size_t kernel) const {
    if (kernels_[kernel].loops.size() != 1) return id;
    const Loop& loop = kernels_[kernel].loops[0];
    for (const Operand& operand : loop.operands) {
      if (operand.place != Place::arena || operand.node == id) continue;
      const auto use = last_use_.find(operand.node);
      if (use == last_use_.end() || use->second != kernel) continue;
      if (may_take_place(kernel, operand.node, id)) return operand.node;
    }
    return id;
  }

  // Whether each element of `input` is read only where that of `result` is written, and not after
  // that.
  bool may_take_place(size_t kernel, Id input, Id result) const {
    const Loop& loop = kernels_[kernel].loops[0];
    if (loop.product || loop.phases.size() != 1 || loop.phases[0].reductions != 0) return false;
    if (graph_[input].elements() != graph_[result].elements()) return false;
    const LoopUses& uses = uses_[kernel];
    const LoopUses::Node& reads = uses.of_node.at(input);
    const size_t written = uses.of_node.at(result).first_operand;
    const Operand& from = loop.operands[reads.first_operand];
    const Operand& to = loop.operands[written];
    return reads.operands == 1 && from.dtype == to.dtype && from.offset == 0 &&
           from.outer == to.outer && from.row == to.row && from.columns == to.columns &&
           uses.last_read[reads.first_operand] <= uses.first_write[written];
  }

  // Pairs of input and output that may be the same memory.
  void find_outputs_in_place() {
    const std::vector<Id>& outputs = graph_.outputs();
    const std::vector<Id>& inputs = graph_.inputs();
    std::vector<size_t> writer(graph_.size(), kNever);  // kernels
    std::vector<size_t> last_reader(graph_.size(), kNever);
    for (size_t k = 0; k < kernels_.size(); ++k) {
      for (const Id output : kernels_[k].outputs) writer[output] = k;
      for (const Loop& loop : kernels_[k].loops) {
        for (const Operand& operand : loop.operands) last_reader[operand.node] = k;
      }
    }
    plan_.may_be_input.assign(outputs.size(), std::vector<bool>(inputs.size()));
    for (size_t o = 0; o < outputs.size(); ++o) {
      const size_t written = writer[outputs[o]];
      for (size_t i = 0; i < inputs.size(); ++i) {
        const size_t read = last_reader[inputs[i]];
        plan_.may_be_input[o][i] = read == kNever || written == kNever || read < written ||
                                   (read == written && kernels_[read].loops.size() == 1 &&
                                    may_take_place(read, inputs[i], outputs[o]));
      }
    }
  }

  void resolve(Operand& operand) const {
    switch (operand.place) {
      case Place::input:
        operand.index = static_cast<size_t>(graph_[operand.node].numbers[0]);
        return;
      case Place::constant:
        operand.fixed = graph_[operand.node].values->bytes();
        return;
      case Place::output:
        operand.index = *graph_.output_of(operand.node);
        return;
      case Place::arena:
        operand.arena = begin_.at(operand.node);
        return;
      case Place::product:
        return;
    }
  }

  const Graph& graph_;
  std::vector<Kernel>& kernels_;
  Plan plan_;
  std::vector<LoopUses> uses_;  // of each kernel's first loop
  std::map<Id, size_t> last_use_;
  std::map<Id, size_t> begin_;
  std::vector<Range> live_;
};

}  // namespace

Plan plan(const Graph& graph, std::vector<Kernel>& kernels) {
  return Planner(graph, kernels).run();
}

}  // namespace hoist::graph::program
