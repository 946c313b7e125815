#include "graph/native/stretch.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/native/lane_operations.h"

namespace hoist::graph::native {
namespace {

using program::CompiledSteps;
using program::Op;
using program::Phase;

// Whether elements of another type than their lanes lie one behind the other, row by row. Those of
// f16 are left to the precompiled steps, which have instructions for them.
bool lies_well(const Loop& loop, uint32_t slot) {
  const program::Operand& operand = loop.operands[loop.slots[slot].index];
  return operand.is_converted && operand.dtype != program::DType::f16 &&
         (loop.columns == 1 || operand.columns == program::Extents{1});
}

bool can_be_compiled(const Loop& loop, const LoopStep& step) {
  switch (step.kind) {
    case LoopStep::Kind::gather:
      return lies_well(loop, step.inputs[0]);
    case LoopStep::Kind::scatter:
      return lies_well(loop, step.output);
    case LoopStep::Kind::elementwise:
      return can_compute(step.op, step.lanes, step.dtype);
    default:
      return false;
  }
}

// Numbers of slots that a step reads.
std::vector<uint32_t> read_slots(const LoopStep& step) {
  const bool computes =
      step.kind == LoopStep::Kind::elementwise || step.kind == LoopStep::Kind::narrow;
  const size_t count = computes ? inputs_of(step) : step.kind == LoopStep::Kind::take ? 2 : 1;
  return {step.inputs, step.inputs + count};
}

// About how many cycles pass from a step's inputs to its result.
int latency(Op op) {
  switch (op) {
    case Op::copy:
    case Op::negate:
    case Op::absolute:
      return 1;
    case Op::cast:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::round:
      return 8;
    case Op::divide:
    case Op::sqrt:
      return 16;
    case Op::minimum:
    case Op::maximum:
    case Op::rsqrt:
      return 24;
    case Op::log:
    case Op::log1p:
    case Op::log2:
      return 80;
    default:
      return 4;
  }
}

// Processors look some hundred instructions ahead. A loop is as fast as its instructions allow
// while that is several turns of it; where a turn's results wait long for one another, two loops
// are faster.
constexpr int kMostLatency = 96;

class Search {
 public:
  explicit Search(const Loop& loop) : loop_(loop) {}

  std::vector<Stretch> run() {
    for (size_t phase = 0; phase < loop_.phases.size(); ++phase) {
      const std::vector<LoopStep>& steps = loop_.phases[phase].steps;
      for (size_t begin = 0; begin < steps.size();) {
        size_t end = begin;
        std::set<uint32_t> slots;
        std::map<uint32_t, int> ready;  // cycles after a turn's begin
        while (end < steps.size() && can_be_compiled(loop_, steps[end])) {
          int cycles = 0;
          for (const uint32_t slot : read_slots(steps[end])) cycles = std::max(cycles, ready[slot]);
          cycles += latency(steps[end].op);
          if (end != begin && cycles > kMostLatency) break;
          ready[steps[end].output] = cycles;
          std::set<uint32_t> more = slots;
          for (const uint32_t slot : read_slots(steps[end])) more.insert(slot);
          more.insert(steps[end].output);
          if (more.size() > CompiledSteps::kMostSlots) break;
          slots = std::move(more);
          ++end;
        }
        if (end - begin >= 2) found_.push_back(described({phase, begin, end, {}, {}}));
        begin = std::max(end, begin + 1);
      }
    }
    return std::move(found_);
  }

 private:
  Stretch described(Stretch stretch) const {
    const std::vector<LoopStep>& steps = loop_.phases[stretch.phase].steps;
    std::set<uint32_t> written;
    for (size_t i = stretch.begin; i < stretch.end; ++i) {
      for (const uint32_t slot : read_slots(steps[i])) {
        const bool is_known =
            std::find(stretch.loads.begin(), stretch.loads.end(), slot) != stretch.loads.end();
        if (!written.contains(slot) && !is_known) stretch.loads.push_back(slot);
      }
      written.insert(steps[i].output);
    }
    for (const uint32_t slot : written) {
      if (is_used_behind(stretch, slot)) stretch.stores.push_back(slot);
    }
    const auto has_no_gaps = [&](uint32_t number) {
      const Slot& slot = loop_.slots[number];
      const bool is_number = slot.row == 0 && slot.column == 0;
      return is_number || (slot.column == 1 && slot.row == loop_.columns);
    };
    const bool is_chunked = loop_.chunk < loop_.columns;
    stretch.has_rows = loop_.block_rows != 1;
    stretch.is_flat = stretch.has_rows && !is_chunked &&
                      std::all_of(stretch.loads.begin(), stretch.loads.end(), has_no_gaps) &&
                      std::all_of(stretch.stores.begin(), stretch.stores.end(), has_no_gaps);
    return stretch;
  }

  // Whether anything reads it before it is written again, or it is the memory of the program.
  bool is_used_behind(const Stretch& stretch, uint32_t slot) const {
    if (loop_.slots[slot].kind != Slot::Kind::block) return true;
    for (size_t phase = stretch.phase; phase < loop_.phases.size(); ++phase) {
      const Phase& at = loop_.phases[phase];
      // Steps on numbers for each row come before a phase's others.
      if (phase > stretch.phase && reads(at.columns, 0, slot)) return true;
      for (size_t i = phase == stretch.phase ? stretch.end : 0; i < at.steps.size(); ++i) {
        const std::vector<uint32_t> read = read_slots(at.steps[i]);
        if (std::find(read.begin(), read.end(), slot) != read.end()) return true;
        if (at.steps[i].output == slot) return false;
      }
    }
    return false;
  }
  static bool reads(const std::vector<LoopStep>& steps, size_t begin, uint32_t slot) {
    return std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(begin), steps.end(),
                       [&](const LoopStep& step) {
                         const std::vector<uint32_t> read = read_slots(step);
                         return std::find(read.begin(), read.end(), slot) != read.end();
                       });
  }

  const Loop& loop_;
  std::vector<Stretch> found_;
};

}  // namespace

size_t inputs_of(const LoopStep& step) {
  return static_cast<size_t>(program::properties(step.op).inputs);
}

std::vector<Stretch> find_stretches(const Loop& loop) { return Search(loop).run(); }

}  // namespace hoist::graph::native
