// The builder of graphs, by which Python functions are traced.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "graph/program/composites.h"
#include "graph/program/move.h"
#include "python/array/array.h"
#include "python/errors.h"
#include "python/graph_arrays.h"
#include "python/graph_program.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

namespace gp = graph::program;
using gp::Extents;
using gp::Id;
using gp::Op;

Op op_named(const std::string& name) {
  for (size_t i = 0; i < gp::kOps; ++i) {
    const Op op = static_cast<Op>(i);
    if (gp::properties(op).name == name) return op;
  }
  raise({ErrorCode::invalid_argument, "no operation " + name});
}

nb::tuple tuple_of(const Extents& extents) {
  nb::list list;
  for (const int64_t extent : extents) list.append(extent);
  return nb::tuple(list);
}

Id constant(gp::Graph& graph, nb::handle object, const std::string& who) {
  const GraphArray array = graph_input(object, who);
  const auto count = static_cast<size_t>(gp::element_count(array.shape));
  gp::Values values(gp::lanes_of(array.dtype), count);
  gp::widen(array.dtype, array.data, count, values.bytes());
  return value(graph.constant(array.dtype, array.shape,
                              std::make_shared<const gp::Values>(std::move(values))));
}

// A Python number; an OverflowError where the type has no such integer.
Id number(gp::Graph& graph, nb::handle object, const std::string& name) {
  const gp::DType dtype = graph_dtype(name);
  if (dtype == gp::DType::boolean || gp::is_float(dtype)) {
    const double number = PyFloat_AsDouble(object.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return graph.number(number, dtype);
  }
  const nb::object integer = nb::steal(PyNumber_Index(object.ptr()));
  if (!integer.is_valid()) throw nb::python_error();
  const int64_t bits = dtype == gp::DType::u64
                           ? static_cast<int64_t>(PyLong_AsUnsignedLongLong(integer.ptr()))
                           : PyLong_AsLongLong(integer.ptr());
  if (bits != -1 || PyErr_Occurred() == nullptr) {
    const Id id = graph.integer(bits, dtype);
    if (graph[id].values->i64()[0] == bits) return id;
  }
  PyErr_Clear();  // of more than 64 bits, or of another sign
  PyErr_Format(PyExc_OverflowError, "%s has no integer %R", name.c_str(), integer.ptr());
  throw nb::python_error();
}

nb::object compiled(const gp::Graph& graph, std::vector<Id> outputs, bool fast_math, bool fuses,
                    int threads, const std::string& native) {
  gp::Graph made = graph;
  made.set_outputs(std::move(outputs));
  gp::CompileOptions options;
  options.fast_math = fast_math;
  options.fuses = fuses;
  options.threads = threads;
  return nb::cast(compiled_program(std::move(made), options, native));
}

}  // namespace

void define_graph_builder(nb::module_& module) {
  nb::class_<gp::Graph>(module, "Builder")
      .def(nb::init<>())
      .def("input",
           [](gp::Graph& graph, const std::string& dtype, nb::handle shape) {
             return value(graph.input(graph_dtype(dtype), integers_of(shape)));
           })
      .def("number", &number)
      .def("constant", &constant)
      .def("node",
           [](gp::Graph& graph, const std::string& op, std::vector<Id> inputs) {
             return value(graph.add_node(op_named(op), std::move(inputs)));
           })
      .def("reduce",
           [](gp::Graph& graph, const std::string& op, Id input, nb::handle axes, bool keepdims) {
             return value(graph.reduce(op_named(op), input, integers_of(axes), keepdims));
           })
      .def("reshape",
           [](gp::Graph& graph, Id input, nb::handle shape) {
             return value(graph.reshape(input, integers_of(shape)));
           })
      .def("permute",
           [](gp::Graph& graph, Id input, nb::handle axes) {
             return value(graph.permute(input, integers_of(axes)));
           })
      .def("broadcast",
           [](gp::Graph& graph, Id input, nb::handle shape) {
             return value(graph.broadcast(input, integers_of(shape)));
           })
      .def("slice",
           [](gp::Graph& graph, Id input, nb::handle begins, nb::handle lengths, nb::handle steps) {
             return value(
                 graph.slice(input, integers_of(begins), integers_of(lengths), integers_of(steps)));
           })
      .def("concatenate",
           [](gp::Graph& graph, std::vector<Id> inputs, nb::handle axis) {
             return value(graph.concatenate(std::move(inputs), integer_of(axis)));
           })
      .def("cumulative_sum",
           [](gp::Graph& graph, Id input, nb::handle axis) {
             return value(graph.cumulative_sum(input, integer_of(axis)));
           })
      .def("take_along",
           [](gp::Graph& graph, Id input, Id indices, nb::handle axis) {
             return value(graph.take_along(input, indices, integer_of(axis)));
           })
      .def("cast",
           [](gp::Graph& graph, Id input, const std::string& dtype) {
             return value(graph.cast(input, graph_dtype(dtype)));
           })
      .def("gelu_tanh",
           [](gp::Graph& graph, Id input) { return value(gp::gelu_tanh(graph, input)); })
      .def("gelu_erf", [](gp::Graph& graph, Id input) { return value(gp::gelu_erf(graph, input)); })
      .def("softmax",
           [](gp::Graph& graph, Id input, nb::handle axis) {
             return value(gp::softmax(graph, input, integer_of(axis)));
           })
      .def("log_softmax",
           [](gp::Graph& graph, Id input, nb::handle axis) {
             return value(gp::log_softmax(graph, input, integer_of(axis)));
           })
      .def("normalise", [](gp::Graph& graph, Id input,
                           double epsilon) { return value(gp::normalise(graph, input, epsilon)); })
      .def("shape", [](const gp::Graph& graph, Id id) { return tuple_of(graph[id].shape); })
      .def("dtype", [](const gp::Graph& graph, Id id) { return graph_dtype_name(graph[id].dtype); })
      .def("compile", &compiled, "outputs"_a, "fast_math"_a, "fuses"_a, "threads"_a, "native"_a);
  module.def("takes", [](const std::string& op, const std::string& dtype) {
    return gp::takes(op_named(op), graph_dtype(dtype));
  });
}

}  // namespace hoist::python
