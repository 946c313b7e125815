#include "graph/program/plan.h"

#include <algorithm>
#include <map>

namespace hoist::graph::program {
namespace {

constexpr size_t kNever = SIZE_MAX;
constexpr size_t kAlignment = 64;

struct Range {
  size_t begin = 0;
  size_t bytes = 0;
  size_t last_use = 0;  // kernel
};

class Planner {
 public:
  Planner(const Graph& graph, std::vector<Kernel>& kernels) : graph_(graph), kernels_(kernels) {}

  Plan run() {
    find_last_uses();
    for (size_t k = 0; k < kernels_.size(); ++k) {
      std::erase_if(live_, [&](const Range& range) { return range.last_use < k; });
      for (const Id output : kernels_[k].outputs) {
        const auto use = last_use_.find(output);
        if (use == last_use_.end() || is_output(output)) continue;
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
  bool is_output(Id id) const {
    const auto& outputs = graph_.outputs();
    return std::find(outputs.begin(), outputs.end(), id) != outputs.end();
  }

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
      if (may_take_place(loop, operand.node, id)) return operand.node;
    }
    return id;
  }

  // Whether each element of `input` is read only where that of `result` is written, and not after
  // that.
  bool may_take_place(const Loop& loop, Id input, Id result) const {
    if (loop.product || loop.phases.size() != 1 || loop.phases[0].reductions != 0) return false;
    if (graph_[input].elements() != graph_[result].elements()) return false;
    const auto named = [&](Id id) {
      return std::find_if(loop.operands.begin(), loop.operands.end(),
                          [&](const Operand& operand) { return operand.node == id; });
    };
    const Operand& from = *named(input);
    const Operand& to = *named(result);
    const auto readers =
        std::count_if(loop.operands.begin(), loop.operands.end(),
                      [&](const Operand& operand) { return operand.node == input; });
    return readers == 1 && from.dtype == to.dtype && from.offset == 0 && from.outer == to.outer &&
           from.row == to.row && from.columns == to.columns && is_read_before(loop, from, to);
  }

  // Pairs of input and output that may be the same memory.
  void find_outputs_in_place() {
    const std::vector<Id>& outputs = graph_.outputs();
    plan_.may_be_input.assign(outputs.size(), std::vector<bool>(graph_.inputs().size()));
    for (size_t o = 0; o < outputs.size(); ++o) {
      for (size_t i = 0; i < graph_.inputs().size(); ++i) {
        plan_.may_be_input[o][i] = may_be(graph_.inputs()[i], outputs[o]);
      }
    }
  }

  bool may_be(Id input, Id output) const {
    bool is_written = false;
    for (const Kernel& kernel : kernels_) {
      const bool writes =
          std::find(kernel.outputs.begin(), kernel.outputs.end(), output) != kernel.outputs.end();
      for (const Loop& loop : kernel.loops) {
        const bool reads =
            std::any_of(loop.operands.begin(), loop.operands.end(),
                        [&](const Operand& operand) { return operand.node == input; });
        if (!reads) continue;
        if (is_written) return false;
        if (writes && (kernel.loops.size() != 1 || !may_take_place(loop, input, output))) {
          return false;
        }
      }
      is_written |= writes;
    }
    return true;
  }

  static bool is_read_before(const Loop& loop, const Operand& input, const Operand& result) {
    const auto lies_in = [&](uint32_t slot, const Operand& operand) {
      return loop.slots[slot].kind == Slot::Kind::operand &&
             &loop.operands[loop.slots[slot].index] == &operand;
    };
    bool is_written = false;
    for (const auto* steps : {&loop.phases[0].columns, &loop.phases[0].steps}) {
      for (const LoopStep& step : *steps) {
        for (const uint32_t slot : step.inputs) {
          if (is_written && lies_in(slot, input)) return false;
        }
        is_written |= lies_in(step.output, result);
      }
    }
    return true;
  }

  void resolve(Operand& operand) const {
    switch (operand.place) {
      case Place::input:
        operand.index = static_cast<size_t>(graph_[operand.node].numbers[0]);
        return;
      case Place::constant:
        operand.fixed = graph_[operand.node].values->bytes();
        return;
      case Place::output: {
        const auto& outputs = graph_.outputs();
        operand.index = static_cast<size_t>(
            std::find(outputs.begin(), outputs.end(), operand.node) - outputs.begin());
        return;
      }
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
  std::map<Id, size_t> last_use_;
  std::map<Id, size_t> begin_;
  std::vector<Range> live_;
};

}  // namespace

Plan plan(const Graph& graph, std::vector<Kernel>& kernels) {
  return Planner(graph, kernels).run();
}

}  // namespace hoist::graph::program
