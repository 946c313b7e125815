#include "ops/gemm/reference.h"

#include <complex>
#include <cstddef>
#include <vector>

#include "ops/gemm/plan.h"

namespace hoist::gemm {
namespace {

template <typename T>
struct Scalar {
  static T from(const double (&value)[2]) { return static_cast<T>(value[0]); }
  static T conjugate(T value) { return value; }
  static T real(T value) { return value; }
};

template <typename T>
struct Scalar<std::complex<T>> {
  static std::complex<T> from(const double (&value)[2]) {
    return {static_cast<T>(value[0]), static_cast<T>(value[1])};
  }
  static std::complex<T> conjugate(std::complex<T> value) { return std::conj(value); }
  static std::complex<T> real(std::complex<T> value) { return {value.real(), 0}; }
};

// Elements of a matrix, column-major.
template <typename T>
struct Matrix {
  const T* data;
  int64_t leading;
  T operator()(int64_t row, int64_t column) const { return data[row + column * leading]; }
};

template <typename T>
class Reference {
 public:
  explicit Reference(const hoist_blas_call& call)
      : call_(call),
        a_{static_cast<const T*>(call.a), call.lda},
        b_{static_cast<const T*>(call.b), call.ldb},
        c_(static_cast<T*>(call.c)),
        alpha_(Scalar<T>::from(call.alpha)),
        beta_(Scalar<T>::from(call.beta)) {}

  void run() {
    switch (call_.routine) {
      case HOIST_BLAS_GEMM:
        return product(
            call_.k, [&](int64_t i, int64_t l) { return op(a_, call_.trans_a, i, l); },
            [&](int64_t l, int64_t j) { return op(b_, call_.trans_b, l, j); });
      case HOIST_BLAS_SYMM:
      case HOIST_BLAS_HEMM:
        return symmetric_product();
      case HOIST_BLAS_SYRK:
      case HOIST_BLAS_HERK:
        return rank_update();
      case HOIST_BLAS_TRMM:
        return triangular_product();
      case HOIST_BLAS_TRSM:
        return solve();
    }
  }

 private:
  T& c(int64_t row, int64_t column) { return c_[row + column * call_.ldc]; }

  static T op(const Matrix<T>& matrix, char trans, int64_t row, int64_t column) {
    if (trans == 'N') return matrix(row, column);
    return trans == 'C' ? Scalar<T>::conjugate(matrix(column, row)) : matrix(column, row);
  }

  bool counts(int64_t row, int64_t column) const {
    return call_.upper ? row <= column : row >= column;
  }

  // Element of the symmetric or Hermitian matrix of which one triangle is stored.
  T symmetric(int64_t row, int64_t column) const {
    const bool is_hermitian = call_.routine == HOIST_BLAS_HEMM;
    if (row == column) return is_hermitian ? Scalar<T>::real(a_(row, row)) : a_(row, row);
    if (counts(row, column)) return a_(row, column);
    return is_hermitian ? Scalar<T>::conjugate(a_(column, row)) : a_(column, row);
  }

  // Element of op(A), A triangular.
  T triangular(int64_t row, int64_t column) const {
    if (row == column && call_.unit) return T(1);
    const bool is_plain = call_.trans_a == 'N';
    if (!counts(is_plain ? row : column, is_plain ? column : row)) return T(0);
    return op(a_, call_.trans_a, row, column);
  }
  bool is_upper_op() const { return call_.upper == (call_.trans_a == 'N'); }

  T scaled_c(int64_t row, int64_t column) { return beta_ == T(0) ? T(0) : beta_ * c(row, column); }

  template <typename Left, typename Right>
  void product(int64_t depth, Left left, Right right) {
    for (int64_t j = 0; j < call_.n; ++j) {
      for (int64_t i = 0; i < call_.m; ++i) {
        T sum(0);
        for (int64_t l = 0; l < depth; ++l) sum += left(i, l) * right(l, j);
        c(i, j) = alpha_ * sum + scaled_c(i, j);
      }
    }
  }

  void symmetric_product() {
    const auto a = [&](int64_t i, int64_t j) { return symmetric(i, j); };
    const auto b = [&](int64_t i, int64_t j) { return b_(i, j); };
    if (call_.left) {
      product(call_.m, a, b);
    } else {
      product(call_.n, b, a);
    }
  }

  void rank_update() {
    const bool is_hermitian = call_.routine == HOIST_BLAS_HERK;
    const bool is_plain = call_.trans_a == 'N';
    const auto element = [&](int64_t i, int64_t l) { return is_plain ? a_(i, l) : a_(l, i); };
    for (int64_t j = 0; j < call_.n; ++j) {
      for (int64_t i = 0; i < call_.n; ++i) {
        if (!counts(i, j)) continue;
        T sum(0);
        for (int64_t l = 0; l < call_.k; ++l) {
          const T left = element(i, l);
          const T right = element(j, l);
          if (!is_hermitian) {
            sum += left * right;
          } else if (is_plain) {
            sum += left * Scalar<T>::conjugate(right);
          } else {
            sum += Scalar<T>::conjugate(left) * right;
          }
        }
        c(i, j) = is_hermitian ? hermitian_element(sum, i, j) : alpha_ * sum + scaled_c(i, j);
      }
    }
  }

  // herk's scalars are real: as complex numbers their zeros would make NaN of infinity, and of what
  // the imaginary parts on the diagonal hold, which is not read.
  T hermitian_element(T sum, int64_t row, int64_t column) {
    T value = std::real(alpha_) * sum;
    if (beta_ != T(0)) value += std::real(beta_) * c(row, column);
    return row == column ? Scalar<T>::real(value) : value;
  }

  void triangular_product() {
    const int64_t extent = call_.left ? call_.m : call_.n;
    const int64_t vectors = call_.left ? call_.n : call_.m;
    std::vector<T> result(static_cast<size_t>(extent));
    for (int64_t vector = 0; vector < vectors; ++vector) {
      const auto x = [&](int64_t at) -> T& { return call_.left ? c(at, vector) : c(vector, at); };
      for (int64_t i = 0; i < extent; ++i) {
        T sum(0);
        for (int64_t l = 0; l < extent; ++l) {
          // Only the triangle takes part: a zero of the other one would make NaN of infinity.
          const int64_t row = call_.left ? i : l;
          const int64_t column = call_.left ? l : i;
          if (is_upper_op() ? row > column : row < column) continue;
          sum += triangular(row, column) * x(l);
        }
        result[static_cast<size_t>(i)] = alpha_ * sum;
      }
      for (int64_t i = 0; i < extent; ++i) x(i) = result[static_cast<size_t>(i)];
    }
  }

  void solve() {
    const int64_t extent = call_.left ? call_.m : call_.n;
    const int64_t vectors = call_.left ? call_.n : call_.m;
    // op(A) x = b from the end that knows all but one unknown; X op(A) is its transpose.
    const bool is_backward = is_upper_op() == call_.left;
    for (int64_t vector = 0; vector < vectors; ++vector) {
      const auto x = [&](int64_t at) -> T& { return call_.left ? c(at, vector) : c(vector, at); };
      for (int64_t step = 0; step < extent; ++step) {
        const int64_t i = is_backward ? extent - 1 - step : step;
        T sum = alpha_ * x(i);
        for (int64_t before = 0; before < step; ++before) {
          const int64_t l = is_backward ? extent - 1 - before : before;
          sum -= (call_.left ? triangular(i, l) : triangular(l, i)) * x(l);
        }
        x(i) = call_.unit ? sum : sum / triangular(i, i);
      }
    }
  }

  const hoist_blas_call& call_;
  Matrix<T> a_;
  Matrix<T> b_;
  T* c_;
  T alpha_;
  T beta_;
};

}  // namespace

void run_reference(const hoist_blas_call& call) {
  for (int64_t at = 0; call.batch.count > 1 && at < call.batch.count; ++at) {
    run_reference(product(call, at));
  }
  if (call.batch.count > 1) return;
  switch (call.type) {
    case 's':
      return Reference<float>(call).run();
    case 'd':
      return Reference<double>(call).run();
    case 'c':
      return Reference<std::complex<float>>(call).run();
    default:
      return Reference<std::complex<double>>(call).run();
  }
}

}  // namespace hoist::gemm
