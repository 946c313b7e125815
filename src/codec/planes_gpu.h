// The transforms of codec/planes.h on a CUDA device, from device memory to device memory; results
// equal the CPU's. The work is queued on the default stream: a call returns at once, and
// device::cuda_synchronize() waits and tells of failures.
//
//   Status status = split_bf16_gpu(values, count, exponents, sign_mantissa);
//   if (status) status = device::cuda_synchronize();
//
// Pointers are device memory aligned to 16 bytes (planes within may begin anywhere); input and
// output do not overlap. Errors: `unavailable` without a device, `invalid_argument` for a width or
// a pointer that does not fit. Thread-safe.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace hoist::codec {

// `size` bytes of elements of `width` 2, 4 or 8 bytes; both have that size.
Status split_bytes_gpu(const void* elements, uint64_t size, unsigned width, void* planes);
Status merge_bytes_gpu(const void* planes, uint64_t size, unsigned width, void* elements);

// `count` elements of `width` 1, 2 or 4 bytes; 8 * width planes of bit_plane_bytes(count) each.
Status split_bits_gpu(const void* elements, uint64_t count, unsigned width, void* planes);
Status merge_bits_gpu(const void* planes, uint64_t count, unsigned width, void* elements);

// `count` bfloat16 values.
Status split_bf16_gpu(const void* values, uint64_t count, void* exponents, void* sign_mantissa);
Status merge_bf16_gpu(const void* exponents, const void* sign_mantissa, uint64_t count,
                      void* values);

}  // namespace hoist::codec
