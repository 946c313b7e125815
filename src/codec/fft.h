// Discrete Fourier transform of any length, on KissFFT. For codec/dct.h.
//
// KissFFT is fast where the length is a product of small primes. A larger prime factor p costs it p
// operations a value; from there on Bluestein's algorithm turns the transform into a convolution
// ("A linear filtering approach to the computation of the discrete Fourier transform", 1970), whose
// transforms have a length of small factors. So every length takes O(n log n).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

struct kiss_fft_state;

namespace hoist::codec {

struct Complex {
  float re;
  float im;
};

// Immutable: any number of threads may use one object, each with a workspace of its own.
class Fft {
 public:
  static constexpr size_t kMaxLength = size_t{1} << 27;

  // invalid_argument: a length of 0 or above kMaxLength; exhausted: no memory.
  static Result<Fft> create(size_t length);

  size_t length() const { return length_; }
  // Values of `workspace` that forward() needs; 0 for lengths of small factors.
  size_t workspace_size() const { return 2 * chirp_spectrum_.size(); }

  // out[k] = sum over n of in[n] * exp(-2 pi i k n / length). Three separate places.
  void forward(const Complex* in, Complex* out, Complex* workspace) const;

 private:
  struct FreePlan {
    void operator()(kiss_fft_state* plan) const;
  };
  using Plan = std::unique_ptr<kiss_fft_state, FreePlan>;

  Fft(size_t length, Plan plan) : length_(length), plan_(std::move(plan)) {}
  void prepare_chirp(size_t padded);

  size_t length_;
  Plan plan_;  // of length_, or of the convolution
  // Bluestein: exp(-i pi n^2 / length), and the spectrum of its conjugate, padded and scaled. Both
  // empty where KissFFT does the transform itself.
  std::vector<Complex> chirp_;
  std::vector<Complex> chirp_spectrum_;
};

}  // namespace hoist::codec
