#include "ops/gemm/kernel.h"

#include <fmt/format.h>

#include "device/cuda_plugin.h"
#include "device/remote/remote_device.h"
#include "ops/gemm/reference.h"
#include "ops/gemm/served_gemm.h"

namespace hoist::gemm {
namespace {

using device::DeviceKind;

// What the plug-in gives (gemm.cu).
using CudaGemm = int(int device, void* stream, const hoist_blas_call* call);
constexpr int kNoLibrary = -1;
constexpr int kCublasFailed = -1000;

Status enqueue_cuda(int device, void* stream, const hoist_blas_call& call) {
  const auto run = device::cuda_function<CudaGemm>("hoist_cuda_gemm");
  if (!run) return run.error();
  const int error = (*run)(device, stream, &call);
  if (error == kNoLibrary) {
    return fail(ErrorCode::unavailable,
                "no cuBLAS (libcublas.so.13 or .12): install the CUDA toolkit's libraries");
  }
  if (error <= kCublasFailed) {
    return fail(ErrorCode::internal,
                fmt::format("cuBLAS failed (status {})", kCublasFailed - error));
  }
  return device::cuda_status(error, "gemm");
}

}  // namespace

Status enqueue(device::Device& device, device::StreamHandle stream, const hoist_blas_call& call) {
  switch (device.properties().kind) {
    case DeviceKind::cuda:
      return enqueue_cuda(device.properties().index, stream.pointer, call);
    case DeviceKind::remote:
      return request(static_cast<device::remote::RemoteDevice&>(device), stream, call);
    case DeviceKind::cpu:
      break;
  }
  if (stream.pointer == nullptr) {
    run_reference(call);
    return {};
  }
  return device.call(stream, [call] { run_reference(call); });
}

Status enqueue(const device::Stream& stream, const hoist_blas_call& call) {
  return enqueue(stream.device(), stream.handle(), call);
}

}  // namespace hoist::gemm
