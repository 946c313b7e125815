// The code of one group in a kernel: its loop over elements, or over rows.
#pragma once

#include "graph/kernels/emit.h"
#include "graph/kernels/evaluation.h"

namespace hoist::graph::kernels {

// Without reductions: threads `first`, first + count, … each take some elements.
void emit_elements(KernelWriter& writer, Evaluation& evaluation, const GroupPlan& plan,
                   const Memories& memories, Value first, int64_t count, bool uses_vectors);
// As many groups of neighbouring elements.
int64_t element_groups(const GroupPlan& plan, const Memories& memories, bool uses_vectors);

// With reductions: whole rows by teams of a block, which takes rows of numbers block_row times its
// teams, and those behind, then those of block_row + step, …
void emit_rows(KernelWriter& writer, Evaluation& evaluation, const GroupPlan& plan,
               const Memories& memories, RowTeam team, Value block_row, int64_t step,
               bool uses_vectors);
int64_t rows_of_block(RowTeam team);

// Members that are reduced, and those that are written for each column, in a phase.
std::vector<size_t> reductions_of(const GroupPlan& plan, size_t phase);
std::vector<size_t> stores_of(const GroupPlan& plan, size_t phase);
// Members that are written for each row.
std::vector<size_t> row_stores(const GroupPlan& plan);

// Reductions of one phase under way.
class Sums {
 public:
  Sums(KernelWriter& writer, const GroupPlan& plan, std::vector<size_t> members, int lanes);
  // All values of a place; where `is_valid` is not, they count for nothing.
  void add(Evaluation& evaluation, Place& place, Value is_valid = nullptr);
  // What the thread's values, and then all threads of the team, make together.
  Value total(size_t i, RowTeam team);
  const std::vector<size_t>& members() const { return members_; }
  // As totals are kept in memory.
  static Value reduced(KernelWriter& writer, const Accumulation& accumulation, Value value,
                       RowTeam team);

 private:
  KernelWriter& writer_;
  const GroupPlan& plan_;
  std::vector<size_t> members_;
  std::vector<std::vector<Value>> sums_;  // of each member and lane: variables
};

}  // namespace hoist::graph::kernels
