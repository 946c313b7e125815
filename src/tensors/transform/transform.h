// The any-subset encodings: spectral, random projection, low rank. Fragments are equals: any of
// them, in any order, give a reconstruction, and each adds a known share of the tensor's energy.
//
//   Result<EncodedTensor> encoded = transform_encode(tensor, options, pool);
//   Result<std::unique_ptr<TensorDecoder>> decoder = transform_decoder(encoded->description);
//   (*decoder)->add(3, encoded->parts[3]);
//   (*decoder)->reconstruct(out, pool);
//
// Finite elements come back to rounding from all fragments of a spectral or projected tensor;
// elements that are not finite come back bit for bit from any (patches.h). f64 elements keep a
// float's precision. Layouts: format.h.
//
// Memory: encoding takes 8 bytes an element beyond the input and the parts, low rank 12 or 16;
// decoding 4, and low rank none beyond twice its fragments, at reconstruct() only. A cosine
// transform adds its longest row's or column's working memory, up to 64 bytes an element of it.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/threads.h"
#include "tensors/encoded_tensor.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

constexpr bool is_transform(HolographicEncoding encoding) {
  return encoding == HolographicEncoding::spectral ||
         encoding == HolographicEncoding::random_projection ||
         encoding == HolographicEncoding::low_rank_distributed;
}

constexpr bool is_transform_dtype(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 ||
         dtype == DType::bf16 || dtype == DType::f8_e4m3 || dtype == DType::f8_e5m2 ||
         dtype == DType::i8;
}

constexpr bool is_transform_precision(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

// `unsupported` where a lossless encoding serves better: a dtype that is not above, no elements,
// more patches than parameters hold, a side longer than 2^27 (spectral), no component that would be
// smaller than the tensor (low rank; vectors always). `invalid_argument`: options out of range.
// Without options.precision, wide types are stored as f32, others as f16, whose precision is at
// least the input's.
Result<EncodedTensor> transform_encode(const TensorView& tensor, const EncodeOptions& options,
                                       ThreadPool* pool = nullptr);

// `corrupt`: the description breaks a rule.
Result<std::unique_ptr<TensorDecoder>> transform_decoder(const TensorDescription& description);

}  // namespace hoist::tensors
