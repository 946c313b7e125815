// The steps of loops (program/steps.h) as expressions of the kernel IR, with the same bits.
#pragma once

#include "graph/kernels/writer.h"
#include "graph/program/types.h"

namespace hoist::graph::native {

using kernels::KernelWriter;
using kernels::Value;
using program::DType;
using program::Lanes;
using program::Op;

ir::Scalar scalar_of(Lanes lanes);

// Whether the element-wise step has an expression of the same bits: what is exact, and what is made
// of polynomials in f32. What the C library computes has none.
bool can_compute(Op op, Lanes lanes, DType result);

// Its value in the lanes of `result`. Inputs are in `lanes`, or in those of the other integers, but
// for the condition of a choice, which is f32. `fuses`: whether the steps round a product and a sum
// once (StepTable).
Value computed(KernelWriter& writer, bool fuses, Op op, Lanes lanes, DType result,
               std::vector<Value> inputs);

}  // namespace hoist::graph::native
