// hoist._native: what the Python package is made of; nothing in it is for users.
#include "python/module.h"

#include <nanobind/nanobind.h>

#include "python/main_interpreter.h"
#include "python/released_gil.h"

NB_MODULE(_native, module) {
  hoist::python::refuse_subinterpreters("hoist");
  // What threads still hold that end with the program, or that a child has not, is no leak of ours.
  nanobind::set_leak_warnings(false);
  module.attr("__version__") = HOIST_VERSION;
  hoist::python::watch_interpreters_end();
  hoist::python::define_tensors(module);
  hoist::python::define_holo_tensors(module);
  hoist::python::define_holo_contexts(module);
  hoist::python::define_fuzz_function(module);
  hoist::python::define_match_fuzz(module);
  hoist::python::define_fuzz_extract(module);
  hoist::python::define_fuzz_best(module);
  hoist::python::define_fuzz_matrix(module);
  hoist::python::define_match_pairs(module);
  hoist::python::define_match_scorer(module);
  hoist::python::define_match_sequence(module);
}
