// The operations' inner loops, once for each instruction set. For ops.cc, product.cc and their
// tests.
//
// All arrays are contiguous. An output may be one of the inputs; it overlaps none of them
// otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hoist::graph {

struct ProductShape;  // of product.h

// The names are NumPy's: minimum and maximum give NaN where either is one, fmin and fmax the other.
enum class Binary : uint8_t { add, subtract, multiply, divide, minimum, maximum, fmin, fmax };
inline constexpr size_t kBinaries = 8;

// relu gives NaN for NaN, frelu 0. gelu_tanh is the approximation by tanh, gelu_erf the function.
enum class Unary : uint8_t {
  absolute,
  negative,
  relu,
  frelu,
  sigmoid,
  tanh,
  gelu_tanh,
  gelu_erf,
  softmax
};
inline constexpr size_t kUnaries = 9;

// With a number beside the array.
enum class Scalar : uint8_t { add, multiply };
inline constexpr size_t kScalars = 2;

// The one of at least one element: as the binary operations of these names, one after the other.
enum class Extreme : uint8_t { minimum, maximum, fmin, fmax };
inline constexpr size_t kExtremes = 4;

// Sums over pairs (prediction p, target t), not yet divided: of (p - t)^2, of t ln p, and of
// t ln p + (1 - t) ln(1 - p).
enum class LossSum : uint8_t { squares, cross_entropy, binary_cross_entropy };
inline constexpr size_t kLossSums = 3;

namespace ops_detail {

// Rows and columns of a block of C that stays in registers: columns are counted in vectors.
struct TileSize {
  size_t rows;
  size_t columns;
};

template <typename T>
struct Kernels {
  const char* name;  // "avx512"
  void (*binary[kBinaries])(const T* a, const T* b, T* c, size_t n);
  void (*unary[kUnaries])(const T* a, T* c, size_t n);
  void (*scalar[kScalars])(const T* a, T* c, size_t n, T number);
  void (*clip)(const T* a, T* c, size_t n, T low, T high);   // NaN stays
  void (*fclip)(const T* a, T* c, size_t n, T low, T high);  // NaN becomes low
  T (*sum)(const T* a, size_t n);
  T (*extreme[kExtremes])(const T* a, size_t n);
  T (*loss_sum[kLossSums])(const T* predictions, const T* targets, size_t n);
  T (*dot)(const T* a, const T* b, size_t n);
  // C += A B, or C = A B where `overwrites`, for up to tile.rows rows and tile.columns columns of
  // C. A(i, p) is a[i * a_row + p * a_step], B(p, j) b[p * b_row + j], C(i, j) c[i * c_row + j].
  void (*tile)(const T* a, size_t a_row, size_t a_step, const T* b, size_t b_row, T* c,
               size_t c_row, size_t rows, size_t columns, size_t depth, bool overwrites);
  TileSize tile_size;
};

// What this processor can run, widest vectors first.
std::span<const Kernels<float>* const> runnable_f32();
const Kernels<float>& kernels_f32();

// As multiply() of product.h, with these.
void multiply(const Kernels<float>& kernels, const ProductShape& shape, const float* a,
              const float* b, float* c);

}  // namespace ops_detail
}  // namespace hoist::graph
