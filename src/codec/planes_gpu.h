// The transforms of codec/planes.h on a CUDA device, from device memory to device memory; results
// equal the CPU's. The work is queued on the stream: a call returns at once, and synchronize()
// waits and tells of failures.
//
//   Status status = split_bf16_gpu(stream, values, count, exponents, sign_mantissa);
//   if (status) status = stream.synchronize();
//
// Pointers are memory of the stream's device, aligned to 16 bytes (planes within may begin
// anywhere); input and output do not overlap. Errors: those of a launch (device/kernel.h),
// `invalid_argument` for a width or a pointer that does not fit. Thread-safe.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "device/stream.h"

namespace hoist::codec {

// `size` bytes of elements of `width` 2, 4 or 8 bytes; both have that size.
Status split_bytes_gpu(const device::Stream& stream, const void* elements, uint64_t size,
                       unsigned width, void* planes);
Status merge_bytes_gpu(const device::Stream& stream, const void* planes, uint64_t size,
                       unsigned width, void* elements);

// `count` elements of `width` 1, 2 or 4 bytes; 8 * width planes of bit_plane_bytes(count) each.
Status split_bits_gpu(const device::Stream& stream, const void* elements, uint64_t count,
                      unsigned width, void* planes);
Status merge_bits_gpu(const device::Stream& stream, const void* planes, uint64_t count,
                      unsigned width, void* elements);

// `count` bfloat16 values.
Status split_bf16_gpu(const device::Stream& stream, const void* values, uint64_t count,
                      void* exponents, void* sign_mantissa);
Status merge_bf16_gpu(const device::Stream& stream, const void* exponents,
                      const void* sign_mantissa, uint64_t count, void* values);

}  // namespace hoist::codec
