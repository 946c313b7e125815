// Nodes that go along one axis.
#include <algorithm>

#include "graph/program/graph.h"
#include "graph/program/shapes.h"

namespace hoist::graph::program {
namespace {

Error wrong(std::string message) { return fail(ErrorCode::invalid_argument, std::move(message)); }

}  // namespace

// Over no axes: in row-major order.
Result<Id> Graph::place_of_all(Op op, Id input, const Extents& axes, bool keeps_axes) {
  if (!axes.empty()) {
    return wrong(std::string(properties(op).name) + " over " + std::to_string(axes.size()) +
                 " axes: give one, or none for all elements");
  }
  const size_t rank = nodes_[input].shape.size();
  const Result<Id> flat = reshape(input, {nodes_[input].elements()});
  if (!flat) return flat;
  const Result<Id> place = reduce(op, *flat, {0}, false);
  return place && keeps_axes ? reshape(*place, Extents(rank, 1)) : place;
}

Result<Id> Graph::cumulative_sum(Id input, int64_t axis) {
  const DType dtype = nodes_[input].dtype;
  const Result<int64_t> found = axis_of("cumulative_sum", axis, nodes_[input].shape.size());
  if (!found) return found.error();
  if (!takes(Op::cumulative_sum, dtype)) {
    return wrong("cumulative_sum of booleans: cast them with astype()");
  }
  const DType wide = computed_in(Op::cumulative_sum, dtype);
  const Id from = cast(input, wide).value();
  const Id sums = intern({Op::cumulative_sum, wide, nodes_[from].shape, {from}, {*found}, nullptr});
  return is_float(dtype) ? cast(sums, dtype) : Result<Id>(sums);
}

Result<Id> Graph::take_along(Id input, Id indices, int64_t axis) {
  const Node from = nodes_[input];
  const Extents places = nodes_[indices].shape;
  if (!is_integer(nodes_[indices].dtype)) {
    return wrong("take_along_axis by " +
                 std::string(array::properties(nodes_[indices].dtype).framework) +
                 ": give integers as indices");
  }
  const Result<int64_t> found = axis_of("take_along_axis", axis, from.shape.size());
  if (!found) return found.error();
  if (places.size() != from.shape.size()) {
    return wrong("take_along_axis of " + text_of(from.shape) + " by indices of " + text_of(places) +
                 ": both need as many axes");
  }
  if (nodes_[indices].dtype == DType::u64) {  // what i64 has not lies outside of any axis
    const Id most = integer(INT64_MAX, DType::u64);
    const Node& given = nodes_[indices];
    const bool is_bounded =
        given.op == Op::minimum && std::count(given.inputs.begin(), given.inputs.end(), most) > 0;
    if (!is_bounded) indices = add_node(Op::minimum, {indices, most}).value();
  }
  const auto at = static_cast<size_t>(*found);
  Extents others = from.shape;
  others[at] = 1;
  Extents other_places = places;
  other_places[at] = 1;
  Result<Extents> shape = broadcast_shape("take_along_axis", others, other_places);
  if (!shape) return shape.error();
  (*shape)[at] = places[at];
  const DType dtype = from.dtype;
  // Checks the number of elements.
  if (const Result<Id> checked = Graph().input(dtype, *shape); !checked) return checked.error();
  return intern({Op::take_along, dtype, *std::move(shape), {input, indices}, {*found}, nullptr});
}

}  // namespace hoist::graph::program
