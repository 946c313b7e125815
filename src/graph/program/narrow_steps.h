// Steps on elements as they lie in memory: integers of 8 to 32 bits in their own width, and
// comparisons, logic, choices and casts whose booleans are bytes. What wraps gives the low bits of
// what wider lanes give (typed_steps.h).
//
//   const Step step = narrow_step(Op::add, DType::u8, kScalarB);
#pragma once

#include <array>
#include <span>

#include "graph/program/steps.h"

namespace hoist::graph::program {

struct NarrowSteps {
  const char* name;
  std::array<std::array<StepRow, kOps>, 16> table;  // by DType
  std::array<std::array<StepRow, 16>, 16> casts;    // from, to
};

std::span<const NarrowSteps* const> runnable_narrow_steps();

// `dtype`: of the inputs, of `where` its choices; results are of it, those of comparisons booleans.
// Null where there is none.
Step narrow_step(Op op, DType dtype, unsigned scalars);
// As element_casts.h has it.
Step narrow_cast(DType from, DType to, unsigned scalars);

}  // namespace hoist::graph::program
