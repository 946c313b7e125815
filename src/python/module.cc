// hoist._native: what the Python package is made of; nothing in it is for users.
#include "python/module.h"

#include <nanobind/nanobind.h>

NB_MODULE(_native, module) {
  hoist::python::define_tensors(module);
  hoist::python::define_match_pairs(module);
  hoist::python::define_match_scorer(module);
  hoist::python::define_match_sequence(module);
}
