// What a fused group computes, and where what it reads and writes lies: a domain of rows (axes that
// are kept) and columns (axes that are reduced; without reductions all axes), neighbouring axes
// merged where every operand walks through both in one go.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "graph/kernels/lowered.h"
#include "graph/kernels/operations.h"

namespace hoist::graph::kernels {

struct Operand {
  Storage storage = 0;
  const Node* constant = nullptr;  // a number, which lies nowhere
  int64_t offset = 0;
  Extents rows;  // strides
  Extents columns;
  bool is_table = false;  // read at other places, too

  // One element for all columns.
  bool is_of_row() const;
};

struct Input {
  std::optional<size_t> operand;  // else
  size_t member = 0;
};

// What a member takes elements of.
struct Table {
  size_t operand = 0;  // at the member's place, index 0
  int64_t extent = 0;
  int64_t step = 0;  // from an index to the next
};

struct Member {
  Id id = 0;
  program::Op op = program::Op::copy;
  ir::Scalar type = ir::Scalar::f32;
  bool is_full = true;         // else one value for each row
  bool is_conversion = false;  // of an array, which is no node
  std::optional<Accumulation> accumulation;
  // The first column that has the extreme: inputs are values, and the row's extreme among them.
  bool is_place = false;
  bool is_scan = false;        // sums of a row's columns up to each
  std::optional<Table> table;  // the input is an index
  std::vector<Input> inputs;
  std::optional<size_t> output;  // operand
  size_t phase = 0;              // so many reductions, one after another, come before it
  size_t ready = 0;              // and before who uses it
};

// A matrix product among the members: of rows of `a` and columns of `b`.
struct PlannedProduct {
  size_t a = 0;  // operands at the place of an element, depth 0
  size_t b = 0;
  int64_t depth = 0;
  int64_t a_step = 0;
  int64_t b_step = 0;
};

struct GroupPlan {
  Extents row_axes;
  Extents column_axes;
  int64_t rows = 1;
  int64_t columns = 1;
  std::vector<Member> members;
  std::vector<Operand> operands;
  std::optional<PlannedProduct> product;
  size_t last_phase = 0;
  bool is_wide = false;  // an index needs 64 bits
};

// Memories that are asked for are added to.
class Memories {
 public:
  Memories(const Graph& graph, std::vector<Memory>& all) : graph_(graph), all_(all) {}
  Storage of(Id node);
  Storage scratch(ir::Scalar element, uint64_t count);
  const Memory& operator[](Storage storage) const { return all_[storage]; }

 private:
  const Graph& graph_;
  std::vector<Memory>& all_;
  std::map<Id, Storage> known_;
};

// The group's members, which `is_written` says are written to memory. A member that is the product
// of the group is computed in place.
Result<GroupPlan> plan_group(const Graph& graph, const Fused& fused, const program::Group& group,
                             const std::vector<bool>& is_written, Memories& memories);

// A copy of an array as elements of `type`, broadcast to `shape`, to where `access` says.
Result<GroupPlan> plan_copy(const Graph& graph, const Fused& fused, Id from, const Extents& shape,
                            ir::Scalar type, Storage to, const program::Access& access,
                            Memories& memories);

}  // namespace hoist::graph::kernels
