#include "python/graph_program.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <strings.h>

#include "base/options.h"
#include "graph/native/compiler.h"
#include "python/array/parts.h"
#include "python/errors.h"
#include "python/graph_arrays.h"
#include "python/graph_gpu.h"
#include "python/released_gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

namespace gp = graph::program;

nb::tuple described(const gp::Node& node) {
  nb::list shape;
  for (const int64_t extent : node.shape) shape.append(extent);
  return nb::make_tuple(graph_dtype_name(node.dtype), nb::tuple(shape));
}

nb::list signature(const gp::Program& program, bool of_inputs) {
  nb::list list;
  const size_t count = of_inputs ? program.inputs() : program.outputs();
  for (size_t i = 0; i < count; ++i) {
    list.append(described(of_inputs ? program.input(i) : program.output(i)));
  }
  return list;
}

const char* name_of(gp::KernelReplacement::State state) {
  using State = gp::KernelReplacement::State;
  switch (state) {
    case State::not_compiled:
      return "nothing to compile";
    case State::measuring:
      return "measuring";
    case State::compiled:
      return "compiled";
    case State::slower:
      return "not faster";
    case State::differs:
      return "other bits";
    case State::no_memory:
      return "no memory to compare";
    default:
      return "precompiled";
  }
}

const char* name_of(gp::Replacement::Stage stage) {
  using Stage = gp::Replacement::Stage;
  switch (stage) {
    case Stage::off:
      return "off";
    case Stage::cold:
      return "waiting";
    case Stage::compiling:
      return "compiling";
    case Stage::measuring:
      return "measuring";
    case Stage::settled:
      return "done";
    default:
      return "failed";
  }
}

// What the environment says where the caller leaves it open.
gp::KernelCompiler* compiler_for(const std::string& native) {
  if (native != "auto" && native != "now" && native != "off") {
    raise({ErrorCode::invalid_argument, "native=" + native + ": give auto, now or off"});
  }
  const char* const mode = native == "auto" ? option_text(OptionId::graph_native) : native.c_str();
  if (::strcasecmp(mode, "off") == 0) return nullptr;
  if (::strcasecmp(mode, "now") == 0) return &graph::native::immediate_compiler();
  return &graph::native::background_compiler();
}

nb::dict report(const gp::Program& program, const GraphGpu& gpu) {
  const gp::Report& report = program.report();
  nb::list kernels;
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    const gp::KernelReport& kernel = report.kernels[i];
    nb::list names;
    for (const gp::Id id : kernel.nodes) {
      names.append(std::string(gp::properties(program.graph()[id].op).name));
    }
    const gp::KernelReplacement native = program.replacement().report(i);
    kernels.append(nb::make_tuple(nb::tuple(names), kernel.bytes, name_of(native.state),
                                  native.precompiled_ns, native.compiled_ns));
  }
  nb::dict facts;
  facts["nodes_traced"] = report.nodes_traced;
  facts["nodes_left"] = report.nodes_left;
  facts["rewrites"] = report.rewrites;
  facts["bytes_moved"] = report.bytes_moved;
  facts["arena_bytes"] = report.arena_bytes;
  facts["results_in_place"] = report.results_in_place;
  facts["kernels"] = kernels;
  facts["native"] = name_of(program.replacement().stage());
  facts["native_error"] = program.replacement().why();
  facts["gpus"] = gpu.report();
  return facts;
}

}  // namespace

GraphProgram compiled_program(gp::Graph graph, gp::CompileOptions options,
                              const std::string& native) {
  GraphProgram program;
  options.compiler = compiler_for(native);
  program.graph = std::make_shared<const gp::Graph>(std::move(graph));
  program.program = value(gp::Program::compile(*program.graph, options));
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
  if (options.compiler == &graph::native::immediate_compiler()) {
    const ReleasedGil released;
    program.program->replacement().ask(program.program);
  }
  return program;
}

nb::tuple GraphProgram::run(nb::sequence arrays, nb::object outs, bool gives_arrays) const {
  std::vector<GraphArray> inputs;
  std::vector<GraphArray> outputs;
  std::vector<const void*> from;
  std::vector<void*> to;
  nb::list results;
  const auto refuse = [](size_t given, size_t wanted, const char* what) {
    raise({ErrorCode::invalid_argument, "a program with " + std::to_string(wanted) + " " + what +
                                            " is given " + std::to_string(given)});
  };
  const size_t count = nb::len(arrays);
  if (count != program->inputs()) refuse(count, program->inputs(), "inputs");
  if (!outs.is_none() && nb::len(outs) != program->outputs()) {
    refuse(nb::len(outs), program->outputs(), "outputs");
  }
  for (const nb::handle array : arrays) {
    if (is_on_gpu(array)) return run_on_gpu(*this, arrays, outs);
  }
  for (size_t i = 0; i < count; ++i) {
    const std::string who = "input " + std::to_string(i);
    inputs.push_back(graph_input(arrays[i], who));
    const gp::Node& node = program->input(i);
    if (inputs.back().dtype != node.dtype || inputs.back().shape != node.shape) {
      raise({ErrorCode::invalid_argument,
             who + " is " + graph_dtype_name(inputs.back().dtype) + " of shape " +
                 gp::text_of(inputs.back().shape) + ": the program was traced for " +
                 graph_dtype_name(node.dtype) + " of shape " + gp::text_of(node.shape)});
    }
    from.push_back(inputs.back().data);
  }
  for (size_t i = 0; i < program->outputs(); ++i) {
    const gp::Node& node = program->output(i);
    const nb::object array = !outs.is_none() ? nb::object(outs[i])
                             : gives_arrays  ? array_object(new_array(node.dtype, node.shape))
                                             : new_numpy_array(node);
    outputs.push_back(graph_output(array, node, "out"));
    to.push_back(outputs.back().data);
    results.append(array);
  }
  if (is_short) {
    check(program->run(from, to));
  } else {
    Status done;
    {
      const ReleasedGil released;
      done = program->run(from, to);
    }
    check(done);
  }
  return nb::tuple(results);
}

void define_graph_program(nb::module_& module) {
  nb::class_<GraphProgram>(module, "Program")
      .def("run", &GraphProgram::run, "arrays"_a, "outs"_a.none(), "gives_arrays"_a)
      .def("inputs", [](const GraphProgram& it) { return signature(*it.program, true); })
      .def("outputs", [](const GraphProgram& it) { return signature(*it.program, false); })
      .def("report", [](const GraphProgram& it) { return report(*it.program, *it.gpu); });
  module.def("signature", [](nb::handle object, const std::string& who) {
    if (is_on_gpu(object)) {
      const GpuArray array = gpu_array(object, who);
      return nb::make_tuple(graph_dtype_name(array.dtype), tuple_of(array.shape));
    }
    if (const Array* const array = array_of(object.ptr())) {
      return nb::make_tuple(graph_dtype_name(array->view.dtype), tuple_of(array->view.shape()));
    }
    const GraphArray array = graph_input(object, who);
    return nb::make_tuple(graph_dtype_name(array.dtype), tuple_of(array.shape));
  });
}

}  // namespace hoist::python
