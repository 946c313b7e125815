#include "codec/planes_gpu.h"

#include <fmt/core.h>

#include <initializer_list>

#include "device/kernel.h"

namespace hoist::codec {
namespace {

using device::Kernel;
using device::Stream;

using Transform = Kernel<const void*, void*, uint64_t, unsigned>;

constinit const Transform split_bytes_of("hoist_cuda_split_bytes", "planes");
constinit const Transform merge_bytes_of("hoist_cuda_merge_bytes", "planes");
constinit const Transform split_bits_of("hoist_cuda_split_bits", "planes");
constinit const Transform merge_bits_of("hoist_cuda_merge_bits", "planes");
constinit const Kernel<const void*, uint64_t, void*, void*> split_parts("hoist_cuda_split_bf16",
                                                                        "planes");
constinit const Kernel<const void*, const void*, uint64_t, void*> merge_parts(
    "hoist_cuda_merge_bf16", "planes");

Status check(std::initializer_list<const void*> pointers) {
  for (const void* pointer : pointers) {
    if (reinterpret_cast<uintptr_t>(pointer) % 16 != 0) {
      return fail(ErrorCode::invalid_argument,
                  "pointer not aligned to 16 bytes (planes on the GPU)");
    }
  }
  return {};
}

Status run(const Transform& transform, const Stream& stream, std::initializer_list<unsigned> widths,
           const void* in, void* out, uint64_t size, unsigned width) {
  bool known = false;
  for (const unsigned each : widths) known |= each == width;
  if (!known) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("elements of {} bytes (planes on the GPU)", width));
  }
  if (Status aligned = check({in, out}); !aligned) return aligned;
  if (size == 0) return {};
  return transform.launch(stream, in, out, size, width);
}

}  // namespace

Status split_bytes_gpu(const Stream& stream, const void* elements, uint64_t size, unsigned width,
                       void* planes) {
  return run(split_bytes_of, stream, {2, 4, 8}, elements, planes, size, width);
}

Status merge_bytes_gpu(const Stream& stream, const void* planes, uint64_t size, unsigned width,
                       void* elements) {
  return run(merge_bytes_of, stream, {2, 4, 8}, planes, elements, size, width);
}

Status split_bits_gpu(const Stream& stream, const void* elements, uint64_t count, unsigned width,
                      void* planes) {
  return run(split_bits_of, stream, {1, 2, 4}, elements, planes, count, width);
}

Status merge_bits_gpu(const Stream& stream, const void* planes, uint64_t count, unsigned width,
                      void* elements) {
  return run(merge_bits_of, stream, {1, 2, 4}, planes, elements, count, width);
}

Status split_bf16_gpu(const Stream& stream, const void* values, uint64_t count, void* exponents,
                      void* sign_mantissa) {
  if (Status aligned = check({values, exponents, sign_mantissa}); !aligned) return aligned;
  if (count == 0) return {};
  return split_parts.launch(stream, values, count, exponents, sign_mantissa);
}

Status merge_bf16_gpu(const Stream& stream, const void* exponents, const void* sign_mantissa,
                      uint64_t count, void* values) {
  if (Status aligned = check({values, exponents, sign_mantissa}); !aligned) return aligned;
  if (count == 0) return {};
  return merge_parts.launch(stream, exponents, sign_mantissa, count, values);
}

}  // namespace hoist::codec
