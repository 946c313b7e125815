// The builder of graphs, by which Python functions are traced.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "graph/program/composites.h"
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
  gp::Values values(static_cast<size_t>(gp::element_count(array.shape)));
  if (array.dtype == gp::DType::boolean) {
    const auto* const bytes = static_cast<const uint8_t*>(array.data);
    std::transform(bytes, bytes + values.size(), values.begin(),
                   [](uint8_t byte) { return byte != 0 ? 1.0f : 0.0f; });
  } else {
    const auto* const floats = static_cast<const float*>(array.data);
    std::copy(floats, floats + values.size(), values.begin());
  }
  return value(graph.constant(array.dtype, array.shape,
                              std::make_shared<const gp::Values>(std::move(values))));
}

nb::object compiled(const gp::Graph& graph, std::vector<Id> outputs, bool fast_math, bool fuses,
                    int threads) {
  gp::Graph made = graph;
  made.set_outputs(std::move(outputs));
  gp::CompileOptions options;
  options.fast_math = fast_math;
  options.fuses = fuses;
  options.threads = threads;
  GraphProgram program;
  program.program = value(gp::Program::compile(made, options));
  double work = static_cast<double>(program.program->report().bytes_moved);
  for (const gp::Kernel& kernel : program.program->kernels()) {
    for (const gp::Loop& loop : kernel.loops) {
      const auto places = static_cast<double>(gp::element_count(loop.outer)) *
                          static_cast<double>(loop.rows) * static_cast<double>(loop.columns);
      size_t steps = 0;
      for (const gp::Phase& phase : loop.phases) steps += phase.steps.size();
      work += places * static_cast<double>(steps);
      if (loop.product) work += places * static_cast<double>(loop.product->depth);
    }
  }
  program.is_short = work < 1e6;
  return nb::cast(std::move(program));
}

}  // namespace

void define_graph_builder(nb::module_& module) {
  nb::class_<gp::Graph>(module, "Builder")
      .def(nb::init<>())
      .def("input",
           [](gp::Graph& graph, const std::string& dtype, Extents shape) {
             return value(graph.input(graph_dtype(dtype), std::move(shape)));
           })
      .def("number",
           [](gp::Graph& graph, double number) { return graph.number(static_cast<float>(number)); })
      .def("constant", &constant)
      .def("node",
           [](gp::Graph& graph, const std::string& op, std::vector<Id> inputs) {
             return value(graph.add_node(op_named(op), std::move(inputs)));
           })
      .def("reduce",
           [](gp::Graph& graph, const std::string& op, Id input, Extents axes, bool keepdims) {
             return value(graph.reduce(op_named(op), input, std::move(axes), keepdims));
           })
      .def("reshape", [](gp::Graph& graph, Id input,
                         Extents shape) { return value(graph.reshape(input, std::move(shape))); })
      .def("permute", [](gp::Graph& graph, Id input,
                         Extents axes) { return value(graph.permute(input, std::move(axes))); })
      .def("broadcast",
           [](gp::Graph& graph, Id input, Extents shape) {
             return value(graph.broadcast(input, std::move(shape)));
           })
      .def("slice",
           [](gp::Graph& graph, Id input, const Extents& begins, const Extents& lengths,
              const Extents& steps) { return value(graph.slice(input, begins, lengths, steps)); })
      .def("concatenate",
           [](gp::Graph& graph, std::vector<Id> inputs, int64_t axis) {
             return value(graph.concatenate(std::move(inputs), axis));
           })
      .def("cast",
           [](gp::Graph& graph, Id input, const std::string& dtype) {
             return value(graph.cast(input, graph_dtype(dtype)));
           })
      .def("gelu_tanh",
           [](gp::Graph& graph, Id input) { return value(gp::gelu_tanh(graph, input)); })
      .def("gelu_erf", [](gp::Graph& graph, Id input) { return value(gp::gelu_erf(graph, input)); })
      .def("softmax", [](gp::Graph& graph, Id input,
                         int64_t axis) { return value(gp::softmax(graph, input, axis)); })
      .def("log_softmax", [](gp::Graph& graph, Id input,
                             int64_t axis) { return value(gp::log_softmax(graph, input, axis)); })
      .def("normalise",
           [](gp::Graph& graph, Id input, double epsilon) {
             return value(gp::normalise(graph, input, static_cast<float>(epsilon)));
           })
      .def("shape", [](const gp::Graph& graph, Id id) { return tuple_of(graph[id].shape); })
      .def("dtype", [](const gp::Graph& graph, Id id) { return graph_dtype_name(graph[id].dtype); })
      .def("compile", &compiled, "outputs"_a, "fast_math"_a, "fuses"_a, "threads"_a);
}

}  // namespace hoist::python
