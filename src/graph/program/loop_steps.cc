// The second half of a loop's making: the steps, and the registers that they work on.
#include <algorithm>

#include "graph/program/loop_builder.h"

namespace hoist::graph::program {

size_t LoopBuilder::scratch(size_t floats) {
  const size_t begin = loop_.scratch;
  loop_.scratch += (floats + 15) / 16 * 16;
  return begin;
}

uint32_t LoopBuilder::new_slot(Slot slot) {
  loop_.slots.push_back(slot);
  return static_cast<uint32_t>(loop_.slots.size() - 1);
}

uint32_t LoopBuilder::block_register() {
  if (!free_.empty()) {
    const uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  const auto floats = static_cast<size_t>(loop_.block_rows * loop_.chunk);
  return new_slot({Slot::Kind::block, scratch(floats), loop_.chunk, 1});
}

uint32_t LoopBuilder::column_register() {
  const auto floats = static_cast<size_t>(loop_.block_rows);
  return new_slot({Slot::Kind::column, scratch(floats), 1, 0});
}

// Whether its columns lie one behind the other.
bool LoopBuilder::is_unit(const Operand& operand) const {
  return !operand.is_bytes &&
         (loop_.columns == 1 || (operand.columns.size() == 1 && operand.columns[0] == 1));
}

uint32_t LoopBuilder::operand_slot(size_t index) {
  const auto found = operand_slots_.find(index);
  if (found != operand_slots_.end()) return found->second;
  const Operand& operand = loop_.operands[index];
  const bool is_number = operand.columns == Extents{0} && loop_.columns != 1;
  const uint32_t slot = new_slot({Slot::Kind::operand, index, operand.row, is_number ? 0 : 1});
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
  Phase& target = loop_.phases[is_chunked() && level == Level::full ? phase : reader.phase];
  if (level == Level::column) {
    step.output = column_register();
    // Columns are read from the first phase on.
    loop_.phases[0].columns.push_back(step);
  } else {
    const auto floats = static_cast<size_t>(loop_.block_rows * loop_.chunk);
    step.output = new_slot({Slot::Kind::block, scratch(floats), loop_.chunk, 1});
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
    slot = lies_well && !operand.is_bytes ? operand_slot(input.index) : loaded(input.index, reader);
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
    if (lies_well && !operand.is_bytes) return operand_slot(*member.output);
    scatters = true;
  }
  if (member.level == Level::column) return column_register();
  if (is_chunked() && member.last_phase > member.phase) {
    return new_slot(
        {Slot::Kind::row, scratch(static_cast<size_t>(loop_.columns)), loop_.columns, 1});
  }
  return block_register();
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
    if (std::find(free_.begin(), free_.end(), slot) == free_.end()) free_.push_back(slot);
  }
  if (is_reduction(member.op)) return emit_reduction(member, step);
  bool scatters = false;
  step.output = member.slot = output_slot(member, scatters);
  step.run = steps().step(step.op, step.scalars);
  step.is_flat = is_flat(step, static_cast<int>(member.inputs.size()));
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

bool LoopBuilder::is_by_columns(const Member& reduction) const {
  const Input& input = reduction.inputs[0];
  if (!input.is_operand || loop_.rows == 1 || loop_.columns == 1) return false;
  const Operand& operand = loop_.operands[input.index];
  return !operand.is_bytes && operand.row == 1 && operand.columns.size() == 1 &&
         operand.columns[0] != 0;
}

// Straight from memory, where no step lies between: without a copy that lies by rows.
bool LoopBuilder::emit_by_columns(Member& member) {
  if (!is_by_columns(member)) return false;
  const Input& input = member.inputs[0];
  LoopStep step;
  step.kind = LoopStep::Kind::by_columns;
  step.reduce = member.op == Op::sum              ? steps().column_sums
                : member.op == Op::reduce_minimum ? steps().column_minima
                                                  : steps().column_maxima;
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
              : member.op == Op::reduce_minimum ? LoopStep::Kind::minimum
                                                : LoopStep::Kind::maximum;
  bool scatters = false;
  Phase& phase = loop_.phases[member.phase];
  if (step.scalars != 0) {  // one number stands for all of a row: it is written out first
    LoopStep fill;
    fill.inputs[0] = step.inputs[0];
    fill.scalars = step.scalars;
    fill.run = steps().step(Op::copy, fill.scalars);
    const auto floats = static_cast<size_t>(loop_.block_rows * loop_.chunk);
    fill.output = new_slot({Slot::Kind::block, scratch(floats), loop_.chunk, 1});
    phase.steps.push_back(fill);
    step.inputs[0] = fill.output;
  }
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
