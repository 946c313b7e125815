// Solutions of triangular systems by their residuals. With the unit roundoff u of the type,
//   γ(n) = n u / (1 - n u), four times that if complex,
// substitution in any order leaves, in each element,
//   |alpha b - op(A) x| ≤ γ(n + 2) (|op(A)| |x| + |alpha b|)
// (Higham, Accuracy and Stability of Numerical Algorithms, 2002, theorem 8.5; two steps more for
// the scaling and its sum). A library that multiplies by inverses of blocks on the diagonal leaves
// the norms in the place of the magnitudes, where these blocks are well conditioned (14.1).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/test_seed.h"
#include "device/test_devices.h"
#include "ops/gemm/check.h"
#include "ops/gemm/gemm_cases.h"
#include "ops/gemm/run.h"

namespace hoist::gemm {
namespace {

using Complex = std::complex<double>;
using Wide = long double;  // residuals of doubles are what their roundings leave

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct WideComplex {
  Wide real = 0;
  Wide imaginary = 0;
  Wide magnitude = std::hypot(real, imaginary);
};

enum class Kind : uint8_t {
  even,     // well conditioned: the inverse is of the size of A
  graded,   // such a one whose rows or columns are scaled
  growing,  // entries beside the diagonal as large as those on it: solutions grow with n
};

class Solves : public device::OnDevicesWithPool {
 protected:
  // A system with what is not read of it NaN.
  Problem make(hoist_blas_call call, Kind kind) {
    constexpr int64_t kExtents[] = {1,  2,  3,   15,  16,  17,  31,  32,  33,  63,
                                    64, 65, 127, 128, 129, 200, 255, 256, 257, 300};
    constexpr int64_t kVectors[] = {1, 2, 5, 16, 17, 33};
    const size_t sizes = kind == Kind::growing ? 10 : std::size(kExtents);
    const int64_t extent = kExtents[random_() % sizes];
    const int64_t vectors = kVectors[random_() % std::size(kVectors)];
    call.m = call.left ? extent : vectors;
    call.n = call.left ? vectors : extent;
    call.alpha[0] = uniform(0.5, 2);
    if (is_complex(call)) call.alpha[1] = uniform(-1, 1);
    std::vector<double> rows(static_cast<size_t>(extent) + 2, 1);
    std::vector<double> columns = rows;
    if (kind == Kind::graded) scale(call, rows, columns);
    const double beside = kind == Kind::growing ? 1 : 1 / std::sqrt(static_cast<double>(extent));
    const Plan plan = make_plan(call);
    return with_matrices(call, [&](size_t at, int64_t i, int64_t j) {
      if (use_of(call, plan, at, i, j) == Use::nothing) return Complex(kNan, kNan);
      const Complex noise(uniform(-1, 1), is_complex(call) ? uniform(-1, 1) : 0);
      if (at == 2) return noise;
      const double both = rows[static_cast<size_t>(i)] * columns[static_cast<size_t>(j)];
      return i == j ? both * (1.5 + 0.5 * noise) : both * beside * noise;
    });
  }

  // Rows or columns at random over eight decades; with a diagonal of ones, what is beside it fades
  // over four. Either leaves blocks on the diagonal, inverted, as good as they were.
  void scale(const hoist_blas_call& call, std::vector<double>& rows, std::vector<double>& columns) {
    if (!call.unit) {
      for (double& factor : random_() % 2 == 0 ? rows : columns) {
        factor = std::pow(10, uniform(-4, 4));
      }
      return;
    }
    for (size_t at = 0; at < rows.size(); ++at) {
      const double part = static_cast<double>(at) / static_cast<double>(rows.size());
      rows[at] = std::pow(10, call.upper ? 4 * part : -4 * part);
      columns[at] = 1 / rows[at];
    }
  }

  double uniform(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random_);
  }

  std::mt19937_64 random_{test_seed()};
};
INSTANTIATE_TEST_SUITE_P(Gemm, Solves, device::kTestDevices, device::device_name);

// The systems' matrix and vectors, as op(A) X = B whatever the side.
class Residuals {
 public:
  Residuals(const Problem& solved, const Problem& before)
      : call_(solved.call), extent_(call_.left ? call_.m : call_.n) {
    vectors_ = call_.left ? call_.n : call_.m;
    a_.resize(static_cast<size_t>(extent_ * extent_));
    for (int64_t i = 0; i < extent_; ++i) {
      for (int64_t l = 0; l < extent_; ++l) a_[static_cast<size_t>(i * extent_ + l)] = op(i, l);
    }
    x_ = vectors_of(solved);
    b_ = vectors_of(before);
  }

  // The greatest error against its bound, of elements (componentwise) and of vectors.
  struct Ratios {
    double by_element = 0;
    double by_vector = 0;
  };
  Ratios ratios() const {
    const double unit = (call_.type == 's' || call_.type == 'c' ? 0x1p-24 : 0x1p-53);
    const double steps = static_cast<double>(extent_ + 2) * unit;
    const double gamma = (is_complex(call_) ? 4 : 1) * steps / (1 - steps);
    const Wide norm = norm_of_a();
    const auto at = [](Wide error, Wide bound) {
      return error == 0 ? 0 : static_cast<double>(error / bound);
    };
    Ratios most;
    for (int64_t vector = 0; vector < vectors_; ++vector) {
      Wide error = 0;
      Wide greatest_x = 0;
      Wide greatest_b = 0;
      for (int64_t i = 0; i < extent_; ++i) {
        const Wide b = scaled(b_[place(vector, i)]).magnitude;
        const Row row = residual(i, vector);
        // NaN compares as nothing: it is an error without bound.
        if (!std::isfinite(row.error)) return {.by_element = INFINITY, .by_vector = INFINITY};
        most.by_element = std::max(most.by_element, at(row.error, gamma * (row.magnitudes + b)));
        error = std::max(error, row.error);
        greatest_x = std::max(greatest_x, x_[place(vector, i)].magnitude);
        greatest_b = std::max(greatest_b, b);
      }
      most.by_vector =
          std::max(most.by_vector, at(error, gamma * (norm * greatest_x + greatest_b)));
    }
    return most;
  }

 private:
  struct Row {
    Wide error = 0;
    Wide magnitudes = 0;  // |op(A)| |x|
  };

  size_t place(int64_t vector, int64_t at) const {
    return static_cast<size_t>(vector * extent_ + at);
  }
  WideComplex scaled(WideComplex value) const {
    const Wide real = call_.alpha[0];
    const Wide imaginary = call_.alpha[1];
    return {real * value.real - imaginary * value.imaginary,
            real * value.imaginary + imaginary * value.real};
  }

  // Element of the matrix on the left: of op(A), or of its transpose.
  WideComplex op(int64_t row, int64_t column) const {
    const bool is_turned = (call_.trans_a != 'N') == call_.left;
    const int64_t i = is_turned ? column : row;
    const int64_t j = is_turned ? row : column;
    if (!is_in_triangle(call_, i, j)) return {};
    if (i == j && call_.unit) return {1, 0};
    const auto* const a = static_cast<const std::byte*>(call_.a);
    const Complex value =
        get(a + static_cast<size_t>(i + j * call_.lda) * element_size(call_.type), call_.type);
    return {value.real(), call_.trans_a == 'C' ? -value.imag() : value.imag()};
  }

  std::vector<WideComplex> vectors_of(const Problem& problem) const {
    std::vector<WideComplex> vectors(static_cast<size_t>(vectors_ * extent_));
    for (int64_t vector = 0; vector < vectors_; ++vector) {
      for (int64_t at = 0; at < extent_; ++at) {
        const int64_t i = call_.left ? at : vector;
        const int64_t j = call_.left ? vector : at;
        const size_t offset = static_cast<size_t>(i + j * call_.ldc) * element_size(call_.type);
        const Complex value = get(problem.c.data() + offset, call_.type);
        vectors[place(vector, at)] = {value.real(), value.imag()};
      }
    }
    return vectors;
  }

  Row residual(int64_t i, int64_t vector) const {
    WideComplex sum = scaled(b_[place(vector, i)]);
    Row row;
    for (int64_t l = 0; l < extent_; ++l) {
      const WideComplex a = a_[place(i, l)];
      if (a.magnitude == 0) continue;
      const WideComplex x = x_[place(vector, l)];
      sum.real -= a.real * x.real - a.imaginary * x.imaginary;
      sum.imaginary -= a.real * x.imaginary + a.imaginary * x.real;
      row.magnitudes += a.magnitude * x.magnitude;
    }
    row.error = std::hypot(sum.real, sum.imaginary);
    return row;
  }

  Wide norm_of_a() const {
    Wide most = 0;
    for (int64_t i = 0; i < extent_; ++i) {
      Wide sum = 0;
      for (int64_t l = 0; l < extent_; ++l) sum += a_[place(i, l)].magnitude;
      most = std::max(most, sum);
    }
    return most;
  }

  const hoist_blas_call& call_;
  int64_t extent_;
  int64_t vectors_ = 0;
  std::vector<WideComplex> a_;
  std::vector<WideComplex> x_;
  std::vector<WideComplex> b_;
};

TEST_P(Solves, LeaveResidualsOfRoundings) {
  const bool is_cpu = device().properties().kind == device::DeviceKind::cpu;
  device::Transfer transfer(*pool_);
  Residuals::Ratios most;
  for (const hoist_blas_call& options : calls_of(HOIST_BLAS_TRSM)) {
    for (const Kind kind : {Kind::even, Kind::graded, Kind::growing}) {
      if (kind == Kind::growing && !is_cpu) continue;
      const Problem before = make(options, kind);
      Problem solved = before;
      solved.point();
      ASSERT_EQ(reason_to_pass(solved.call), nullptr);
      const uint64_t panel_bytes = random_() % 2 == 0 ? kPanelBytes : 1 + random_() % 65536;
      const Status done = run(solved.call, device(), transfer, panel_bytes);
      ASSERT_TRUE(done) << done.error().message;
      ASSERT_EQ(std::memcmp(solved.a.data(), before.a.data(), solved.a.size()), 0);
      const Residuals::Ratios ratios = Residuals(solved, before).ratios();
      most.by_element = std::max(most.by_element, ratios.by_element);
      most.by_vector = std::max(most.by_vector, ratios.by_vector);
      ASSERT_LE(ratios.by_vector, 1) << describe(options) << ", kind " << static_cast<int>(kind);
      // The CPU device substitutes.
      if (is_cpu) {
        ASSERT_LE(ratios.by_element, 1) << describe(solved.call);
      }
    }
  }
  // Errors that are far below what they may be would be no test.
  EXPECT_GT(most.by_element, 1e-3);
  RecordProperty("most_by_element", std::to_string(most.by_element));
  RecordProperty("most_by_vector", std::to_string(most.by_vector));
}

}  // namespace
}  // namespace hoist::gemm
