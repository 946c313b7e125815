// Makhoul's algorithm ("A fast cosine transform in one and two dimensions", IEEE Trans. ASSP 28,
// 1980): the even values in order and the odd ones backwards make a sequence v of the same length
// whose Fourier transform V, turned by a quarter-sample phase, is the cosine transform:
//   X[k] = s(k) Re(exp(-i pi k / 2N) V[k]).
// Two real sequences a and b travel as the real and imaginary part of one complex sequence; since
// the spectrum of a real sequence is symmetric, they come apart again afterwards.
#include "codec/dct.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numbers>
#include <numeric>

namespace hoist::codec {
namespace {

// A panel's rows are whole cache lines of a matrix.
constexpr size_t kPanelColumns = 16;
constexpr size_t kTaskFloats = size_t{1} << 16;
constexpr int kMaxShift = 126;  // 2^126 and its inverse are normal floats

// In double precision, where no square of a float overflows or vanishes. Eight sums become vectors.
double norm_of(const float* values, size_t size) {
  double sums[8] = {};
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    for (size_t lane = 0; lane < 8; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  }
  for (; i < size; ++i) sums[0] += static_cast<double>(values[i]) * values[i];
  return std::sqrt(std::accumulate(std::begin(sums), std::end(sums), 0.0));
}

void run_tasks(ThreadPool* pool, size_t count, const std::function<void(size_t)>& task) {
  if (pool != nullptr) {
    pool->parallel_for(count, task);
  } else {
    for (size_t i = 0; i < count; ++i) task(i);
  }
}

}  // namespace

Result<Dct> Dct::create(size_t length) {
  Result<Fft> fft = Fft::create(length);
  if (!fft) return fft.error();
  return Dct(std::move(*fft));
}

Dct::Dct(Fft fft) : fft_(std::move(fft)), rotation_(fft_.length() / 2 + 1) {
  const double n = static_cast<double>(length());
  for (size_t k = 0; k < rotation_.size(); ++k) {
    const double half_scale = std::sqrt((k == 0 ? 1.0 : 2.0) / n) / 2;
    const double angle = std::numbers::pi * static_cast<double>(k) / (2 * n);
    rotation_[k] = {static_cast<float>(half_scale * std::cos(angle)),
                    static_cast<float>(half_scale * std::sin(angle))};
  }
}

// Norms near 1 keep a Fourier transform away from the largest and the smallest floats, and equal
// ones keep the rounding errors of one sequence from mattering to the other when they come apart.
Dct::Sequence Dct::sequence(float* values) const {
  const double norm = norm_of(values, length());
  if (!std::isfinite(norm)) return {values, Kind::alone};
  if (norm == 0) return {values, Kind::zero};
  const int wanted = -std::ilogb(norm);
  const int shift = std::clamp(wanted, -kMaxShift, kMaxShift);
  const Kind kind = shift == wanted ? Kind::any : Kind::alone;
  return {values, kind, std::ldexp(1.0f, shift), std::ldexp(1.0f, -shift)};
}

// rotation_[n - k] is rotation_[k] with its parts exchanged, so k and n - k are done together.
void Dct::forward_pair(const Sequence& a, const Sequence& b, Workspace& work) const {
  const size_t n = length();
  Complex* const in = work.in.data();
  for (size_t i = 0; i < n / 2; ++i) {
    in[i] = {a.values[2 * i] * a.scale, b.values[2 * i] * b.scale};
    in[n - 1 - i] = {a.values[2 * i + 1] * a.scale, b.values[2 * i + 1] * b.scale};
  }
  if (n % 2 != 0) in[n / 2] = {a.values[n - 1] * a.scale, b.values[n - 1] * b.scale};
  fft_.forward(in, work.out.data(), work.fft.data());

  const Complex* const out = work.out.data();
  a.values[0] = 2 * rotation_[0].re * out[0].re * a.unscale;
  b.values[0] = 2 * rotation_[0].re * out[0].im * b.unscale;
  for (size_t k = 1; k <= n / 2; ++k) {
    const Complex w = rotation_[k];
    const Complex z = out[k];
    const Complex mirror = out[n - k];
    const Complex va = {z.re + mirror.re, z.im - mirror.im};
    const Complex vb = {z.im + mirror.im, mirror.re - z.re};
    a.values[n - k] = (w.im * va.re - w.re * va.im) * a.unscale;
    b.values[n - k] = (w.im * vb.re - w.re * vb.im) * b.unscale;
    a.values[k] = (w.re * va.re + w.im * va.im) * a.unscale;
    b.values[k] = (w.re * vb.re + w.im * vb.im) * b.unscale;
  }
}

// The steps of forward_pair() backwards. Real and imaginary part change places on both sides of the
// Fourier transform, which makes it the inverse one.
void Dct::inverse_pair(const Sequence& a, const Sequence& b, Workspace& work) const {
  const size_t n = length();
  Complex* const in = work.in.data();
  in[0] = {2 * rotation_[0].re * (b.values[0] * b.scale),
           2 * rotation_[0].re * (a.values[0] * a.scale)};
  for (size_t k = 1; k <= n / 2; ++k) {
    const Complex w = rotation_[k];
    const Complex pa = {a.values[k] * a.scale, a.values[n - k] * a.scale};
    const Complex pb = {b.values[k] * b.scale, b.values[n - k] * b.scale};
    const Complex va = {w.re * pa.re + w.im * pa.im, w.im * pa.re - w.re * pa.im};
    const Complex vb = {w.re * pb.re + w.im * pb.im, w.im * pb.re - w.re * pb.im};
    in[n - k] = {vb.re - va.im, va.re + vb.im};
    in[k] = {va.im + vb.re, va.re - vb.im};
  }
  fft_.forward(in, work.out.data(), work.fft.data());

  const Complex* const out = work.out.data();
  const auto put = [&](size_t to, const Complex& value) {
    a.values[to] = value.im * a.unscale;
    b.values[to] = value.re * b.unscale;
  };
  for (size_t i = 0; i < n / 2; ++i) {
    put(2 * i, out[i]);
    put(2 * i + 1, out[n - 1 - i]);
  }
  if (n % 2 != 0) put(n - 1, out[n / 2]);
}

void Dct::alone(const Sequence& a, TransformPair transform, Workspace& work) const {
  if (a.kind == Kind::zero) return;
  work.zeros.assign(length(), 0.0f);
  (this->*transform)(a, {work.zeros.data(), Kind::zero}, work);
}

Status Dct::each(std::span<float> values, TransformPair transform) const {
  const size_t n = length();
  if (values.size() % n != 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("DCT of length {}: {} values are no whole number of sequences", n,
                            values.size()));
  }
  Workspace work = {std::vector<Complex>(n),
                    std::vector<Complex>(n),
                    std::vector<Complex>(fft_.workspace_size()),
                    {}};
  const size_t count = values.size() / n;
  for (size_t i = 0; i + 1 < count; i += 2) {
    const Sequence a = sequence(values.data() + i * n);
    const Sequence b = sequence(values.data() + (i + 1) * n);
    if (a.kind == Kind::any && b.kind == Kind::any) {
      (this->*transform)(a, b, work);
    } else {
      alone(a, transform, work);
      alone(b, transform, work);
    }
  }
  if (count % 2 != 0) alone(sequence(values.data() + (count - 1) * n), transform, work);
  return {};
}

Status Dct::forward(std::span<float> values) const { return each(values, &Dct::forward_pair); }

Status Dct::inverse(std::span<float> values) const { return each(values, &Dct::inverse_pair); }

Result<Dct2d> Dct2d::create(size_t rows, size_t columns) {
  Result<Dct> row = Dct::create(columns);
  if (!row) return row.error();
  Result<Dct> column = Dct::create(rows);
  if (!column) return column.error();
  return Dct2d(std::move(*row), std::move(*column));
}

Status Dct2d::forward(std::span<float> matrix, ThreadPool* pool) const {
  return run(matrix, pool, &Dct::forward);
}

Status Dct2d::inverse(std::span<float> matrix, ThreadPool* pool) const {
  return run(matrix, pool, &Dct::inverse);
}

Status Dct2d::run(std::span<float> matrix, ThreadPool* pool, Transform transform) const {
  if (matrix.size() != rows() * columns()) {
    return fail(ErrorCode::invalid_argument, fmt::format("DCT of {} x {}: the matrix has {} values",
                                                         rows(), columns(), matrix.size()));
  }
  // Sizes are multiples of the lengths: no transform below can fail. An even number of rows a task,
  // so that rows are paired as they would be in one.
  const size_t task_rows = std::max<size_t>(2, kTaskFloats / columns() / 2 * 2);
  run_tasks(pool, (rows() + task_rows - 1) / task_rows, [&](size_t i) {
    const size_t count = std::min(task_rows, rows() - i * task_rows);
    (void)(row_.*transform)(matrix.subspan(i * task_rows * columns(), count * columns()));
  });
  run_tasks(pool, (columns() + kPanelColumns - 1) / kPanelColumns, [&](size_t i) {
    const size_t first = i * kPanelColumns;
    run_panel(matrix.data(), first, std::min(kPanelColumns, columns() - first), transform);
  });
  return {};
}

// Columns first … first + width - 1: turned into rows of a buffer, transformed, turned back. Eight
// rows at a time: the lines of all columns, a power of two apart, would push one another out.
void Dct2d::run_panel(float* matrix, size_t first, size_t width, Transform transform) const {
  constexpr size_t kBlockRows = 8;
  std::vector<float> panel(width * rows());
  const auto for_blocks = [&](auto move) {
    for (size_t begin = 0; begin < rows(); begin += kBlockRows) {
      const size_t end = std::min(begin + kBlockRows, rows());
      for (size_t c = 0; c < width; ++c) {
        float* column = panel.data() + c * rows();
        for (size_t r = begin; r < end; ++r) move(matrix[r * columns() + first + c], column[r]);
      }
    }
  };
  for_blocks([](float from, float& to) { to = from; });
  (void)(column_.*transform)(panel);
  for_blocks([](float& to, float from) { to = from; });
}

}  // namespace hoist::codec
