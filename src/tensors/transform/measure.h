// The quality of decoded tensors, measured on their elements.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "tensors/encoded_tensor.h"
#include "tensors/quality_curve.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

// Over elements of `tensor` that are finite; elements are multiplied by 2^scale first, which should
// bring the largest near 1. `decoded` has the same dtype.
QualityPoint measure_quality(const TensorView& tensor, std::span<const std::byte> decoded,
                             int scale, ThreadPool* pool = nullptr);

// The quality of parts 0, 0…1, 0…2 and so on, as the encoding's own decoder gives them.
Result<std::vector<QualityPoint>> measure_prefixes(const TensorView& tensor,
                                                   const EncodedTensor& encoded, int scale,
                                                   ThreadPool* pool = nullptr);

}  // namespace hoist::tensors
