// hoist._graph: the native part of hoist.graph. A module of its own, so that `import hoist` stays
// cheap.
#include <nanobind/nanobind.h>

#include "python/graph_program.h"
#include "python/released_gil.h"

NB_MODULE(_graph, module) {
  nanobind::set_leak_warnings(false);
  hoist::python::watch_interpreters_end();
  hoist::python::define_graph_builder(module);
  hoist::python::define_graph_program(module);
  hoist::python::define_graph_call(module);
  hoist::python::define_graph_text(module);
}
