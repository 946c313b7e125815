#include "graph/program/interpreter_along.h"

#include <cstring>

#include "graph/program/access.h"
#include "graph/program/partial.h"

namespace hoist::graph::program {
namespace {

// body(place of an element, with index 0 along the axis, its number) for each line along the axis.
template <typename Body>
void each_line(const Extents& shape, size_t axis, const Body& body) {
  const Extents strides = dense_strides(shape);
  Extents others = shape;
  others[axis] = 1;
  const int64_t count = element_count(others);
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = 0;
    int64_t rest = i;
    for (size_t k = shape.size(); k-- > 0;) {
      place += rest % others[k] * strides[k];
      rest /= others[k];
    }
    body(place, i);
  }
}

template <typename T>
Values places(const Node& node, const Extents& shape, const T* from) {
  const auto axis = static_cast<size_t>(node.numbers[0]);
  const int64_t stride = dense_strides(shape)[axis];
  Values result(Lanes::i64, static_cast<size_t>(node.elements()));
  each_line(shape, axis, [&](int64_t place, int64_t line) {
    int64_t best = 0;
    for (int64_t i = 1; i < shape[axis]; ++i) {
      if (is_beyond(node.op == Op::argmin, from[place + i * stride], from[place + best * stride])) {
        best = i;
      }
    }
    result.i64()[static_cast<size_t>(line)] = best;
  });
  return result;
}

// T adds as the type does: of integers an unsigned one.
template <typename T>
Values sums(const Node& node, const T* from) {
  const auto axis = static_cast<size_t>(node.numbers[0]);
  const int64_t stride = dense_strides(node.shape)[axis];
  Values result(lanes_of(node.dtype), static_cast<size_t>(node.elements()));
  T* const to = static_cast<T*>(result.bytes());
  each_line(node.shape, axis, [&](int64_t place, int64_t) {
    for (int64_t i = 0; i < node.shape[axis]; ++i) {
      const int64_t at = place + i * stride;
      to[at] = i == 0 ? from[at] : static_cast<T>(to[at - stride] + from[at]);
    }
  });
  return result;
}

Values taken(const Node& node, const Extents& shape, const Values& from, const Extents& index_shape,
             const Values& indices, Fault& fault) {
  const auto axis = static_cast<size_t>(node.numbers[0]);
  Extents wide = node.shape;
  wide[axis] = shape[axis];
  const Values table = gather(from, wide, broadcast_access(wide, shape, {0, dense_strides(shape)}));
  const Values places =
      gather(indices, node.shape,
             broadcast_access(node.shape, index_shape, {0, dense_strides(index_shape)}));
  const int64_t stride = dense_strides(wide)[axis];
  Values result(lanes_of(node.dtype), static_cast<size_t>(node.elements()));
  const Extents strides = dense_strides(node.shape);
  for (int64_t i = 0; i < node.elements(); ++i) {
    int64_t index = places.i64()[static_cast<size_t>(i)];
    if (index < -shape[axis] || index >= shape[axis]) {
      fault.set(index, node.numbers[0], shape[axis]);
      continue;
    }
    if (index < 0) index += shape[axis];
    const int64_t inside = i % strides[axis];
    const int64_t outside = i / (strides[axis] * node.shape[axis]);
    const int64_t at = outside * stride * shape[axis] + index * stride + inside;
    std::memcpy(
        static_cast<std::byte*>(result.bytes()) + static_cast<size_t>(i) * result.lane(),
        static_cast<const std::byte*>(table.bytes()) + static_cast<size_t>(at) * table.lane(),
        result.lane());
  }
  return result;
}

}  // namespace

Values along(const Graph& graph, const Node& node, const std::vector<Values>& values,
             Fault& fault) {
  const Values& from = values[node.inputs[0]];
  const Extents& shape = graph[node.inputs[0]].shape;
  if (node.op == Op::take_along) {
    return taken(node, shape, from, graph[node.inputs[1]].shape, values[node.inputs[1]], fault);
  }
  const bool adds = node.op == Op::cumulative_sum;
  switch (lanes_of(graph[node.inputs[0]].dtype)) {
    case Lanes::f32:
      return adds ? sums(node, from.f32().data()) : places(node, shape, from.f32().data());
    case Lanes::f64:
      return adds ? sums(node, from.f64().data()) : places(node, shape, from.f64().data());
    case Lanes::i64:
      if (!adds) return places(node, shape, from.i64().data());
      break;
    case Lanes::u64:
      break;
  }
  const auto* const words = static_cast<const uint64_t*>(from.bytes());
  return adds ? sums(node, words) : places(node, shape, words);
}

}  // namespace hoist::graph::program
