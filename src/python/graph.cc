// hoist._graph: the native part of hoist.graph. A module of its own, so that `import hoist` stays
// cheap.
#include <nanobind/nanobind.h>

#include "graph/native/compiler.h"
#include "python/array/array.h"
#include "python/graph_program.h"
#include "python/main_interpreter.h"
#include "python/released_gil.h"

NB_MODULE(_graph, module) {
  hoist::python::refuse_subinterpreters("hoist");
  nanobind::set_leak_warnings(false);
  hoist::python::watch_interpreters_end();
  // Before the libraries' own objects go.
  nanobind::module_::import_("atexit").attr("register")(
      nanobind::cpp_function([] { hoist::graph::native::stop_background_compiler(); }));
  hoist::python::define_array(module);
  hoist::python::define_graph_builder(module);
  hoist::python::define_graph_program(module);
  hoist::python::define_graph_call(module);
  hoist::python::define_graph_text(module);
}
