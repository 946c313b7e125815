#include "ops/gemm/planned_product.h"

#include <fmt/core.h>

#include "device/kernel.h"

namespace hoist::gemm {
namespace {

constinit const device::Kernel<const ProductShape*, void**, uint64_t*> make_plan(
    "hoist_cuda_product_plan", "plan a product");
constinit const device::Kernel<void*, const ProductMemory*> run_plan("hoist_cuda_product_run",
                                                                     "multiply matrices");
constinit const device::Kernel<void*> drop_plan("hoist_cuda_product_drop", "drop a product");

Status status_of(int error) {
  if (error == 0) return {};
  if (error == kNoLibrary) {
    return fail(ErrorCode::unavailable,
                "no cuBLASLt (libcublasLt.so.13 or .12): install the CUDA toolkit's libraries");
  }
  if (error <= kLibraryFailed) {
    return fail(ErrorCode::internal,
                fmt::format("cuBLASLt failed (status {})", kLibraryFailed - error));
  }
  return device::cuda_status(error, "multiply matrices");
}

}  // namespace

Result<PlannedProduct> PlannedProduct::plan(device::Device& device, const ProductShape& shape) {
  void* made = nullptr;
  uint64_t workspace = 0;
  const Result<int> error = make_plan.call(device, {}, &shape, &made, &workspace);
  if (!error) return error.error();
  if (Status planned = status_of(*error); !planned) return planned.error();
  return PlannedProduct(
      std::shared_ptr<void>(made, [&device](void* it) { (void)drop_plan.launch(device, {}, it); }),
      workspace);
}

Status PlannedProduct::run(const device::Stream& stream, const ProductMemory& memory) const {
  const Result<int> error = run_plan.call(stream.device(), stream.handle(), plan_.get(), &memory);
  if (!error) return error.error();
  return status_of(*error);
}

}  // namespace hoist::gemm
