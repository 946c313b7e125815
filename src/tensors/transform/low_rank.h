// Low-rank encoding: the largest singular components of the matrix, rows x columns; format.h has
// the bytes.
//
// They come from the randomised range finder with two power iterations and ten more directions than
// asked for (Halko, Martinsson and Tropp, "Finding structure with randomness", SIAM Review 53,
// 2011), exactly where the matrix has no more rows or columns than that. Stored vectors are rounded
// to `precision`; sigma is then fitted anew, so that a component's energy, sigma^2 |u|^2 |v|^2, is
// exactly what it takes from the error.
//
// As many components as asked for, but never more numbers than the matrix has elements, and none
// below 1e-6 of the largest: a matrix of low rank is stored with that rank. A seed and an input
// give the same bytes on machines of the same instruction set, with any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/threads.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

// Components, largest first. Row k of `u` (count x rows) and of `v` (count x columns) are
// orthonormal.
struct SingularComponents {
  std::vector<float> sigma;
  std::vector<float> u;
  std::vector<float> v;
  size_t count() const { return sigma.size(); }
};

// Components that pay: at most `max_rank`, at most rows * columns / (rows + columns).
uint64_t paying_rank(MatrixShape matrix, uint64_t max_rank);

// At most `rank` components. The values are finite, and their squares are far from overflow.
SingularComponents singular_components(std::span<const float> matrix, MatrixShape shape,
                                       uint64_t rank, uint64_t seed, ThreadPool* pool = nullptr);

}  // namespace hoist::tensors
