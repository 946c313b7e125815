// hologram_ffi._native: the drop-in module's functions, and ArrayView.
#include <nanobind/nanobind.h>

#include "python/hologram/calls.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python::hologram {
namespace {

// Handles are the process's; an interpreter with a lock of its own would break what short calls
// rely on.
void refuse_subinterpreters() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    throw nb::import_error(
        "hologram_ffi works in the main interpreter only: import it there, or in another process");
  }
}

void add(nb::module_& module, PyMethodDef* methods) {
  if (PyModule_AddFunctions(module.ptr(), methods) != 0) throw nb::python_error();
}

}  // namespace
}  // namespace hoist::python::hologram

NB_MODULE(_native, module) {
  using namespace hoist::python::hologram;
  refuse_subinterpreters();
  nb::set_leak_warnings(false);
  hoist::python::watch_interpreters_end();
  add(module, buffer_methods());
  add(module, operation_methods());
  add(module, tensor_methods());
  add(module, view_methods());
  define_array_view(module);
}
