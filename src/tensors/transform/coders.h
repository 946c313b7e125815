// Encoders and decoders behind transform.h, which checks what they are given.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "tensors/encoded_tensor.h"
#include "tensors/transform/format.h"
#include "tensors/transform/fragment_decoder.h"
#include "tensors/transform/patches.h"

namespace hoist::tensors {

// Spectral and random projection. May throw std::bad_alloc.
Result<EncodedTensor> encode_coefficients(const TransformInput& input, ThreadPool* pool);
std::unique_ptr<TensorDecoder> coefficient_decoder(const TransformLayout& layout,
                                                   std::vector<PatchRun> patches,
                                                   QualityCurve curve);

// Low rank. May throw std::bad_alloc.
Result<EncodedTensor> encode_low_rank(const TransformInput& input, ThreadPool* pool);
std::unique_ptr<TensorDecoder> low_rank_decoder(const TransformLayout& layout,
                                                std::vector<PatchRun> patches, QualityCurve curve);

}  // namespace hoist::tensors
