#include "tensors/tensor.h"

namespace hoist::tensors {

MatrixShape matrix_shape(std::span<const uint64_t> shape) {
  if (shape.empty()) return {1, 1};
  if (shape.size() == 1) return {1, shape[0]};
  uint64_t columns = 1;
  for (const uint64_t dimension : shape.subspan(1)) columns *= dimension;
  return {shape[0], columns};
}

}  // namespace hoist::tensors
