// Products of matrices on a GPU, by cuBLASLt.
#pragma once

#include <memory>

#include "device/stream.h"
#include "ops/gemm/planned_product_call.h"

namespace hoist::gemm {

class PlannedProduct {
 public:
  // `unavailable`: no cuBLASLt is installed.
  static Result<PlannedProduct> plan(device::Device& device, const ProductShape& shape);

  // Bytes that the workspace must have.
  uint64_t workspace() const { return workspace_; }
  Status run(const device::Stream& stream, const ProductMemory& memory) const;

 private:
  PlannedProduct(std::shared_ptr<void> plan, uint64_t workspace)
      : plan_(std::move(plan)), workspace_(workspace) {}

  std::shared_ptr<void> plan_;
  uint64_t workspace_;
};

}  // namespace hoist::gemm
