#include "tensors/transform/low_rank.h"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "tensors/transform/product.h"
#include "tensors/transform/seeded_rng.h"

namespace hoist::tensors {
namespace {

constexpr uint64_t kOversampling = 10;
constexpr int kPowerIterations = 2;
constexpr double kSmallestSigma = 1e-6;  // of the largest

using Floats = std::vector<float>;

MatrixView view(std::span<const float> values, size_t columns) {
  return {values.data(), values.size() / columns, columns, columns};
}

Floats product(const MatrixView& a, const MatrixView& b, ThreadPool* pool) {
  Floats c(a.rows * b.columns);
  multiply(a, b, c, pool);
  return c;
}

Floats transposed(const MatrixView& from) {
  Floats to(from.rows * from.columns);
  transpose(from, to);
  return to;
}

// Replaces rows by orthonormal ones that span them. No more rows than columns.
void orthonormalise_rows(Floats& rows, size_t columns) {
  const auto length = static_cast<Eigen::Index>(columns);
  const Eigen::Index count = static_cast<Eigen::Index>(rows.size()) / length;
  // Row by row here is column by column to Eigen.
  Eigen::Map<Eigen::MatrixXf> matrix(rows.data(), length, count);
  const Eigen::HouseholderQR<Eigen::MatrixXf> decomposition(matrix);
  matrix = decomposition.householderQ() * Eigen::MatrixXf::Identity(length, count);
}

// Orthonormal rows, of the length of a column, near the space of the largest singular vectors.
Floats range_of(const MatrixView& matrix, size_t count, uint64_t seed, ThreadPool* pool) {
  SeededRng rng(seed, streams::kProbe);
  Floats probe(matrix.columns * count);
  for (float& value : probe) value = static_cast<float>(rng.next_normal());
  for (int iteration = 0;; ++iteration) {
    const Floats image = product(matrix, view(probe, count), pool);
    Floats range = transposed(view(image, count));
    orthonormalise_rows(range, matrix.rows);
    if (iteration == kPowerIterations) return range;
    Floats back = product(view(range, matrix.rows), matrix, pool);
    orthonormalise_rows(back, matrix.columns);
    probe = transposed(view(back, matrix.columns));
  }
}

// Rows times rows, in double precision.
Eigen::MatrixXd gram(const MatrixView& rows) {
  constexpr size_t kStep = 512;
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto count = static_cast<Eigen::Index>(rows.rows);
  const Eigen::Map<const Rows> all(rows.values, count, static_cast<Eigen::Index>(rows.columns));
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(count, count);
  for (size_t first = 0; first < rows.columns; first += kStep) {
    const auto width = static_cast<Eigen::Index>(std::min(kStep, rows.columns - first));
    const Eigen::MatrixXd step =
        all.middleCols(static_cast<Eigen::Index>(first), width).cast<double>();
    products.selfadjointView<Eigen::Lower>().rankUpdate(step);
  }
  return products;
}

// Eigenvectors of the largest eigenvalues, a row each.
Floats leading_vectors(const Eigen::MatrixXd& matrix, uint64_t rank) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  const Eigen::Index size = matrix.rows();
  const double largest = solver.eigenvalues()(size - 1);
  Floats rows;
  for (Eigen::Index k = size; k > 0 && rank > 0; --k, --rank) {
    const double eigenvalue = solver.eigenvalues()(k - 1);
    if (!(eigenvalue > largest * kSmallestSigma * kSmallestSigma)) break;
    for (Eigen::Index i = 0; i < size; ++i) {
      rows.push_back(static_cast<float>(solver.eigenvectors()(i, k - 1)));
    }
  }
  return rows;
}

// Divides a row by its norm and returns that.
double normalise_row(std::span<float> row) {
  double square = 0;
  for (const double value : row) square += value * value;
  const double norm = std::sqrt(square);
  for (float& value : row) value = static_cast<float>(value / norm);
  return norm;
}

// The matrix has no more rows than columns.
SingularComponents components_of(const MatrixView& matrix, uint64_t rank, uint64_t seed,
                                 ThreadPool* pool) {
  const size_t directions = std::min<uint64_t>(matrix.rows, rank + kOversampling);
  const bool whole = directions == matrix.rows;
  Floats range;
  Floats image;  // of the range; the matrix itself where that is whole
  if (!whole) {
    range = range_of(matrix, directions, seed, pool);
    image = product(view(range, matrix.rows), matrix, pool);
  }
  const MatrixView small = whole ? matrix : view(image, matrix.columns);
  const Floats vectors = leading_vectors(gram(small), rank);

  SingularComponents components;
  if (vectors.empty()) return components;
  components.u =
      whole ? vectors : product(view(vectors, directions), view(range, matrix.rows), pool);
  components.v = product(view(vectors, directions), small, pool);
  for (size_t k = 0; k < vectors.size() / directions; ++k) {
    normalise_row(std::span(components.u).subspan(k * matrix.rows, matrix.rows));
    components.sigma.push_back(static_cast<float>(
        normalise_row(std::span(components.v).subspan(k * matrix.columns, matrix.columns))));
  }
  return components;
}

}  // namespace

uint64_t paying_rank(MatrixShape matrix, uint64_t max_rank) {
  const uint64_t elements = matrix.rows * matrix.columns;
  return std::min(max_rank, elements / (matrix.rows + matrix.columns));
}

SingularComponents singular_components(std::span<const float> matrix, MatrixShape shape,
                                       uint64_t rank, uint64_t seed, ThreadPool* pool) {
  const MatrixView rows = view(matrix, shape.columns);
  if (shape.rows <= shape.columns) return components_of(rows, rank, seed, pool);
  const Floats turned = transposed(rows);
  SingularComponents components = components_of(view(turned, shape.rows), rank, seed, pool);
  std::swap(components.u, components.v);
  return components;
}

}  // namespace hoist::tensors
