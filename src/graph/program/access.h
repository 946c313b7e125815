// Where the elements of an array lie in the memory of another one: an offset, and strides in
// elements. Views of programs are nothing but that.
#pragma once

#include <optional>

#include "graph/program/graph.h"

namespace hoist::graph::program {

struct Access {
  int64_t offset = 0;
  Extents strides;

  friend bool operator==(const Access&, const Access&) = default;
};

Extents dense_strides(const Extents& shape);
bool is_dense(const Extents& shape, const Access& access);

// Where the view `node` has its elements, if its input has that shape and lies so. Nothing for a
// reshape that has no strides: its input must be copied first.
std::optional<Access> access_of_view(const Node& node, const Extents& input_shape,
                                     const Access& input);

// As an input of an operation whose result has `shape`: axes that are broadcast have stride 0.
Access broadcast_access(const Extents& shape, const Extents& input_shape, const Access& input);

// The elements in row-major order.
Values gather(const Values& from, const Extents& shape, const Access& access);
// Writes elements in row-major order to their places.
void scatter(const Values& from, const Extents& shape, const Access& access, Values& to);

}  // namespace hoist::graph::program
