#include "graph/native/lower_stretch.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "graph/kernels/conversion.h"
#include "graph/native/lane_operations.h"

namespace hoist::graph::native {
namespace {

using program::Operand;
using program::Place;

class Lowering {
 public:
  Lowering(ir::Module& module, const std::string& name, const Loop& loop, const Stretch& stretch,
           bool fuses)
      : loop_(loop),
        stretch_(stretch),
        fuses_(fuses),
        writer_(module, name, ir::Scalar::i64) {}  // 32 bits would wrap, which C++ compilers mind

  LoweredStretch run() {
    // All that is read before all that is written: both may be the same memory.
    for (const uint32_t slot : stretch_.loads) values_[slot] = loaded(slot);
    const std::vector<LoopStep>& steps = loop_.phases[stretch_.phase].steps;
    for (size_t i = stretch_.begin; i < stretch_.end; ++i) add(steps[i]);
    for (const uint32_t slot : stretch_.stores) {
      writer_.store(array(slot), index(slot),
                    kernels::converted(writer_, type_of(slot), values_.at(slot)));
    }
    lowered_.kernel = writer_.builder.finish();
    return std::move(lowered_);
  }

 private:
  void add(const LoopStep& step) {
    // Between memory and lanes nothing is computed.
    if (step.kind != LoopStep::Kind::elementwise) {
      values_[step.output] = values_.at(step.inputs[0]);
      return;
    }
    std::vector<Value> inputs;
    for (size_t k = 0; k < inputs_of(step); ++k) inputs.push_back(values_.at(step.inputs[k]));
    values_[step.output] =
        writer_.let(computed(writer_, fuses_, step.op, step.lanes, step.dtype, inputs));
  }

  // As its elements lie.
  ir::Scalar type_of(uint32_t number) const {
    const Slot& slot = loop_.slots[number];
    if (slot.kind != Slot::Kind::operand) return scalar_of(slot.lanes);
    return *ir::scalar_of(loop_.operands[slot.index].dtype);
  }

  const ir::Array* array(uint32_t number) {
    const auto found = arrays_.find(number);
    if (found != arrays_.end()) return found->second;
    const auto has = [&](const std::vector<uint32_t>& slots) {
      return std::find(slots.begin(), slots.end(), number) != slots.end();
    };
    const Slot& slot = loop_.slots[number];
    const ir::Direction direction = !has(stretch_.stores) ? ir::Direction::in
                                    : has(stretch_.loads) ? ir::Direction::inout
                                                          : ir::Direction::out;
    const std::string name = "s" + std::to_string(lowered_.slots.size());
    lowered_.slots.push_back(number);
    return arrays_[number] = writer_.builder.array(name, type_of(number), direction,
                                                   slot.kind == Slot::Kind::operand);
  }

  Value index(uint32_t number) {
    const Slot& slot = loop_.slots[number];
    const Value column = slot.column == 0 ? writer_.index(0) : writer_.id(ir::Id::thread);
    if (stretch_.is_flat || !stretch_.has_rows || slot.row == 0) return column;
    const Value row = writer_.cast(writer_.index_type(), writer_.make.id(ir::Id::thread, 1));
    return writer_.plus(writer_.times(row, slot.row), column);
  }

  Value loaded(uint32_t slot) {
    if (const Value constant = number(slot)) return constant;
    const Value value = writer_.load(array(slot), index(slot));
    // Booleans and bf16 are numbers in their lanes.
    const ir::Scalar lanes = scalar_of(loop_.slots[slot].lanes);
    return writer_.let(ir::is_integer(value->type.scalar) ? value : writer_.cast(lanes, value));
  }

  // The value of a constant of one element; null for all else.
  Value number(uint32_t number) {
    const Slot& slot = loop_.slots[number];
    if (slot.kind != Slot::Kind::operand || slot.row != 0 || slot.column != 0) return nullptr;
    const Operand& operand = loop_.operands[slot.index];
    const auto moves = [](int64_t stride) { return stride != 0; };
    if (operand.place != Place::constant || operand.fixed == nullptr ||
        std::any_of(operand.outer.begin(), operand.outer.end(), moves)) {
      return nullptr;
    }
    const size_t bytes = program::lane_bytes(slot.lanes);
    uint64_t bits = 0;
    std::memcpy(
        &bits,
        static_cast<const std::byte*>(operand.fixed) + operand.offset * static_cast<int64_t>(bytes),
        bytes);
    return writer_.make.constant(scalar_of(slot.lanes), bits);
  }

  const Loop& loop_;
  const Stretch& stretch_;
  const bool fuses_;
  KernelWriter writer_;
  LoweredStretch lowered_;
  std::map<uint32_t, const ir::Array*> arrays_;
  std::map<uint32_t, Value> values_;
};

}  // namespace

LoweredStretch lower_stretch(ir::Module& module, const std::string& name, const Loop& loop,
                             const Stretch& stretch, bool fuses) {
  return Lowering(module, name, loop, stretch, fuses).run();
}

}  // namespace hoist::graph::native
