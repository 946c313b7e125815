// Numbers of Python as scalars of px kernels.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "ir/type.h"

namespace hoist::python {

// The bits of the number as that type. TypeError where it is none of the kind: an integer wants an
// int, bool a bool, 0 or 1. InvalidArgument where the type does not reach to it; a finite number
// does not become an infinite one. `who` names the parameter: "k: n".
uint64_t px_scalar(nanobind::handle number, ir::Scalar type, const std::string& who);

}  // namespace hoist::python
