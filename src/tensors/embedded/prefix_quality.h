// The error of every prefix of layers, measured while encoding, in double over finite elements.
// Signs do not matter to it: an element and what stands for it have the same.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tensors/embedded/layout.h"
#include "tensors/quality_curve.h"

namespace hoist::tensors {

struct ErrorSums {
  double energy = 0;               // of x²
  std::array<double, 53> error{};  // of (x - x')², by planes known
  std::array<double, 53> lean{};   // of x (x - x')

  void add(const ErrorSums& other);
  // The quality of prefixes with 0…planes planes known; 1 only where there is no error at all.
  std::vector<QualityPoint> points(uint32_t planes) const;
};

// Elements of at most 16 bits, each magnitude as often as it was counted.
ErrorSums counted_errors(DType dtype, const ElementFormat& format,
                         std::span<const uint64_t> patterns, uint32_t planes,
                         std::span<const uint64_t> counts,
                         std::span<const uint8_t> symbol_of_class);

// Elements of 32 and 64 bits.
class ErrorMeter {
 public:
  // All values are multiplied by a power of two that brings the largest one near 1.
  ErrorMeter(const ElementFormat& format, std::span<const uint64_t> patterns, uint32_t planes);

  // The same elements in the same order give the same sums on every processor that fuses
  // multiplication and addition; on others the last digits may differ.
  void add(const std::byte* elements, const uint8_t* symbols, size_t count, ErrorSums& sums) const;

 private:
  ElementFormat format_;
  uint32_t planes_;
  double scale_;
  std::array<double, 256> centroids_{};         // by symbol, scaled; 0 where not finite
  std::array<uint64_t, 53> subnormal_bases_{};  // of their symbol, by planes known
};

}  // namespace hoist::tensors
