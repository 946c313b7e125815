#include "codec/fft.h"

#include <fmt/core.h>
#include <kissfft/kiss_fft.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

namespace hoist::codec {
namespace {

static_assert(std::is_same_v<kiss_fft_scalar, float> && sizeof(Complex) == sizeof(kiss_fft_cpx));

// Above it Bluestein's two longer transforms are faster than KissFFT's sums over a prime factor.
constexpr size_t kMaxPrimeFactor = 29;

size_t largest_prime_factor(size_t n) {
  size_t largest = 1;
  for (size_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return n > 1 ? n : largest;
}

void run(kiss_fft_state* plan, const Complex* in, Complex* out) {
  kiss_fft(plan, reinterpret_cast<const kiss_fft_cpx*>(in), reinterpret_cast<kiss_fft_cpx*>(out));
}

Complex multiply(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

Complex conjugate(Complex a) { return {a.re, -a.im}; }

}  // namespace

void Fft::FreePlan::operator()(kiss_fft_state* plan) const { kiss_fft_free(plan); }

Result<Fft> Fft::create(size_t length) {
  if (length == 0 || length > kMaxLength) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("transform of length {}: 1 to {} are possible", length, kMaxLength));
  }
  const bool direct = largest_prime_factor(length) <= kMaxPrimeFactor;
  const int planned =
      direct ? static_cast<int>(length) : kiss_fft_next_fast_size(static_cast<int>(2 * length - 1));
  Plan plan(kiss_fft_alloc(planned, 0, nullptr, nullptr));
  if (plan == nullptr) {
    return fail(ErrorCode::exhausted, fmt::format("transform of length {}: no memory", length));
  }
  Fft fft(length, std::move(plan));
  if (!direct) fft.prepare_chirp(planned);
  return fft;
}

void Fft::prepare_chirp(size_t padded) {
  chirp_.resize(length_);
  std::vector<Complex> filter(padded, Complex{0, 0});
  for (size_t n = 0; n < length_; ++n) {
    // n^2 modulo the period keeps the angle exact for large n.
    const double angle = -std::numbers::pi * static_cast<double>(n * n % (2 * length_)) /
                         static_cast<double>(length_);
    chirp_[n] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    filter[n] = conjugate(chirp_[n]);
    if (n > 0) filter[padded - n] = filter[n];
  }
  chirp_spectrum_.resize(padded);
  run(plan_.get(), filter.data(), chirp_spectrum_.data());
  const float scale = 1.0f / static_cast<float>(padded);
  for (Complex& value : chirp_spectrum_) value = {value.re * scale, value.im * scale};
}

// With 2kn = k^2 + n^2 - (k-n)^2 the sum over n is chirp[k] times the convolution of in * chirp
// with the conjugate chirp.
void Fft::forward(const Complex* in, Complex* out, Complex* workspace) const {
  if (chirp_.empty()) {
    run(plan_.get(), in, out);
    return;
  }
  const size_t padded = chirp_spectrum_.size();
  Complex* a = workspace;
  Complex* b = workspace + padded;
  for (size_t n = 0; n < length_; ++n) a[n] = multiply(in[n], chirp_[n]);
  std::fill(a + length_, a + padded, Complex{0, 0});
  run(plan_.get(), a, b);
  // The inverse transform is the forward one between two conjugations.
  for (size_t k = 0; k < padded; ++k) a[k] = conjugate(multiply(b[k], chirp_spectrum_[k]));
  run(plan_.get(), a, b);
  for (size_t k = 0; k < length_; ++k) out[k] = multiply(conjugate(b[k]), chirp_[k]);
}

}  // namespace hoist::codec
