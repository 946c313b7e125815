// A packed matrix in memory of its own, on the CPU or a GPU.
//
//   Result<ResidentMatrix> matrix = ResidentMatrix::pack(*device, {weights, rows, columns,
//   columns}); if (!matrix) return matrix.error(); if (matrix->plainness() != Plainness::packed) …
//   // it had better stay plain Status done = matrix->multiply({.x = x, .count = 1, .x_stride =
//   columns, .y = y, .y_stride = rows});
//
// All addresses are memory of the matrix's device. On a GPU work is put on the stream that a call
// names, a CUDA stream's handle (none: the default stream), and may be under way when the call
// returns; on the CPU it is done. Packing and importing wait. Immutable, so any number of threads
// may use one; the work that reads it must be done before it is destroyed. Errors: those of pack.h
// and matmul.h, and the device's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "device/buffer.h"
#include "device/device.h"
#include "tensors/packed/matmul.h"
#include "tensors/packed/matrix.h"
#include "tensors/packed/pack.h"

namespace hoist::tensors::packed {

// What packing would give, without doing it: exact.
struct Prediction {
  Shape shape;
  uint32_t most_in_row = 0;
};
Result<Prediction> predict_packing(device::Device& device, const PlainMatrix& matrix,
                                   device::StreamHandle stream = {});

class ResidentMatrix {
 public:
  // Packs in any case, and exactly.
  static Result<ResidentMatrix> pack(device::Device& device, const PlainMatrix& matrix,
                                     device::StreamHandle stream = {});
  // From packed bytes in host memory, which need not be trusted: `corrupt` where their tables point
  // outside, `invalid_argument` where they are not as many as the shape says.
  static Result<ResidentMatrix> import(device::Device& device, std::span<const std::byte> bytes,
                                       const Shape& shape);

  const Shape& shape() const { return view_.shape; }
  uint32_t most_in_row() const { return most_in_row_; }  // 0 of what was imported
  // Whether it gains.
  Plainness plainness() const { return packed::plainness(shape(), most_in_row_); }
  device::Device& device() const { return *bytes_.device(); }
  // The packed bytes, shape().bytes() of them.
  const void* data() const { return bytes_.data(); }

  // All rows, without gaps.
  Status unpack(uint16_t* weights, device::StreamHandle stream = {}) const;
  // `count` rows, one after the other. A number that is no row's is `invalid_argument` on the CPU,
  // and gives a row of NaNs on a GPU.
  Status unpack_rows(const int64_t* rows, uint64_t count, uint16_t* weights,
                     device::StreamHandle stream = {}) const;
  // On a GPU `unavailable` where many rows of x need cuBLASLt and none is installed.
  Status multiply(const Operands& operands, device::StreamHandle stream = {}) const;

 private:
  ResidentMatrix(device::Buffer bytes, const View& view) : bytes_(std::move(bytes)), view_(view) {}
  static Result<ResidentMatrix> allocate(device::Device& device, const Shape& shape);
  Status check() const;

  device::Buffer bytes_;
  View view_;
  uint32_t most_in_row_ = 0;
};

}  // namespace hoist::tensors::packed
