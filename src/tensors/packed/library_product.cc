#include "tensors/packed/library_product.h"

#include <algorithm>
#include <array>
#include <list>
#include <mutex>

#include "device/buffer.h"
#include "ops/gemm/planned_product.h"

namespace hoist::tensors::packed {
namespace {

using gemm::PlannedProduct;
using gemm::ProductShape;

constexpr uint64_t kMostWorkspace = 32 << 20;
constexpr size_t kMostPlans = 64;
constexpr uint32_t kVectorBytes = 16;
constexpr uint32_t kElementBytes = 2;

// The plans of all devices; the last used first.
class Plans {
 public:
  static Plans& process() {
    static Plans* const plans = new Plans;  // devices outlive what is destroyed at exit
    return *plans;
  }

  Result<PlannedProduct> find(device::Device& device, const ProductShape& shape) {
    const Key key = {
        device.properties().index, shape.rows,     shape.columns, shape.depth, shape.a.row,
        shape.result_row,          shape.alignment};
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(plans_.begin(), plans_.end(),
                                    [&](const Plan& plan) { return plan.key == key; });
    if (found != plans_.end()) {
      plans_.splice(plans_.begin(), plans_, found);
      return plans_.front().product;
    }
    Result<PlannedProduct> made = PlannedProduct::plan(device, shape);
    if (!made) return made;
    plans_.push_front({key, *made});
    if (plans_.size() > kMostPlans) plans_.pop_back();
    return made;
  }

 private:
  using Key = std::array<int64_t, 7>;
  struct Plan {
    Key key;
    PlannedProduct product;
  };

  std::mutex mutex_;
  std::list<Plan> plans_;
};

}  // namespace

Status library_product(const device::Stream& stream, const uint16_t* weights, const Shape& shape,
                       const Operands& operands) {
  ProductShape product;
  product.rows = static_cast<int64_t>(operands.count);
  product.columns = shape.rows;
  product.depth = shape.columns;
  product.a = {static_cast<int64_t>(operands.x_stride), 1, 0};
  product.b = {1, shape.columns, 0};
  product.result_row = static_cast<int64_t>(operands.y_stride);
  product.factors = ProductShape::bf16;
  product.result = ProductShape::bf16;
  product.most_workspace = kMostWorkspace;
  const uintptr_t all = reinterpret_cast<uintptr_t>(operands.x) |
                        reinterpret_cast<uintptr_t>(operands.y) |
                        reinterpret_cast<uintptr_t>(weights);
  product.alignment = all % kVectorBytes == 0 ? kVectorBytes : kElementBytes;
  const Result<PlannedProduct> plan = Plans::process().find(stream.device(), product);
  if (!plan) return plan.error();
  Result<device::Buffer> workspace = device::Buffer();
  if (plan->workspace() != 0) {
    workspace = device::Buffer::allocate(stream, plan->workspace());
    if (!workspace) return workspace.error();
  }
  return plan->run(stream, {operands.x, weights, operands.y, workspace->data()});
}

}  // namespace hoist::tensors::packed
