// Functions of real numbers that the IR has not, made of those that it has, in f64.
#pragma once

#include <optional>

#include "graph/kernels/functions.h"
#include "graph/program/op.h"

namespace hoist::graph::kernels {

bool is_real_function(program::Op op);
// The values are f32 or f64, and the result is, too. `b`: of functions of two.
Value real_function(KernelWriter& writer, program::Op op, Value a, Value b);

}  // namespace hoist::graph::kernels
