// Arrays that a compiled program is given, where they lie.
//
// An array is what has the buffer protocol or DLPack. All are called with the interpreter's lock
// held.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <string>

#include "graph/program/graph.h"

namespace hoist::python {

struct GraphArray {
  graph::program::DType dtype = graph::program::DType::f32;
  graph::program::Extents shape;
  void* data = nullptr;
  std::shared_ptr<std::byte> memory;  // what `data` points into
};

// "float32": as Python names element types.
std::string graph_dtype_name(graph::program::DType dtype);
// Unsupported for a name of another type than programs take.
graph::program::DType graph_dtype(const std::string& name);

// TypeError where it is no array, Unsupported for other element types and devices. `who` names it:
// "argument 0". One with gaps is copied.
GraphArray graph_input(nanobind::handle object, const std::string& who);
// To be written: contiguous, and of that type and shape.
GraphArray graph_output(nanobind::handle object, const graph::program::Node& node,
                        const std::string& who);
// A new NumPy array; of bfloat16 one of ml_dtypes, Unsupported without it.
nanobind::object new_numpy_array(const graph::program::Node& node);
// numpy.dtype by its name.
nanobind::object numpy_type(nanobind::handle name);

}  // namespace hoist::python
