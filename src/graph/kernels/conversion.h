// Values as another type, as program/element_casts.h has them: rounded once.
#pragma once

#include "graph/kernels/writer.h"

namespace hoist::graph::kernels {

// To booleans: whether it is not 0 (a NaN is not).
Value converted(KernelWriter& writer, ir::Scalar type, Value value);

}  // namespace hoist::graph::kernels
