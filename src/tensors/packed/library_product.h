// Products of plain matrices on a GPU by cuBLASLt, for packed matrices that are unpacked first.
#pragma once

#include "device/stream.h"
#include "tensors/packed/matmul.h"

namespace hoist::tensors::packed {

// y = x Wᵀ of a plain W of `rows` x `columns` without gaps; no bias, no activation. Plans are kept
// for the next product of the same shape. `unavailable` where no cuBLASLt is installed.
Status library_product(const device::Stream& stream, const uint16_t* weights, const Shape& shape,
                       const Operands& operands);

}  // namespace hoist::tensors::packed
