#include "tensors/transform/cosine_transform.h"

#include <fmt/format.h>

#include "codec/dct.h"

namespace hoist::tensors {
namespace {

enum class Direction { forward, inverse };

Status transform_sequence(std::span<float> values, Direction direction) {
  const Result<codec::Dct> dct = codec::Dct::create(values.size());
  if (!dct) return dct.error();
  return direction == Direction::forward ? dct->forward(values) : dct->inverse(values);
}

Status transform_matrix(std::span<float> matrix, MatrixShape shape, ThreadPool* pool,
                        Direction direction) {
  if (matrix.empty() || shape.rows == 0 || matrix.size() % shape.rows != 0 ||
      matrix.size() / shape.rows != shape.columns) {
    return fail(ErrorCode::invalid_argument, fmt::format("cosine transform of {} x {}: {} values",
                                                         shape.rows, shape.columns, matrix.size()));
  }
  if (shape.rows == 1 || shape.columns == 1) return transform_sequence(matrix, direction);
  const Result<codec::Dct2d> dct = codec::Dct2d::create(shape.rows, shape.columns);
  if (!dct) return dct.error();
  return direction == Direction::forward ? dct->forward(matrix, pool) : dct->inverse(matrix, pool);
}

}  // namespace

Status dct_2d(std::span<float> matrix, MatrixShape shape, ThreadPool* pool) {
  return transform_matrix(matrix, shape, pool, Direction::forward);
}

Status idct_2d(std::span<float> matrix, MatrixShape shape, ThreadPool* pool) {
  return transform_matrix(matrix, shape, pool, Direction::inverse);
}

}  // namespace hoist::tensors
