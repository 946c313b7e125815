// hologram_ffi._native: the drop-in module's functions, and ArrayView.
#include <nanobind/nanobind.h>

#include "python/hologram/calls.h"
#include "python/main_interpreter.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python::hologram {
namespace {

void add(nb::module_& module, PyMethodDef* methods) {
  if (PyModule_AddFunctions(module.ptr(), methods) != 0) throw nb::python_error();
}

}  // namespace
}  // namespace hoist::python::hologram

NB_MODULE(_native, module) {
  using namespace hoist::python::hologram;
  hoist::python::refuse_subinterpreters("hologram_ffi");
  nb::set_leak_warnings(false);
  hoist::python::watch_interpreters_end();
  add(module, buffer_methods());
  add(module, operation_methods());
  add(module, tensor_methods());
  add(module, view_methods());
  define_array_view(module);
}
