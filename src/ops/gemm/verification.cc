#include "ops/gemm/verification.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <new>
#include <span>
#include <vector>

#include "base/spare_memory.h"
#include "ops/gemm/matrix_ends.h"
#include "ops/gemm/plan.h"

namespace hoist::gemm {
namespace {

SubMatrix matrix_of(const Operand& operand, size_t element) {
  return {.data = operand.data,
          .rows = operand.rows,
          .columns = operand.columns,
          .leading = operand.leading,
          .element = element,
          .count = operand.count,
          .items = operand.items,
          .stride = operand.stride};
}

template <typename T>
bool is_finite(T value) {
  return std::isfinite(std::real(value)) && std::isfinite(std::imag(value));
}

template <typename T>
class Comparison {
 public:
  // `c`: what C held before the call, and later, when is_same() is asked, what is expected there.
  Comparison(const hoist_blas_call& call, const T* c)
      : call_(call), expected_(c), greatest_before_(greatest()) {
    const Plan plan = make_plan(call);
    a_ = plan.operands[0];
    b_ = plan.operands[1];
  }

  bool is_same() const {
    const double bound = product_bound();
    const auto* const c = static_cast<const T*>(call_.c);
    for (int64_t j = 0; j < call_.n; ++j) {
      for (int64_t i = 0; i < call_.m; ++i) {
        if (!counts(i, j)) continue;
        const T expected = expected_[i + j * call_.m];
        const T actual = c[i + j * call_.ldc];
        if (!is_finite(expected) || !is_finite(actual)) {
          if (is_finite(expected) != is_finite(actual)) return false;
          continue;
        }
        const double difference =
            std::abs(std::complex<double>(actual) - std::complex<double>(expected));
        const double scale = std::abs(std::complex<double>(expected));
        if (!(difference <= bound + 4 * kUnit * scale)) return false;
      }
    }
    return true;
  }

 private:
  using Real = decltype(std::real(T()));
  static constexpr double kUnit = std::numeric_limits<Real>::epsilon();
  // TF32 keeps ten bits behind the point and cuts the rest off: it does not round.
  static constexpr double kTf32Unit = 0x1p-10;

  // The greatest magnitude that the call reads of C.
  double greatest() const {
    double most = 0;
    for (int64_t j = 0; j < call_.n; ++j) {
      for (int64_t i = 0; i < call_.m; ++i) {
        std::complex<double> value(expected_[i + j * call_.m]);
        if (call_.routine == HOIST_BLAS_HERK && i == j) value = value.real();
        if (counts(i, j) && is_finite(value)) most = std::max(most, std::abs(value));
      }
    }
    return most;
  }

  bool counts(int64_t row, int64_t column) const {
    if (call_.routine != HOIST_BLAS_SYRK && call_.routine != HOIST_BLAS_HERK) return true;
    return call_.upper ? row <= column : row >= column;
  }

  // What the call reads of an element: the rest of a matrix of which a triangle is stored may be
  // anything.
  std::complex<double> read(const Operand& operand, int64_t row, int64_t column) const {
    const std::complex<double> value(
        reinterpret_cast<const T*>(operand.data)[row + column * operand.leading]);
    const bool is_whole = call_.routine == HOIST_BLAS_GEMM || call_.routine == HOIST_BLAS_SYRK ||
                          call_.routine == HOIST_BLAS_HERK || &operand != &a_;
    if (is_whole) return value;
    if (call_.upper ? row > column : row < column) return 0;
    if (row != column) return value;
    if (call_.routine == HOIST_BLAS_TRMM && call_.unit) return 1;
    return call_.routine == HOIST_BLAS_HEMM ? value.real() : value;
  }

  // The greatest Euclidean norm of a row or a column, without what is not finite: no result that is
  // has such a factor, but beside a 0 that was skipped.
  double greatest_norm(const Operand& operand, bool of_rows) const {
    std::vector<double> sums(static_cast<size_t>(of_rows ? operand.rows : operand.columns));
    for (int64_t j = 0; j < operand.columns; ++j) {
      for (int64_t i = 0; i < operand.rows; ++i) {
        const std::complex<double> value = read(operand, i, j);
        if (is_finite(value)) sums[static_cast<size_t>(of_rows ? i : j)] += std::norm(value);
      }
    }
    return std::sqrt(*std::max_element(sums.begin(), sums.end()));
  }

  // A symmetric or triangular matrix of which a half is stored has rows and columns of both halves.
  double norm_of_either(const Operand& operand) const {
    return std::hypot(greatest_norm(operand, true), greatest_norm(operand, false));
  }

  double product_bound() const {
    double norms = 0;
    double depth = static_cast<double>(call_.k);
    switch (call_.routine) {
      case HOIST_BLAS_GEMM:
        norms = greatest_norm(a_, call_.trans_a == 'N') * greatest_norm(b_, call_.trans_b != 'N');
        break;
      case HOIST_BLAS_SYRK:
      case HOIST_BLAS_HERK:
        norms = std::pow(greatest_norm(a_, call_.trans_a == 'N'), 2);
        break;
      default:
        depth = static_cast<double>(call_.left ? call_.m : call_.n);
        norms = norm_of_either(a_) * greatest_vector();
        break;
    }
    const double alpha = std::hypot(call_.alpha[0], call_.alpha[1]);
    const double beta = std::hypot(call_.beta[0], call_.beta[1]);
    const double steps = (depth + 2) * kUnit;
    const double complex = sizeof(T) == sizeof(Real) ? 1 : 4;
    const double inputs = call_.may_use_tf32 ? 2 * kTf32Unit + kTf32Unit * kTf32Unit : 0;
    const double bound = 2 * complex *
                         ((steps / (1 - steps)) * (alpha * norms + beta * greatest_before_) +
                          inputs * alpha * norms);
    return std::isnan(bound) ? std::numeric_limits<double>::infinity() : bound;
  }

  // The greatest norm of a column (left) or row of the matrix that A is multiplied with.
  double greatest_vector() const {
    if (b_.rows > 0) return greatest_norm(b_, !call_.left);
    return greatest_before_ * std::sqrt(static_cast<double>(call_.left ? call_.m : call_.n));
  }

  const hoist_blas_call& call_;
  const T* expected_;
  const double greatest_before_;
  Operand a_;
  Operand b_;
};

// Compares all products. `kept` holds the original's whole result afterwards.
template <typename T>
bool compare(const hoist_blas_call& call, std::byte* kept, size_t bytes,
             const hoist_blas_original& original) {
  bool is_same = true;
  for (int64_t at = 0; at < product_count(call); ++at) {
    const hoist_blas_call one = product(call, at);
    const Comparison<T> comparison(one, reinterpret_cast<const T*>(kept));
    hoist_blas_call again = one;
    again.c = kept;
    again.ldc = call.m;
    original.run(&original, &again);
    is_same &= comparison.is_same();
    kept += bytes;
  }
  return is_same;
}

}  // namespace

Verification::Verification(const hoist_blas_call& call)
    : call_(call), element_(element_size(call.type)) {
  if (call.routine == HOIST_BLAS_TRSM) {
    left_out_ = "trsm";
    return;
  }
  const SubMatrix c = matrix_of(make_plan(call).operands[2], element_);
  if (has_spare_memory(c.bytes())) kept_.reset(new (std::nothrow) std::byte[c.bytes()]);
  if (kept_ == nullptr) {
    left_out_ = "no room";
    return;
  }
  (void)MatrixReader(c).read(0, std::span(kept_.get(), c.bytes()));
}

bool Verification::is_same(const hoist_blas_original& original) {
  const size_t bytes = static_cast<size_t>(call_.m * call_.n) * element_;
  switch (call_.type) {
    case 's':
      return compare<float>(call_, kept_.get(), bytes, original);
    case 'd':
      return compare<double>(call_, kept_.get(), bytes, original);
    case 'c':
      return compare<std::complex<float>>(call_, kept_.get(), bytes, original);
    default:
      return compare<std::complex<double>>(call_, kept_.get(), bytes, original);
  }
}

void Verification::restore() {
  SubMatrix c = matrix_of(make_plan(call_).operands[2], element_);
  if (call_.routine == HOIST_BLAS_SYRK || call_.routine == HOIST_BLAS_HERK) {
    c.region = call_.upper ? Region::upper : Region::lower;
  }
  (void)MatrixWriter(c).write(0, std::span(kept_.get(), c.bytes()));
}

}  // namespace hoist::gemm
