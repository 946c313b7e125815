#include "graph/program/graph.h"

#include <algorithm>
#include <bit>

#include "array/view.h"
#include "graph/program/shapes.h"

namespace hoist::graph::program {
namespace {

Error wrong(std::string message) { return fail(ErrorCode::invalid_argument, std::move(message)); }

Status check_array(DType dtype, const Extents& shape) {
  if (dtype != DType::f32 && dtype != DType::boolean) {
    return fail(ErrorCode::unsupported,
                "an array of " + std::string(array::properties(dtype).framework) +
                    ": programs take float32 and bool so far; cast it first");
  }
  if (shape.size() > array::View::kMostDimensions) {
    return fail(ErrorCode::unsupported, "an array with " + std::to_string(shape.size()) +
                                            " axes: programs take " +
                                            std::to_string(array::View::kMostDimensions));
  }
  for (const int64_t extent : shape) {
    if (extent < 0) return wrong("an array of shape " + text_of(shape) + ": no negative extents");
  }
  const std::vector<uint64_t> extents(shape.begin(), shape.end());
  if (const auto count = array::element_count(extents); !count) return count.error();
  return {};
}

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

uint64_t hash_of(const Node& node) {
  uint64_t hash = mix(static_cast<uint64_t>(node.op), static_cast<uint64_t>(node.dtype));
  for (const int64_t extent : node.shape) hash = mix(hash, static_cast<uint64_t>(extent));
  for (const Id id : node.inputs) hash = mix(hash, id);
  for (const int64_t number : node.numbers) hash = mix(hash, static_cast<uint64_t>(number));
  // The beginning stands for a large constant.
  if (node.values) {
    const size_t count = std::min<size_t>(node.values->size(), 16);
    for (size_t i = 0; i < count; ++i) hash = mix(hash, std::bit_cast<uint32_t>((*node.values)[i]));
  }
  return hash;
}

bool same_values(const Node& a, const Node& b) {
  if (a.values == b.values) return true;
  return a.values && b.values &&
         std::equal(a.values->begin(), a.values->end(), b.values->begin(), b.values->end(),
                    [](float x, float y) {
                      return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
                    });
}

bool same(const Node& a, const Node& b) {
  return a.op == b.op && a.dtype == b.dtype && a.shape == b.shape && a.inputs == b.inputs &&
         a.numbers == b.numbers && same_values(a, b);
}

}  // namespace

int64_t element_count(const Extents& shape) {
  // A product that a 0 comes behind could overflow.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t count = 1;
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return INT64_MAX;
  }
  return count;
}

std::string text_of(const Extents& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

int64_t Node::elements() const { return element_count(shape); }

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

Id Graph::number(float value) {
  return intern(
      {Op::constant, DType::f32, {}, {}, {}, std::make_shared<const Values>(Values{value})});
}

Result<Id> Graph::constant(DType dtype, Extents shape, std::shared_ptr<const Values> values) {
  if (Status ok = check_array(dtype, shape); !ok) return ok.error();
  if (values->size() != static_cast<size_t>(element_count(shape))) {
    return wrong("a constant of shape " + text_of(shape) + " has " +
                 std::to_string(values->size()) + " values");
  }
  return intern({Op::constant, dtype, std::move(shape), {}, {}, std::move(values)});
}

Result<Id> Graph::add_node(Op op, std::vector<Id> inputs) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  if (Status ok = infer(*this, node); !ok) return ok.error();
  return intern(std::move(node));
}

Result<Id> Graph::reduce(Op op, Id input, Extents axes, bool keeps_axes) {
  const std::string who(properties(op).name);
  const Node& from = nodes_[input];
  if (from.dtype != DType::f32) return wrong(who + " of booleans: cast them with astype()");
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
    if (kept[static_cast<size_t>(axis)] == 0 && op != Op::sum && op != Op::mean) {
      return wrong(who + " over an axis of no elements (shape " + text_of(from.shape) +
                   "): give at least one");
    }
    kept[static_cast<size_t>(axis)] = 1;
  }
  for (size_t i = 0; i < from.shape.size(); ++i) {
    const bool is_reduced = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
    if (!is_reduced) dropped.push_back(from.shape[i]);
  }
  const Id result = intern({op, DType::f32, std::move(kept), {input}, std::move(axes), nullptr});
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
    if (others <= 0 || elements % others != 0) return refuse();
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
    const int64_t last = begins[i] + (lengths[i] - 1) * steps[i];
    const auto is_inside = [&](int64_t at) { return at >= 0 && at < from.shape[i]; };
    if (lengths[i] < 0 || steps[i] == 0 ||
        (lengths[i] > 0 && !(is_inside(begins[i]) && is_inside(last)))) {
      return wrong("slice of " + text_of(from.shape) + ": " + std::to_string(lengths[i]) +
                   " elements from " + std::to_string(begins[i]) + " on, " +
                   std::to_string(steps[i]) + " apart, do not lie inside axis " +
                   std::to_string(i));
    }
    numbers.push_back(lengths[i] == 0 ? 0 : begins[i]);
    numbers.push_back(steps[i]);
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
  }
  if (Status ok = check_array(first.dtype, shape); !ok) return ok.error();
  const DType dtype = first.dtype;
  return intern({Op::concatenate, dtype, std::move(shape), std::move(inputs), {*found}, nullptr});
}

Result<Id> Graph::cast(Id input, DType dtype) {
  const Node& from = nodes_[input];
  if (Status ok = check_array(dtype, from.shape); !ok) return ok.error();
  if (from.dtype == dtype) return input;
  return add_node(dtype == DType::boolean ? Op::to_bool : Op::to_f32, {input});
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
