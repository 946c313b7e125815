// Makes a loop of a group's nodes.
//
//   LoopBuilder builder(graph, fused, group);
//   for (const Id member : group.members) builder.add(member, is_written);
//   Loop loop = builder.finish();
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "graph/program/domain.h"
#include "graph/program/fuse.h"
#include "graph/program/loop.h"

namespace hoist::graph::program {

class LoopBuilder {
 public:
  LoopBuilder(const Graph& graph, const Fused& fused, const Group& group)
      : graph_(graph), fused_(fused), group_(group) {}

  // A member of the group, after its inputs.
  void add(Id member, bool is_written);
  // Instead: copies an array into a part of what `to_node` is.
  void copy(Id from, Id to_node, const Extents& shape, const Access& to);
  Loop finish();

 private:
  // What a member, or the copy, reads: an operand or the result of another member.
  struct Input {
    bool is_operand = false;
    size_t index = 0;
  };
  struct Member {
    Op op = Op::copy;
    DType dtype = DType::f32;     // of its result
    Lanes computed = Lanes::f32;  // what its step takes
    Level level = Level::full;
    std::vector<Input> inputs;
    std::optional<size_t> output;  // operand
    size_t phase = 0;              // in which it is computed
    size_t ready = 0;              // from which on it can be used
    size_t last_use = 0;           // place in the order of the steps
    size_t last_phase = 0;
    uint32_t slot = 0;
    // The operand that a take reads, and how its axis lies there.
    size_t table = 0;
    int64_t axis = 0;
    int64_t extent = 0;
    int64_t stride = 0;
  };

  size_t operand(Operand operand, Extents strides);
  size_t new_operand(Operand operand, Extents strides);
  Operand memory_of(Id root, int64_t offset) const;
  Input input(Id id, Level level, const Extents& shape);
  void add_product(Id id, bool is_written);
  void set_table(const Node& node, Member& member);
  size_t output_operand(Id id, Level level);

  void set_blocks();
  std::vector<size_t> order_members();
  void emit(size_t at, size_t place);
  void emit_reduction(Member& member, LoopStep step);
  bool emit_by_columns(Member& member);
  void fill(const Member& member, LoopStep& step);
  void write(const LoopStep& step, Member& member);
  uint32_t output_slot(Member& member, bool& scatters);
  uint32_t input_slot(const Input& input, const Member& reader, bool& is_scalar);
  uint32_t loaded(size_t operand, const Member& reader);
  uint32_t operand_slot(size_t operand);
  uint32_t new_slot(Slot slot);
  uint32_t block_register(Lanes lanes);
  uint32_t column_register(Lanes lanes);
  uint32_t own_register(Lanes lanes);
  size_t scratch(int64_t elements, Lanes lanes);
  bool is_unit(const Operand& operand) const;
  bool is_chunked() const { return loop_.chunk < loop_.columns; }
  bool is_flat(const LoopStep& step, int inputs) const;
  // Whether a reduction reads memory where the elements of many rows lie beside each other.
  bool is_by_columns(const Member& reduction) const;

  const Graph& graph_;
  const Fused& fused_;
  const Group& group_;
  std::vector<RawOperand> raw_;
  std::unordered_map<Id, std::vector<size_t>> operands_of_;  // of each node's memory
  std::vector<Member> members_;
  std::map<Id, size_t> member_of_;
  Loop loop_;
  std::map<size_t, uint32_t> operand_slots_;
  std::map<std::tuple<size_t, size_t, Level>, uint32_t> loads_;  // by operand and phase
  std::vector<uint32_t> free_[kLaneKinds];                       // block registers
};

}  // namespace hoist::graph::program
