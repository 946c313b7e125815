// Elements of one type as those of another, in a device's memory, and quantised ones as what they
// stand for:   out[i] = (in[i] - zeros[i / block]) * scales[i / block]
//
// From i8, u8, f8, f16, bf16 and f32 to f16, bf16 and f32; in float, each step rounded. Results are
// those of tensors/tensor.h's conversions bit for bit, but for the payloads of NaNs. On the CPU
// device the stream's thread does the work.
#pragma once

#include "device/buffer.h"
#include "device/stream.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

// Floats, one for each `block` elements, in the device's memory; the last may serve fewer.
struct Quantisation {
  uint64_t block = 0;  // 0: elements are values as they are
  const float* scales = nullptr;
  const float* zeros = nullptr;  // null: none
};

// Enqueues it. `unsupported` for other types, `invalid_argument` where the sizes do not agree.
// Elements are aligned to their size; `in` and `out` do not overlap.
Status convert_on_device(device::Span<const std::byte> in, DType from, device::Span<std::byte> out,
                         DType to, const Quantisation& quantisation, device::Stream& stream);

}  // namespace hoist::tensors
