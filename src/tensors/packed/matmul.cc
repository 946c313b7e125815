#include "tensors/packed/matmul.h"

#include <array>
#include <memory>

#include "array/convert.h"
#include "base/threads.h"
#include "tensors/packed/pack.h"

namespace hoist::tensors::packed {
namespace {

using array::bf16_to_f32;
using array::f32_to_bf16;

// Sums side by side of a product of two rows, added up at the end: whole vectors of them.
constexpr size_t kSums = 16;

float product(const float* weights, const uint16_t* x, size_t columns) {
  std::array<float, kSums> sums{};
  size_t i = 0;
  for (; i + kSums <= columns; i += kSums) {
    for (size_t k = 0; k < kSums; ++k) sums[k] += weights[i + k] * bf16_to_f32(x[i + k]);
  }
  for (size_t k = 0; i + k < columns; ++k) sums[k] += weights[i + k] * bf16_to_f32(x[i + k]);
  for (size_t half = kSums / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  return sums[0];
}

void multiply_block(const View& view, uint32_t block, const Operands& operands) {
  const Shape& shape = view.shape;
  const size_t stride = size_t{shape.row_tiles()} * kTileColumns;
  const auto lines = std::make_unique_for_overwrite<uint16_t[]>(kTileRows * stride);
  const auto weights = std::make_unique_for_overwrite<float[]>(shape.columns);
  unpack_block(view, block, lines.get());
  for (uint32_t r = 0; r < kTileRows && block * kTileRows + r < shape.rows; ++r) {
    const uint32_t row = block * kTileRows + r;
    for (uint32_t i = 0; i < shape.columns; ++i) weights[i] = bf16_to_f32(lines[r * stride + i]);
    const float bias = operands.bias == nullptr ? 0 : bf16_to_f32(operands.bias[row]);
    for (uint64_t i = 0; i < operands.count; ++i) {
      const float sum = product(weights.get(), operands.x + i * operands.x_stride, shape.columns);
      const float biased = operands.bias == nullptr ? sum : sum + bias;
      operands.y[i * operands.y_stride + row] = f32_to_bf16(activate(biased, operands.activation));
    }
  }
}

}  // namespace

Status check_operands(const Shape& shape, const Operands& operands) {
  if (static_cast<uint32_t>(operands.activation) >= kActivations) {
    return fail(ErrorCode::invalid_argument, "no such activation");
  }
  const bool is_alone = operands.count <= 1;
  if ((!is_alone && operands.x_stride < shape.columns) ||
      (!is_alone && operands.y_stride < shape.rows)) {
    return fail(ErrorCode::invalid_argument, "rows of a product's operands lie in one another");
  }
  return {};
}

Status matmul(const View& view, const Operands& operands) {
  if (Status checked = check_operands(view.shape, operands); !checked) return checked;
  if (operands.count == 0) return {};
  ThreadPool::process().parallel_for(view.shape.row_blocks(), [&](size_t block) {
    multiply_block(view, static_cast<uint32_t>(block), operands);
  });
  return {};
}

}  // namespace hoist::tensors::packed
