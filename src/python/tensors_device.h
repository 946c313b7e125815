// Loading into a device's memory for hoist.tensors.
#pragma once

#include <nanobind/nanobind.h>

namespace hoist::python {

// After QualityPolicy was defined.
void define_tensor_loading(nanobind::module_& module);

}  // namespace hoist::python
