// Orthonormal discrete cosine transform, types II (forward) and III (inverse), of any length, in
// O(n log n), one- and two-dimensional, in place on float.
//
//   X[k] = s(k) * sum over n of x[n] cos(pi (2n + 1) k / 2N),  s(0) = sqrt(1/N), else sqrt(2/N)
//
// The transform is a rotation: it keeps the sum of squares, and the inverse is the transpose. The
// norm of the error against the exact transform is below 1e-6 of the norm of the sequence, whatever
// stands beside it and however large or small it is, as far as a float can hold the result
// (dct_test.cc, against double precision, lengths up to a million). A value that is not finite
// spoils its sequence only.
//
//   Result<Dct2d> dct = Dct2d::create(4096, 4096);
//   Status status = dct->forward(matrix);                // row-major, 4096 x 4096
//
// A plan is immutable: any number of threads may use one. Calls allocate their working memory: one
// sequence or a panel of columns, not the matrix. Results do not depend on the pool.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "codec/fft.h"

namespace hoist::codec {

class Dct {
 public:
  // invalid_argument: a length of 0 or above Fft::kMaxLength; exhausted: no memory.
  static Result<Dct> create(size_t length);

  size_t length() const { return fft_.length(); }

  // Transforms each of the sequences that lie one after the other in `values`: give many at once,
  // two cost as much as one. invalid_argument: the size is no multiple of the length.
  Status forward(std::span<float> values) const;
  Status inverse(std::span<float> values) const;

 private:
  explicit Dct(Fft fft);

  struct Workspace {
    std::vector<Complex> in;
    std::vector<Complex> out;
    std::vector<Complex> fft;
    std::vector<float> zeros;
  };
  enum class Kind { any, zero, alone };  // zero stays zero; alone: not beside another sequence
  struct Sequence {
    float* values;
    Kind kind;
    // Powers of two, for the way in and for the way out.
    float scale = 1;
    float unscale = 1;
  };
  using TransformPair = void (Dct::*)(const Sequence& a, const Sequence& b, Workspace& work) const;

  Sequence sequence(float* values) const;
  void forward_pair(const Sequence& a, const Sequence& b, Workspace& work) const;
  void inverse_pair(const Sequence& a, const Sequence& b, Workspace& work) const;
  void alone(const Sequence& a, TransformPair transform, Workspace& work) const;
  Status each(std::span<float> values, TransformPair transform) const;

  Fft fft_;
  // rotation_[k] = s(k) / 2 * (cos, sin)(pi k / 2N), k up to N / 2
  std::vector<Complex> rotation_;
};

// All rows, then all columns, of a row-major matrix.
class Dct2d {
 public:
  static Result<Dct2d> create(size_t rows, size_t columns);

  size_t rows() const { return column_.length(); }
  size_t columns() const { return row_.length(); }

  // invalid_argument: the size is not rows() * columns().
  Status forward(std::span<float> matrix, ThreadPool* pool = nullptr) const;
  Status inverse(std::span<float> matrix, ThreadPool* pool = nullptr) const;

 private:
  using Transform = Status (Dct::*)(std::span<float>) const;

  Dct2d(Dct row, Dct column) : row_(std::move(row)), column_(std::move(column)) {}
  Status run(std::span<float> matrix, ThreadPool* pool, Transform transform) const;
  void run_panel(float* matrix, size_t first, size_t width, Transform transform) const;

  Dct row_;
  Dct column_;
};

}  // namespace hoist::codec
