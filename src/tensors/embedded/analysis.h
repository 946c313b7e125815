// What the Embedded encoder must know of a tensor before it writes: which classes of elements there
// are, how often, and where their middles lie.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/threads.h"
#include "tensors/embedded/layout.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

// Halves of `count` and finer, for a pool: at most a few for each thread, each beginning at a
// multiple of `unit`. One range where there is no pool.
struct Range {
  uint64_t begin;
  uint64_t end;
};
std::vector<Range> ranges_for(uint64_t count, uint64_t unit, ThreadPool* pool);
void for_each(size_t count, ThreadPool* pool, const std::function<void(size_t)>& body);

// How often each magnitude occurs, of elements of at most 16 bits.
struct MagnitudeCounts {
  std::vector<uint64_t> counts;  // by magnitude
  bool any_sign = false;
  // Elements of one byte are counted two at a time: how often a magnitude at an even place is
  // followed by another, by first | second << 8; and the last one of an odd number.
  std::vector<uint64_t> pairs;
  std::optional<uint8_t> odd;
};
MagnitudeCounts count_magnitudes(const TensorView& tensor, const ElementFormat& format,
                                 ThreadPool* pool);

// By class (ElementFormat::class_of()).
struct ClassStatistics {
  // Sums of mantissas without what is below their 32 upper bits.
  static uint32_t dropped_bits(const ElementFormat& format) {
    return format.mantissa_bits > 32 ? format.mantissa_bits - 32 : 0;
  }

  std::vector<uint64_t> counts;
  std::vector<uint64_t> mantissa_sums;
  uint64_t mantissas = 0;  // the bits that are set in any
  bool any_sign = false;

  void merge(const ClassStatistics& other);
};
ClassStatistics class_statistics(const ElementFormat& format, const MagnitudeCounts& counts);
// For elements of 32 or 64 bits.
ClassStatistics class_statistics(const TensorView& tensor, const ElementFormat& format,
                                 ThreadPool* pool);

// The most planes of integers that leave the sum of entropy and planes where it is, all but.
uint32_t integer_planes(std::span<const uint64_t> counts);

struct SymbolPlan {
  std::vector<uint64_t> patterns;        // by symbol
  std::vector<uint8_t> symbol_of_class;  // classes that do not occur: 0
  std::vector<uint64_t> symbol_counts;
  uint32_t planes = 0;
  bool has_signs = false;

  double entropy() const;                                                 // bits a symbol
  double element_bits() const { return entropy() + planes + has_signs; }  // reckoned
};
// Nothing: more than 256 symbols.
std::optional<SymbolPlan> plan_symbols(const ElementFormat& format,
                                       const ClassStatistics& statistics);

}  // namespace hoist::tensors
