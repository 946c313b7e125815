// Records in other formats of text, from Python.
#pragma once

#include <nanobind/nanobind.h>

namespace hoist::python {

void define_records_convert(nanobind::module_& module);

}  // namespace hoist::python
