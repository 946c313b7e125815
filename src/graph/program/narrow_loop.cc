#include "graph/program/narrow_loop.h"

#include <algorithm>
#include <map>

#include "graph/program/domain.h"
#include "graph/program/narrow_steps.h"

namespace hoist::graph::program {
namespace {

constexpr int64_t kBlockBytes = 8192;  // of the widest elements

// What an array, or a result, is: elements of that type, or numbers whose low bits these are.
struct Elements {
  DType dtype = DType::boolean;
  bool is_exact = true;
};

// What the operation makes of elements of one type. Nothing where low bits are not enough.
std::optional<Elements> result_of(const Node& node, DType dtype, bool are_exact) {
  const bool is_logic = dtype == DType::boolean;
  switch (node.op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::negate:
      return Elements{dtype, false};
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
      return Elements{dtype, are_exact};
    case Op::bitwise_invert:
      return Elements{dtype, is_logic || (are_exact && !is_unsigned(dtype))};
    case Op::absolute:
    case Op::left_shift:
    case Op::floor_divide:
      return are_exact ? std::optional(Elements{dtype, false}) : std::nullopt;
    case Op::minimum:
    case Op::maximum:
    case Op::remainder:
    case Op::right_shift:
    case Op::where:
      return are_exact ? std::optional(Elements{dtype, true}) : std::nullopt;
    case Op::cast:
    case Op::to_bool:
      return are_exact || node.dtype == dtype ? std::optional(Elements{node.dtype, true})
                                              : std::nullopt;
    default:
      return are_exact && is_comparison(node.op) ? std::optional(Elements{DType::boolean, true})
                                                 : std::nullopt;
  }
}

class NarrowLoop {
 public:
  NarrowLoop(const Graph& graph, const Fused& fused, const Group& group,
             const std::vector<bool>& is_written)
      : graph_(graph), fused_(fused), group_(group), is_written_(is_written) {}

  std::optional<Loop> run() {
    if (group_.product ||
        std::find(group_.reduced.begin(), group_.reduced.end(), true) != group_.reduced.end()) {
      return {};
    }
    for (const Id id : group_.members) {
      if (!add(id)) return {};
    }
    if (!is_worth_it_) return {};
    set_domain(group_, std::move(raw_), loop_);
    const auto lies_well = [&](const Operand& operand) {
      return loop_.columns == 1 || operand.columns == Extents{0} || operand.columns == Extents{1};
    };
    if (!std::all_of(loop_.operands.begin(), loop_.operands.end(), lies_well)) return {};
    set_blocks();
    find_casts();
    for (size_t i = 0; i < members_.size(); ++i) {
      if (!emit(i)) return {};
    }
    return std::move(loop_);
  }

 private:
  struct Input {
    bool is_operand = false;  // else a member
    size_t index = 0;
  };
  struct Member {
    Op op = Op::copy;
    DType step = DType::boolean;  // of its inputs; of `where` its choices
    Elements result;
    std::vector<Input> inputs;
    std::optional<size_t> output;  // operand
    size_t readers = 0;
    size_t last_reader = 0;
    std::optional<size_t> cast;  // its only reader, which changes no bit
    uint32_t slot = 0;
  };

  bool add(Id id) {
    const Node& node = graph_[id];
    if (!is_elementwise(node.op) || level_of(group_, node.shape) != Level::full) return false;
    Member member;
    member.op = node.op;
    bool are_exact = true;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto found = input(node.inputs[i], node.shape);
      if (!found) return false;
      const Elements elements =
          found->is_operand ? Elements{types_[found->index], true} : members_[found->index].result;
      are_exact &= elements.is_exact;
      const bool is_condition = node.op == Op::where && i == 0;
      if (is_condition && elements.dtype != DType::boolean) return false;
      const bool is_first = i == (node.op == Op::where ? 1 : 0);
      if (is_first) member.step = elements.dtype;
      if (!is_condition && elements.dtype != member.step) return false;
      member.inputs.push_back(*found);
    }
    const auto result = result_of(node, member.step, are_exact);
    if (!result) return false;
    member.result = *result;
    if (step_of(member, 0) == nullptr) return false;
    is_worth_it_ |= !is_lane_type(member.step) || !is_lane_type(result->dtype);
    if (is_written_[id]) {
      if (!result->is_exact || result->dtype != node.dtype) return false;
      member.output = operand(id, {0, dense_strides(node.shape)}, node.shape);
      if (!member.output) return false;
    }
    for (const Input& from : member.inputs) {
      if (from.is_operand) continue;
      ++members_[from.index].readers;
      members_[from.index].last_reader = members_.size();
    }
    member_of_[id] = members_.size();
    members_.push_back(std::move(member));
    return true;
  }

  static bool is_cast(const Member& member) {
    return member.op == Op::cast || member.op == Op::to_bool;
  }

  static Step step_of(const Member& member, unsigned scalars) {
    return is_cast(member) ? narrow_cast(member.step, member.result.dtype, scalars)
                           : narrow_step(member.op, member.step, scalars);
  }

  std::optional<Input> input(Id id, const Extents& shape) {
    const Origin& origin = fused_.origins[id];
    if (const auto found = member_of_.find(origin.root); found != member_of_.end()) {
      return Input{false, found->second};
    }
    const auto made =
        operand(origin.root, broadcast_access(shape, graph_[id].shape, origin.access), shape);
    return made ? std::optional(Input{true, *made}) : std::nullopt;
  }

  // Constants lie as lanes, whose first bytes are the elements'; booleans between kernels do, too.
  std::optional<size_t> operand(Id root, const Access& access, const Extents& shape) {
    const Node& node = graph_[root];
    Operand made;
    made.place = place_of(graph_, root);
    if (made.place == Place::constant && !node.is_number() && !is_lane_type(node.dtype)) return {};
    const bool is_lane = made.place == Place::constant || made.place == Place::arena;
    if (node.dtype == DType::boolean && is_lane) return {};
    made.node = root;
    made.dtype = node.dtype;
    made.item = static_cast<uint8_t>(bytes_of(node.dtype));
    made.offset = access.offset;
    Extents strides = domain_strides(group_, Level::full, shape, access);
    for (size_t i = 0; i < raw_.size(); ++i) {
      const Operand& known = raw_[i].operand;
      if (known.node == root && known.offset == made.offset && raw_[i].strides == strides) return i;
    }
    raw_.push_back({std::move(made), std::move(strides)});
    types_.push_back(node.dtype);
    return raw_.size() - 1;
  }

  void set_blocks() {
    size_t widest = 1;
    for (const DType dtype : types_) widest = std::max(widest, bytes_of(dtype));
    for (const Member& one : members_) widest = std::max(widest, bytes_of(one.result.dtype));
    const int64_t most = kBlockBytes / static_cast<int64_t>(widest);
    const int64_t columns = std::max<int64_t>(loop_.columns, 1);
    loop_.chunk = std::min(columns, most);
    const int64_t rows = columns > most ? 1 : std::max<int64_t>(1, most / columns);
    loop_.block_rows = std::min(rows, std::max<int64_t>(loop_.rows, 1));
    loop_.phases.resize(1);
  }

  // What is only cast is computed where the cast's result lies.
  void find_casts() {
    for (size_t i = 0; i < members_.size(); ++i) {
      const Member& cast = members_[i];
      const bool is_free = is_cast(cast) && cast.step == cast.result.dtype;
      if (!is_free || cast.inputs[0].is_operand) continue;
      Member& from = members_[cast.inputs[0].index];
      if (from.readers == 1 && !from.output) from.cast = i;
    }
  }

  bool emit(size_t at) {
    Member& member = members_[at];
    const Input& first = member.inputs[0];
    if (!first.is_operand && members_[first.index].cast == at) {
      member.slot = members_[first.index].slot;
      return true;
    }
    LoopStep step;
    step.op = member.op;
    for (size_t i = 0; i < member.inputs.size(); ++i) {
      const Input& from = member.inputs[i];
      step.inputs[i] = from.is_operand ? operand_slot(from.index) : members_[from.index].slot;
      if (loop_.slots[step.inputs[i]].column == 0) step.scalars |= static_cast<uint8_t>(1u << i);
    }
    step.run = step_of(member, step.scalars);
    if (step.run == nullptr) return false;
    step.kind = LoopStep::Kind::narrow;
    size_t last = at;
    while (members_[last].cast) last = *members_[last].cast;
    const std::optional<size_t> output = members_[last].output;
    step.output = member.slot = output ? operand_slot(*output) : new_register(member.result.dtype);
    step.is_flat = is_flat(step, member.inputs.size());
    loop_.phases[0].steps.push_back(step);
    for (const Input& from : member.inputs) free_after(from, at);
    return true;
  }

  uint32_t new_slot(Slot slot, size_t item) {
    slot.row_bytes = slot.row * static_cast<int64_t>(item);
    slot.column_bytes = slot.column * static_cast<int64_t>(item);
    loop_.slots.push_back(slot);
    return static_cast<uint32_t>(loop_.slots.size() - 1);
  }

  uint32_t operand_slot(size_t index) {
    if (const auto found = operand_slots_.find(index); found != operand_slots_.end()) {
      return found->second;
    }
    const Operand& operand = loop_.operands[index];
    const bool is_number = operand.columns == Extents{0} && loop_.columns != 1;
    const Slot slot{Slot::Kind::operand, index, operand.row, is_number ? 0 : 1};
    return operand_slots_[index] = new_slot(slot, operand.item);
  }

  // All are as large as those of the widest elements, so that any may take a place that is free.
  uint32_t new_register(DType dtype) {
    size_t begin = loop_.scratch;
    if (free_.empty()) {
      loop_.scratch += kBlockBytes;
    } else {
      begin = free_.back();
      free_.pop_back();
    }
    return new_slot({Slot::Kind::block, begin, loop_.chunk, 1}, bytes_of(dtype));
  }

  void free_after(const Input& input, size_t reader) {
    if (input.is_operand) return;
    const Member& from = members_[input.index];
    const Slot& slot = loop_.slots[from.slot];
    if (from.last_reader != reader || slot.kind != Slot::Kind::block) return;
    if (std::find(free_.begin(), free_.end(), slot.index) == free_.end()) {
      free_.push_back(slot.index);
    }
  }

  bool is_flat(const LoopStep& step, size_t inputs) const {
    bool is_flat = loop_.chunk >= loop_.columns && loop_.slots[step.output].row == loop_.columns;
    for (size_t i = 0; i < inputs; ++i) {
      const bool is_scalar = (step.scalars >> i & 1) != 0;
      is_flat &= loop_.slots[step.inputs[i]].row == (is_scalar ? 0 : loop_.columns);
    }
    return is_flat;
  }

  const Graph& graph_;
  const Fused& fused_;
  const Group& group_;
  const std::vector<bool>& is_written_;
  std::vector<RawOperand> raw_;
  std::vector<DType> types_;  // of operands
  std::vector<Member> members_;
  std::map<Id, size_t> member_of_;
  bool is_worth_it_ = false;
  Loop loop_;
  std::map<size_t, uint32_t> operand_slots_;
  std::vector<size_t> free_;  // registers: where they begin
};

}  // namespace

std::optional<Loop> narrow_loop(const Graph& graph, const Fused& fused, const Group& group,
                                const std::vector<bool>& is_written) {
  return NarrowLoop(graph, fused, group, is_written).run();
}

}  // namespace hoist::graph::program
