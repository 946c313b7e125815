// The values of a group's members at places of its domain, as expressions of a kernel: each is
// computed once at a place, when it is first asked for.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "graph/kernels/group_plan.h"
#include "graph/kernels/writer.h"

namespace hoist::graph::kernels {

// Some neighbouring columns of a row.
struct Place {
  Value column;  // the first one, in units of `lanes`
  int lanes = 1;
  Value is_valid = nullptr;                     // else it is beyond the row's end
  std::vector<Value> coordinates;               // of it, when they are needed
  std::map<size_t, std::vector<Value>> loaded;  // operands
  std::map<size_t, std::vector<Value>> made;    // members

  explicit Place(Value at, int count = 1) : column(at), lanes(count) {}
};

class Evaluation {
 public:
  Evaluation(KernelWriter& writer, const Graph& graph, const GroupPlan& plan,
             const Memories& memories)
      : writer_(writer), graph_(graph), plan_(plan), memories_(memories) {}

  // As many lanes as `most` or fewer, of which rows are made up: 1, 2, 4 or 8.
  static int lanes_of(const GroupPlan& plan, const Memories& memories, int64_t columns);

  // The arrays of all operands: those that are written once, too.
  void declare_arrays();

  // Elements of a product are from now on made by `parts` threads beside each other, of which this
  // one is number `part`: all of them must come to each element together.
  void split_products(Value part, int64_t parts) {
    part_ = part;
    parts_ = parts;
  }

  // Loads what the second matrix has for the place's element, if that is little: nothing in the
  // kernel writes it.
  void prefetch_product(Place& place);

  // What follows is about this row.
  void begin_row(Value row);
  // The value of a reduction, from here to the next row.
  void know(size_t member, Value value) { of_row_[member] = {value}; }

  // Computes what members at columns need of the row, outside of their loop.
  void prepare(size_t member);
  // Before each walk through the row's columns, in their order: by one thread, or by a warp whose
  // lanes, of which this one is number `lane`, come to neighbouring places together. `before`: what
  // running sums of a part of the row go on from.
  void begin_scans(Value lane, const std::map<size_t, Value>& before = {});
  // What a reduction adds up.
  std::vector<Value> reduced_at(Place& place, size_t member);
  // A member that is one value for each row.
  Value of_row(size_t member);
  const std::vector<Value>& at(Place& place, size_t member);
  void store_row(size_t member);
  void store_at(Place& place, size_t member);

 private:
  // An input of a member, where it has a value for each column.
  std::vector<Value> input_at(Place& place, const Input& input);
  void prepare_bases(size_t operand);
  Value operand_of_row(size_t operand);
  Value factor(size_t operand, Value first, int64_t step);
  Value first_factor(Place& place, size_t operand, int64_t step);
  std::vector<Value> product_at(Place& place, ir::Scalar type);
  Value computed(const Member& member, const std::vector<Value>& inputs);
  std::vector<Value> sums_at(Place& place, size_t member);
  Value before_lane(Value mine, Value sum);
  std::vector<Value> places_at(Place& place, const Member& member);
  std::vector<Value> taken_at(Place& place, const Member& member);
  // `index` of the member's table, whose element 0 for it is `first`.
  Value taken(const Member& member, Value index, Value first);
  Value base_of(size_t operand, int lanes);
  Value index_at(Place& place, size_t operand, int lanes);
  Value coordinates_index(Value linear, const Extents& extents, const Extents& strides,
                          std::vector<Value>& coordinates);
  std::vector<Value> load_at(Place& place, size_t operand);
  Value loaded(const ir::Array* array, size_t operand, Value index);
  Value as_stored(Value value) const;
  bool is_aligned(size_t operand, int lanes) const;
  const ir::Array* array_of(size_t operand);

  KernelWriter& writer_;
  const Graph& graph_;
  const GroupPlan& plan_;
  const Memories& memories_;
  Value part_ = nullptr;
  int64_t parts_ = 1;
  std::vector<Value> prefetched_;  // of the second matrix
  Value row_ = nullptr;
  std::vector<Value> row_coordinates_;
  std::set<size_t> prepared_;
  std::map<size_t, Value> of_row_;  // members
  std::map<size_t, Value> operands_of_row_;
  std::map<size_t, Value> scans_;  // variables, of members
  Value scan_lane_ = nullptr;
  std::map<std::pair<size_t, int>, Value> bases_;
};

}  // namespace hoist::graph::kernels
