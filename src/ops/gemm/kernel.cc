#include "ops/gemm/kernel.h"

#include <fmt/format.h>

#include "device/kernel.h"
#include "ops/gemm/reference.h"
#include "ops/gemm/served_gemm.h"

namespace hoist::gemm {
namespace {

using device::DeviceKind;

// What the plug-in gives (gemm.cu).
constinit const device::Kernel<const hoist_blas_call*> multiply("hoist_cuda_gemm", "gemm");
constexpr int kNoLibrary = -1;
constexpr int kCublasFailed = -1000;

Status enqueue_cuda(device::Device& device, device::StreamHandle stream,
                    const hoist_blas_call& call) {
  const Result<int> error = multiply.call(device, stream, &call);
  if (!error) return error.error();
  if (*error == kNoLibrary) {
    return fail(ErrorCode::unavailable,
                "no cuBLAS (libcublas.so.13 or .12): install the CUDA toolkit's libraries");
  }
  if (*error <= kCublasFailed) {
    return fail(ErrorCode::internal,
                fmt::format("cuBLAS failed (status {})", kCublasFailed - *error));
  }
  return device::cuda_status(*error, "gemm");
}

}  // namespace

Status enqueue(device::Device& device, device::StreamHandle stream, const hoist_blas_call& call) {
  switch (device.properties().kind) {
    case DeviceKind::cuda:
      return enqueue_cuda(device, stream, call);
    case DeviceKind::remote:
      return request(device, stream, call);
    case DeviceKind::cpu:
      break;
  }
  return device::run_on_host(device, stream, [call] { run_reference(call); });
}

Status enqueue(const device::Stream& stream, const hoist_blas_call& call) {
  return enqueue(stream.device(), stream.handle(), call);
}

}  // namespace hoist::gemm
