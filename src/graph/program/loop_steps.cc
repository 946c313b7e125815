// The second half of a loop's making: the steps, and the registers that they work on.
#include <algorithm>

#include "graph/program/loop_builder.h"

namespace hoist::graph::program {

size_t LoopBuilder::scratch(int64_t elements, Lanes lanes) {
  const size_t begin = loop_.scratch;
  loop_.scratch += (static_cast<size_t>(elements) * lane_bytes(lanes) + 63) / 64 * 64;
  return begin;
}

uint32_t LoopBuilder::new_slot(Slot slot) {
  const auto lane = static_cast<int64_t>(lane_bytes(slot.lanes));
  slot.row_bytes = slot.row * lane;
  slot.column_bytes = slot.column * lane;
  loop_.slots.push_back(slot);
  return static_cast<uint32_t>(loop_.slots.size() - 1);
}

uint32_t LoopBuilder::block_register(Lanes lanes) {
  std::vector<uint32_t>& free = free_[static_cast<size_t>(lanes)];
  if (free.empty()) return own_register(lanes);
  const uint32_t slot = free.back();
  free.pop_back();
  return slot;
}

// One of its own.
uint32_t LoopBuilder::own_register(Lanes lanes) {
  const size_t begin = scratch(loop_.block_rows * loop_.chunk, lanes);
  return new_slot({Slot::Kind::block, begin, loop_.chunk, 1, lanes});
}

uint32_t LoopBuilder::column_register(Lanes lanes) {
  return new_slot({Slot::Kind::column, scratch(loop_.block_rows, lanes), 1, 0, lanes});
}

// Whether its columns lie one behind the other.
bool LoopBuilder::is_unit(const Operand& operand) const {
  return !operand.is_converted &&
         (loop_.columns == 1 || (operand.columns.size() == 1 && operand.columns[0] == 1));
}

uint32_t LoopBuilder::operand_slot(size_t index) {
  const auto found = operand_slots_.find(index);
  if (found != operand_slots_.end()) return found->second;
  const Operand& operand = loop_.operands[index];
  const bool is_number = operand.columns == Extents{0} && loop_.columns != 1;
  const uint32_t slot = new_slot(
      {Slot::Kind::operand, index, operand.row, is_number ? 0 : 1, lanes_of(operand.dtype)});
  operand_slots_[index] = slot;
  return slot;
}

// A copy in a register, for one phase or, where a row is one block, for all of them.
uint32_t LoopBuilder::loaded(size_t operand, const Member& reader) {
  const bool is_column = reader.level == Level::column && !is_reduction(reader.op);
  const bool is_number = loop_.operands[operand].columns == Extents{0};
  const Level level = is_column || is_number ? Level::column : Level::full;
  const size_t phase = is_chunked() && level == Level::full ? reader.phase : 0;
  const auto key = std::tuple(operand, phase, level);
  if (const auto found = loads_.find(key); found != loads_.end()) return found->second;
  LoopStep step;
  step.kind = LoopStep::Kind::gather;
  step.inputs[0] = operand_slot(operand);
  const Lanes lanes = lanes_of(loop_.operands[operand].dtype);
  Phase& target = loop_.phases[is_chunked() && level == Level::full ? phase : reader.phase];
  if (level == Level::column) {
    step.output = column_register(lanes);
    // Columns are read from the first phase on.
    loop_.phases[0].columns.push_back(step);
  } else {
    step.output = own_register(lanes);
    target.steps.push_back(step);
  }
  return loads_[key] = step.output;
}

uint32_t LoopBuilder::input_slot(const Input& input, const Member& reader, bool& is_scalar) {
  const bool is_column = reader.level == Level::column && !is_reduction(reader.op);
  uint32_t slot = 0;
  if (!input.is_operand) {
    slot = members_[input.index].slot;
  } else {
    const Operand& operand = loop_.operands[input.index];
    const bool is_number = operand.columns == Extents{0};
    const bool lies_well = is_column ? operand.row == 0 || operand.row == 1 || loop_.block_rows == 1
                                     : is_unit(operand) || is_number;
    slot = lies_well && !operand.is_converted ? operand_slot(input.index)
                                              : loaded(input.index, reader);
  }
  const Slot& found = loop_.slots[slot];
  is_scalar = is_column ? found.row == 0 : found.column == 0;
  return slot;
}

uint32_t LoopBuilder::output_slot(Member& member, bool& scatters) {
  scatters = false;
  if (member.output) {
    const Operand& operand = loop_.operands[*member.output];
    const bool lies_well =
        member.level == Level::full ? is_unit(operand) : operand.row == 1 || loop_.block_rows == 1;
    if (lies_well && !operand.is_converted) return operand_slot(*member.output);
    scatters = true;
  }
  const Lanes lanes = lanes_of(member.dtype);
  if (member.level == Level::column) return column_register(lanes);
  if (is_chunked() && member.last_phase > member.phase) {
    return new_slot({Slot::Kind::row, scratch(loop_.columns, lanes), loop_.columns, 1, lanes});
  }
  return block_register(lanes);
}

bool LoopBuilder::is_flat(const LoopStep& step, int inputs) const {
  if (is_chunked()) return false;
  for (int i = 0; i < inputs; ++i) {
    const bool is_scalar = (step.scalars >> i & 1) != 0;
    const Slot& slot = loop_.slots[step.inputs[i]];
    if (slot.row != (is_scalar ? 0 : loop_.columns)) return false;
  }
  return loop_.slots[step.output].row == loop_.columns;
}

void LoopBuilder::emit(size_t at, size_t place) {
  Member& member = members_[at];
  if (member.op == Op::matmul) {
    member.slot = operand_slot(*member.output);
    return;
  }
  if (is_reduction(member.op) && emit_by_columns(member)) return;
  LoopStep step;
  step.op = member.op;
  for (size_t i = 0; i < member.inputs.size(); ++i) {
    bool is_scalar = false;
    step.inputs[i] = input_slot(member.inputs[i], member, is_scalar);
    if (is_scalar) step.scalars |= static_cast<uint8_t>(1u << i);
  }
  // Registers that are read for the last time may be written at once.
  for (const Input& input : member.inputs) {
    if (input.is_operand || members_[input.index].last_use != place) continue;
    const uint32_t slot = members_[input.index].slot;
    if (loop_.slots[slot].kind != Slot::Kind::block) continue;
    std::vector<uint32_t>& free = free_[static_cast<size_t>(loop_.slots[slot].lanes)];
    if (std::find(free.begin(), free.end(), slot) == free.end()) free.push_back(slot);
  }
  if (is_reduction(member.op)) return emit_reduction(member, step);
  if (member.op == Op::take_along) {
    step.kind = LoopStep::Kind::take;
    step.inputs[1] = operand_slot(member.table);
    step.axis = member.axis;
    step.extent = member.extent;
    step.stride = member.stride;
  } else if (member.op == Op::cumulative_sum) {
    step.kind = LoopStep::Kind::scan;
    step.lanes = member.computed;
    fill(member, step);
    step.partial = static_cast<uint32_t>(loop_.phases[member.phase].reductions++);
  } else {
    step.lanes = member.computed;
    step.dtype = member.dtype;
    step.run = step_for(step.op, member.computed, member.dtype, step.scalars);
  }
  write(step, member);
}

// With the member's result as output.
void LoopBuilder::write(const LoopStep& made, Member& member) {
  LoopStep step = made;
  bool scatters = false;
  step.output = member.slot = output_slot(member, scatters);
  step.is_flat = step.kind == LoopStep::Kind::elementwise &&
                 is_flat(step, static_cast<int>(member.inputs.size()));
  Phase& phase = loop_.phases[member.phase];
  std::vector<LoopStep>& list = member.level == Level::full ? phase.steps : phase.columns;
  list.push_back(step);
  if (scatters) {
    LoopStep scatter;
    scatter.kind = LoopStep::Kind::scatter;
    scatter.inputs[0] = member.slot;
    scatter.output = operand_slot(*member.output);
    list.push_back(scatter);
  }
}

// Where one number stands for all of a row, it is written out first.
void LoopBuilder::fill(const Member& member, LoopStep& step) {
  if (step.scalars == 0) return;
  LoopStep fill;
  fill.op = Op::copy;
  fill.lanes = member.computed;
  fill.dtype = member.dtype;
  fill.inputs[0] = step.inputs[0];
  fill.scalars = step.scalars;
  fill.run = step_for(Op::copy, member.computed, member.dtype, fill.scalars);
  fill.output = own_register(member.computed);
  loop_.phases[member.phase].steps.push_back(fill);
  step.inputs[0] = fill.output;
  step.scalars = 0;
}

bool LoopBuilder::is_by_columns(const Member& reduction) const {
  const Input& input = reduction.inputs[0];
  if (!input.is_operand || loop_.rows == 1 || loop_.columns == 1) return false;
  if (reduction.op == Op::product || is_place(reduction.op)) return false;
  const Operand& operand = loop_.operands[input.index];
  return is_lane_type(operand.dtype) && operand.row == 1 && operand.columns.size() == 1 &&
         operand.columns[0] != 0;
}

// Straight from memory, where no step lies between: without a copy that lies by rows.
bool LoopBuilder::emit_by_columns(Member& member) {
  if (!is_by_columns(member)) return false;
  const Input& input = member.inputs[0];
  LoopStep step;
  step.kind = LoopStep::Kind::by_columns;
  const auto reduction_of = [&](const auto& table) {
    return member.op == Op::sum              ? table.column_sums
           : member.op == Op::reduce_minimum ? table.column_minima
                                             : table.column_maxima;
  };
  if (member.computed == Lanes::f32) {
    step.reduce = reduction_of(steps());
  } else {
    step.reduce_typed = reduction_of(typed_steps())[static_cast<size_t>(member.computed)];
  }
  step.inputs[0] = operand_slot(input.index);
  bool scatters = false;
  step.output = member.slot = output_slot(member, scatters);
  if (loop_.phases.size() <= member.ready) loop_.phases.resize(member.ready + 1);
  std::vector<LoopStep>& list = loop_.phases[member.ready].columns;
  list.push_back(step);
  if (scatters) {
    LoopStep scatter;
    scatter.kind = LoopStep::Kind::scatter;
    scatter.inputs[0] = member.slot;
    scatter.output = operand_slot(*member.output);
    list.push_back(scatter);
  }
  return true;
}

void LoopBuilder::emit_reduction(Member& member, LoopStep step) {
  step.kind = member.op == Op::sum              ? LoopStep::Kind::sum
              : member.op == Op::product        ? LoopStep::Kind::product
              : member.op == Op::reduce_minimum ? LoopStep::Kind::minimum
              : member.op == Op::argmin         ? LoopStep::Kind::argmin
              : member.op == Op::argmax         ? LoopStep::Kind::argmax
                                                : LoopStep::Kind::maximum;
  step.lanes = member.computed;
  fill(member, step);
  bool scatters = false;
  Phase& phase = loop_.phases[member.phase];
  step.output = member.slot = output_slot(member, scatters);
  step.partial = static_cast<uint32_t>(phase.reductions++);
  phase.steps.push_back(step);
  if (!scatters) return;
  LoopStep scatter;
  scatter.kind = LoopStep::Kind::scatter;
  scatter.inputs[0] = member.slot;
  scatter.output = operand_slot(*member.output);
  if (loop_.phases.size() <= member.ready) loop_.phases.resize(member.ready + 1);
  loop_.phases[member.ready].columns.push_back(scatter);
}

}  // namespace hoist::graph::program
