// Texts and pictures of programs, for hoist.graph.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "graph/text/picture.h"
#include "graph/text/program_text.h"
#include "python/errors.h"
#include "python/graph_program.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

namespace gt = graph::text;
using Names = std::vector<std::string>;

gt::NamedGraph named(const GraphProgram& program, std::string name, Names inputs, Names outputs) {
  return {*program.graph, std::move(name), std::move(inputs), std::move(outputs)};
}

std::string text(const GraphProgram& program, std::string name, Names inputs, Names outputs) {
  return gt::print(named(program, std::move(name), std::move(inputs), std::move(outputs)));
}

void save(const GraphProgram& program, std::string name, Names inputs, Names outputs,
          const std::string& path, bool replace) {
  check(gt::write(named(program, std::move(name), std::move(inputs), std::move(outputs)), path,
                  {.replace = replace ? Replace::any : Replace::never,
                   .mend = "pass replace=True, or choose another name"}));
}

// (program, name, names of inputs, names of outputs)
nb::tuple compiled(Result<gt::NamedGraph> read, bool fast_math, int threads,
                   const std::string& native) {
  gt::NamedGraph graph = value(std::move(read));
  graph::program::CompileOptions options;
  options.fast_math = fast_math;
  options.threads = threads;
  GraphProgram program = compiled_program(std::move(graph.graph), options, native);
  return nb::make_tuple(std::move(program), graph.name, graph.inputs, graph.outputs);
}

}  // namespace

void define_graph_text(nb::module_& module) {
  module.def("text", &text);
  module.def("save", &save);
  module.def("picture", [](const GraphProgram& program, const std::string& title) {
    return gt::picture(*program.program, title);
  });
  module.def("parse", [](std::string text, bool fast_math, int threads, const std::string& native) {
    return compiled(gt::parse(std::move(text), "TEXT"), fast_math, threads, native);
  });
  module.def("load",
             [](const std::string& path, bool fast_math, int threads, const std::string& native) {
               return compiled(gt::read(path), fast_math, threads, native);
             });
}

}  // namespace hoist::python
