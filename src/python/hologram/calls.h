// The functions of hologram_ffi, in parts; each list ends with an empty entry.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "graph/ffi/session.h"
#include "python/released_gil.h"

namespace hoist::python::hologram {

PyMethodDef* buffer_methods();
PyMethodDef* operation_methods();
PyMethodDef* tensor_methods();
PyMethodDef* view_methods();

void define_array_view(nanobind::module_& module);

// Calls work(lifetime), without the interpreter's lock where that takes long: from there on,
// releasing it costs less than a hundredth. With the lock nobody else removes a handle meanwhile.
template <typename Work>
auto with_lock_if_short(bool is_short, const Work& work) {
  if (is_short) return work(graph::ffi::Lifetime::held_by_caller);
  const ReleasedGil released;
  return work(graph::ffi::Lifetime::pinned);
}

}  // namespace hoist::python::hologram
