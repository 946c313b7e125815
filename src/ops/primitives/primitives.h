// The parallel primitives on a device, from px (src/px/built_in/kernel.h): maps, sums, transposes,
// histograms and sorts of arrays that lie there.
//
//   Status done = primitives::saxpy(stream, 2.0F, x.view<const float>(), y.view<float>());
//
// Everything is enqueued on the stream, and memory must stay until the stream has come past it.
// On the CPU device all cores work. Thread-safe.
//
// Errors: `invalid_argument` where lengths do not fit each other, where an output overlaps another
// array, and where an array that is read or written in vectors (all but those of transpose() and
// bitonic_sort()) does not begin at a multiple of 16 bytes, as every device::Buffer does; those of
// px/built_in/kernel.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/buffer.h"
#include "device/stream.h"

namespace hoist::primitives {

using device::Span;
using device::Stream;

// gelu is x times the normal distribution's value at x, by erf; sigmoid is 1 / (1 + exp(-x)).
// negate, abs, relu and sqrt are exact, the others within 8 units in the last place; gelu, which
// subtracts from 1 for numbers below 0, within 5e-7 plus that.
enum class Unary : int32_t { negate, abs, relu, gelu, sigmoid, tanh, exp, log, sqrt };
// Exact. Of a number and a NaN min and max give the number.
enum class Binary : int32_t { add, sub, mul, div, min, max };

Status unary(const Stream& stream, Unary operation, Span<const float> x, Span<float> out);
Status binary(const Stream& stream, Binary operation, Span<const float> x, Span<const float> y,
              Span<float> out);

Status copy(const Stream& stream, Span<const uint32_t> from, Span<uint32_t> to);
Status fill(const Stream& stream, Span<uint32_t> to, uint32_t value);
// y = a x + y, the product rounded before the sum.
Status saxpy(const Stream& stream, float a, Span<const float> x, Span<float> y);

// The sum of all, pairwise, into result[0]: the same bits on every run. Scratch memory has
// sum_scratch(values.size) elements; what is in it does not matter.
size_t sum_scratch(size_t values);
Status sum(const Stream& stream, Span<const float> values, Span<float> result, Span<float> scratch);

// `from` has `height` rows of `width` elements of 32 bits, `to` becomes its transpose.
Status transpose(const Stream& stream, Span<const uint32_t> from, Span<uint32_t> to, size_t width,
                 size_t height);

// counts[b] becomes how often byte b is there; 256 counts.
Status histogram(const Stream& stream, Span<const std::byte> data, Span<uint64_t> counts);

// In place, ascending. A radix sort (device/radix_sort) is faster for many keys; this one needs no
// other memory.
Status bitonic_sort(const Stream& stream, Span<uint32_t> keys);

}  // namespace hoist::primitives
