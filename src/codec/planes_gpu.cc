#include "codec/planes_gpu.h"

#include <fmt/core.h>

#include <initializer_list>

#include "device/cuda_plugin.h"

namespace hoist::codec {
namespace {

using Transform = int(const void* in, void* out, uint64_t size, unsigned width);

Status check(std::initializer_list<const void*> pointers) {
  for (const void* pointer : pointers) {
    if (reinterpret_cast<uintptr_t>(pointer) % 16 != 0) {
      return fail(ErrorCode::invalid_argument,
                  "pointer not aligned to 16 bytes (planes on the GPU)");
    }
  }
  return {};
}

Status run(const char* name, std::initializer_list<unsigned> widths, const void* in, void* out,
           uint64_t size, unsigned width) {
  bool known = false;
  for (const unsigned each : widths) known |= each == width;
  if (!known) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("elements of {} bytes (planes on the GPU)", width));
  }
  if (Status aligned = check({in, out}); !aligned) return aligned;
  const auto function = device::cuda_function<Transform>(name);
  if (!function) return function.error();
  if (size == 0) return {};
  return device::cuda_status((*function)(in, out, size, width), "planes");
}

}  // namespace

Status split_bytes_gpu(const void* elements, uint64_t size, unsigned width, void* planes) {
  return run("hoist_cuda_split_bytes", {2, 4, 8}, elements, planes, size, width);
}

Status merge_bytes_gpu(const void* planes, uint64_t size, unsigned width, void* elements) {
  return run("hoist_cuda_merge_bytes", {2, 4, 8}, planes, elements, size, width);
}

Status split_bits_gpu(const void* elements, uint64_t count, unsigned width, void* planes) {
  return run("hoist_cuda_split_bits", {1, 2, 4}, elements, planes, count, width);
}

Status merge_bits_gpu(const void* planes, uint64_t count, unsigned width, void* elements) {
  return run("hoist_cuda_merge_bits", {1, 2, 4}, planes, elements, count, width);
}

Status split_bf16_gpu(const void* values, uint64_t count, void* exponents, void* sign_mantissa) {
  if (Status aligned = check({values, exponents, sign_mantissa}); !aligned) return aligned;
  const auto function =
      device::cuda_function<int(const void*, uint64_t, void*, void*)>("hoist_cuda_split_bf16");
  if (!function) return function.error();
  if (count == 0) return {};
  return device::cuda_status((*function)(values, count, exponents, sign_mantissa), "planes");
}

Status merge_bf16_gpu(const void* exponents, const void* sign_mantissa, uint64_t count,
                      void* values) {
  if (Status aligned = check({values, exponents, sign_mantissa}); !aligned) return aligned;
  const auto function = device::cuda_function<int(const void*, const void*, uint64_t, void*)>(
      "hoist_cuda_merge_bf16");
  if (!function) return function.error();
  if (count == 0) return {};
  return device::cuda_status((*function)(exponents, sign_mantissa, count, values), "planes");
}

}  // namespace hoist::codec
