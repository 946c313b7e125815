// How fast products with packed weights are on a GPU, beside the library's with plain ones.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/stream.h"

namespace hoist::cli {

struct ProductTimes {
  double packed = 0;  // seconds of one product: medians
  double plain = 0;
};

// Gaussian weights of one shape, so many copies of them that none is in the GPU's caches when its
// turn comes again.
class PackedSpeed {
 public:
  // `exhausted`: no memory on the GPU for about 1 GiB, or four times the matrix.
  static Result<PackedSpeed> prepare(const device::Stream& stream, uint32_t rows, uint32_t columns);
  PackedSpeed(PackedSpeed&&) noexcept;
  ~PackedSpeed();

  // Products of `count` rows of x, recorded and launched as one (a CUDA graph): what a program that
  // records its work sees. `unavailable` without cuBLASLt.
  Result<ProductTimes> measure(uint64_t count) const;
  // Seconds for unpacking the matrix into memory.
  Result<double> unpack() const;
  uint64_t plain_bytes() const;
  double size() const;  // packed, as a share of plain

 private:
  struct State;
  explicit PackedSpeed(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hoist::cli
