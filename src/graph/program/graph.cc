#include "graph/program/graph.h"

#include <algorithm>

#include "array/view.h"
#include "graph/program/shapes.h"
#include "graph/program/steps.h"

namespace hoist::graph::program {
namespace {

Error wrong(std::string message) { return fail(ErrorCode::invalid_argument, std::move(message)); }

// What a program plans, sums of bytes of all its arrays, then fits 64 bits.
constexpr int64_t kMostElements = int64_t{1} << 40;

Status check_array(DType dtype, const Extents& shape) {
  if (!is_program_type(dtype)) {
    return fail(
        ErrorCode::unsupported,
        "an array of " + std::string(array::properties(dtype).framework) +
            ": programs take bool, integers and real floats of 16 bits or more; cast it first");
  }
  if (shape.size() > array::View::kMostDimensions) {
    return fail(ErrorCode::unsupported, "an array with " + std::to_string(shape.size()) +
                                            " axes: programs take " +
                                            std::to_string(array::View::kMostDimensions));
  }
  for (const int64_t extent : shape) {
    if (extent < 0) return wrong("an array of shape " + text_of(shape) + ": no negative extents");
  }
  // An extent of 0 counts as 1: strides are computed for the others, too.
  int64_t count = 1;
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(count, std::max<int64_t>(extent, 1), &count) ||
        count >= kMostElements) {
      return wrong("an array of shape " + text_of(shape) +
                   ": programs take less than 2^40 elements");
    }
  }
  return {};
}

// A number of `from` as one of `to`.
Id number_of(Graph& graph, Values value, DType from, DType to) {
  Values result(lanes_of(to), 1);
  step_for(Op::cast, lanes_of(from), to, 0)(value.bytes(), nullptr, nullptr, result.bytes(), 1);
  return graph.constant(to, {}, std::make_shared<const Values>(std::move(result))).value();
}

}  // namespace

Id Graph::intern(Node node) {
  if (properties(node.op).is_commutative) std::sort(node.inputs.begin(), node.inputs.end());
  const uint64_t hash = hash_of(node);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (same(nodes_[at->second], node)) return at->second;
  }
  const Id id = static_cast<Id>(nodes_.size());
  nodes_.push_back(std::move(node));
  known_.emplace(hash, id);
  return id;
}

Result<Id> Graph::input(DType dtype, Extents shape) {
  if (Status ok = check_array(dtype, shape); !ok) return ok.error();
  const auto number = static_cast<int64_t>(inputs_.size());
  const Id id = intern({Op::input, dtype, std::move(shape), {}, {number}, nullptr});
  inputs_.push_back(id);
  return id;
}

Id Graph::number(float value) { return number(double{value}, DType::f32); }

Id Graph::number(double value, DType dtype) {
  return number_of(*this, Values(Values::F64{value}), DType::f64, dtype);
}

Id Graph::integer(int64_t value, DType dtype) {
  const DType from = dtype == DType::u64 ? dtype : DType::i64;
  return number_of(*this, Values(Values::I64{value}), from, dtype);
}

Result<Id> Graph::constant(DType dtype, Extents shape, std::shared_ptr<const Values> values) {
  if (Status ok = check_array(dtype, shape); !ok) return ok.error();
  if (values->size() != static_cast<size_t>(element_count(shape)) ||
      !values->has(lanes_of(dtype))) {
    return wrong("a constant of shape " + text_of(shape) + " has " +
                 std::to_string(values->size()) + " values, or those of another type");
  }
  return intern({Op::constant, dtype, std::move(shape), {}, {}, std::move(values)});
}

Result<Id> Graph::add_node(Op op, std::vector<Id> inputs) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  if (Status ok = infer(*this, node); !ok) return ok.error();
  if (Status ok = check_array(node.dtype, node.shape); !ok) return ok.error();
  const DType dtype = nodes_[node.inputs.back()].dtype;
  const DType wide = computed_in(op, dtype);
  if (wide == dtype) return intern(std::move(node));
  for (Id& input : node.inputs) input = cast(input, wide).value();
  if (node.dtype != dtype) return intern(std::move(node));
  node.dtype = wide;
  return cast(intern(std::move(node)), dtype);
}

Result<Id> Graph::reduce(Op op, Id input, Extents axes, bool keeps_axes) {
  const std::string who(properties(op).name);
  const DType dtype = nodes_[input].dtype;
  if (is_place(op) && axes.size() != 1) return place_of_all(op, input, axes, keeps_axes);
  if (!takes(op, dtype)) return wrong(who + " of booleans: cast them with astype()");
  if (op == Op::mean && is_integer(dtype) && bytes_of(dtype) < 8) {
    const Result<Id> sum = reduce(Op::sum, input, std::move(axes), keeps_axes);
    if (!sum) return sum;
    const int64_t count = nodes_[input].elements() / std::max<int64_t>(nodes_[*sum].elements(), 1);
    const Id total = cast(*sum, float_for(dtype)).value();
    return add_node(Op::divide, {total, number(static_cast<double>(count), float_for(dtype))});
  }
  if (const DType wide = computed_in(op, dtype); wide != dtype) {
    const Result<Id> result = reduce(op, cast(input, wide).value(), std::move(axes), keeps_axes);
    return result && is_float(dtype) ? cast(*result, dtype) : result;
  }
  const Node& from = nodes_[input];
  if (axes.empty()) {
    for (size_t i = 0; i < from.shape.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  for (int64_t& axis : axes) {
    const Result<int64_t> found = axis_of(who, axis, from.shape.size());
    if (!found) return found.error();
    axis = *found;
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    return wrong(who + " over an axis that is given twice: give each once");
  }
  Extents kept = from.shape;
  Extents dropped;
  for (const int64_t axis : axes) {
    if (kept[static_cast<size_t>(axis)] == 0 && op != Op::sum && op != Op::mean &&
        op != Op::product) {
      return wrong(who + " over an axis of no elements (shape " + text_of(from.shape) +
                   "): give at least one");
    }
    kept[static_cast<size_t>(axis)] = 1;
  }
  for (size_t i = 0; i < from.shape.size(); ++i) {
    const bool is_reduced = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
    if (!is_reduced) dropped.push_back(from.shape[i]);
  }
  const DType given = is_place(op) ? DType::i64 : dtype;
  const Id result = intern({op, given, std::move(kept), {input}, std::move(axes), nullptr});
  return keeps_axes ? Result<Id>(result) : reshape(result, std::move(dropped));
}

Result<Id> Graph::reshape(Id input, Extents shape) {
  const Node& from = nodes_[input];
  const int64_t elements = from.elements();
  const auto refuse = [&] {
    return wrong("reshape of " + text_of(from.shape) + " to " + text_of(shape) +
                 ": both need as many elements");
  };
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) {
    *open = 1;
    const int64_t others = element_count(shape);
    if (others == 0 && elements == 0) {
      return wrong("reshape of " + text_of(from.shape) +
                   " with -1 beside 0: any length would do, give one");
    }
    if (others <= 0 || elements % others != 0) {
      *open = -1;
      return refuse();
    }
    *open = elements / others;
  }
  if (Status ok = check_array(from.dtype, shape); !ok) return ok.error();
  if (element_count(shape) != elements) return refuse();
  return intern({Op::reshape, from.dtype, std::move(shape), {input}, {}, nullptr});
}

Result<Id> Graph::permute(Id input, Extents permutation) {
  const Node& from = nodes_[input];
  Extents shape;
  std::vector<bool> seen(from.shape.size());
  for (int64_t& axis : permutation) {
    const Result<int64_t> found = axis_of("permute_dims", axis, from.shape.size());
    if (!found) return found.error();
    axis = *found;
    seen[static_cast<size_t>(axis)] = true;
    shape.push_back(from.shape[static_cast<size_t>(axis)]);
  }
  if (permutation.size() != from.shape.size() ||
      std::find(seen.begin(), seen.end(), false) != seen.end()) {
    return wrong("permute_dims of " + text_of(from.shape) + " by " + text_of(permutation) +
                 ": give each axis once");
  }
  return intern(
      {Op::permute, from.dtype, std::move(shape), {input}, std::move(permutation), nullptr});
}

Result<Id> Graph::broadcast(Id input, Extents shape) {
  const Node& from = nodes_[input];
  if (Status ok = check_array(from.dtype, shape); !ok) return ok.error();
  const Result<Extents> both = broadcast_shape("broadcast_to", from.shape, shape);
  if (!both) return both.error();
  if (*both != shape) {
    return wrong("broadcast_to of " + text_of(from.shape) + ": it does not fit " + text_of(shape));
  }
  return intern({Op::broadcast, from.dtype, std::move(shape), {input}, {}, nullptr});
}

Result<Id> Graph::slice(Id input, const Extents& begins, const Extents& lengths,
                        const Extents& steps) {
  const Node& from = nodes_[input];
  const size_t rank = from.shape.size();
  if (begins.size() != rank || lengths.size() != rank || steps.size() != rank) {
    return wrong("slice of " + text_of(from.shape) + ": give a range for each axis");
  }
  Extents numbers;
  for (size_t i = 0; i < rank; ++i) {
    int64_t last = 0;
    const bool fits = lengths[i] >= 0 && !__builtin_mul_overflow(lengths[i] - 1, steps[i], &last) &&
                      !__builtin_add_overflow(begins[i], last, &last);
    const auto is_inside = [&](int64_t at) { return at >= 0 && at < from.shape[i]; };
    if (!fits || steps[i] == 0 || (lengths[i] > 0 && !(is_inside(begins[i]) && is_inside(last)))) {
      return wrong("slice of " + text_of(from.shape) + ": " + std::to_string(lengths[i]) +
                   " elements from " + std::to_string(begins[i]) + " on, " +
                   std::to_string(steps[i]) + " apart, do not lie inside axis " +
                   std::to_string(i));
    }
    numbers.push_back(lengths[i] == 0 ? 0 : begins[i]);
    numbers.push_back(lengths[i] <= 1 ? 1 : steps[i]);
  }
  return intern({Op::slice, from.dtype, lengths, {input}, std::move(numbers), nullptr});
}

Result<Id> Graph::concatenate(std::vector<Id> inputs, int64_t axis) {
  if (inputs.empty()) return wrong("concat of nothing: give at least one array");
  const Node& first = nodes_[inputs[0]];
  const Result<int64_t> found = axis_of("concat", axis, first.shape.size());
  if (!found) return found.error();
  const auto at = static_cast<size_t>(*found);
  Extents shape = first.shape;
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Node& next = nodes_[inputs[i]];
    Extents expected = shape;
    if (next.shape.size() == shape.size()) expected[at] = next.shape[at];
    if (next.shape != expected || next.dtype != first.dtype) {
      return wrong("concat of " + text_of(first.shape) + " and " + text_of(next.shape) +
                   " along axis " + std::to_string(at) +
                   ": all other axes, and the types, must be equal");
    }
    shape[at] += next.shape[at];
    if (Status ok = check_array(first.dtype, shape); !ok) return ok.error();
  }
  if (Status ok = check_array(first.dtype, shape); !ok) return ok.error();
  const DType dtype = first.dtype;
  return intern({Op::concatenate, dtype, std::move(shape), std::move(inputs), {*found}, nullptr});
}

Result<Id> Graph::cast(Id input, DType dtype) {
  const Node& from = nodes_[input];
  if (Status ok = check_array(dtype, from.shape); !ok) return ok.error();
  if (from.dtype == dtype) return input;
  if (dtype == DType::boolean) return add_node(Op::to_bool, {input});
  return intern({Op::cast, dtype, from.shape, {input}, {}, nullptr});
}

Id Graph::take(Node node) {
  const bool is_input = node.op == Op::input;
  const Id id = intern(std::move(node));
  if (is_input) inputs_.push_back(id);
  return id;
}

std::vector<bool> Graph::live() const {
  std::vector<bool> live(nodes_.size());
  for (const Id output : outputs_) live[output] = true;
  for (size_t id = nodes_.size(); id-- > 0;) {
    if (!live[id]) continue;
    for (const Id input : nodes_[id].inputs) live[input] = true;
  }
  return live;
}

size_t Graph::primitives() const {
  const std::vector<bool> live = this->live();
  size_t count = 0;
  for (size_t id = 0; id < nodes_.size(); ++id) count += live[id] && is_primitive(nodes_[id].op);
  return count;
}

}  // namespace hoist::graph::program
