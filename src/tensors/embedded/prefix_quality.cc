#include "tensors/embedded/prefix_quality.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "array/convert.h"
#include "base/cpu.h"
#include "base/wide_vectors.h"

namespace hoist::tensors {
namespace {

constexpr size_t kLanes = 8;
constexpr size_t kTurns = 2;    // sums that do not wait for one another
constexpr size_t kBlock = 512;  // elements that stay in the first-level cache for all prefixes

typedef double Doubles __attribute__((vector_size(8 * kLanes), may_alias));
typedef uint64_t Longs __attribute__((vector_size(8 * kLanes), may_alias));

constexpr double kLeastValue = 0x1p-1000;

double narrow_value(DType dtype, uint64_t pattern) {
  switch (dtype) {
    case DType::i8:
      return static_cast<int8_t>(pattern);
    case DType::f8_e5m2:
      return array::f8_e5m2_to_f32(static_cast<uint8_t>(pattern));
    case DType::f8_e4m3:
      return array::f8_e4m3_to_f32(static_cast<uint8_t>(pattern));
    case DType::f16:
      return array::f16_to_f32(static_cast<uint16_t>(pattern));
    default:
      return array::bf16_to_f32(static_cast<uint16_t>(pattern));
  }
}

// The bits of a mantissa that its first `known` planes hold.
uint64_t known_mask(const ElementFormat& format, uint32_t known) {
  return format.mantissa_mask() & ~((uint64_t{1} << (format.mantissa_bits - known)) - 1);
}

// Values as doubles, scaled, which have their mantissa bits where the element's own double has
// them; 0 for those that are not summed here.
struct Block {
  alignas(64) uint64_t values[kBlock];
  alignas(64) uint64_t nonzero[kBlock];  // all ones where the value is not 0
  alignas(64) double stand_ins[kBlock];  // of layer 0 alone
};

double total(const Doubles& lanes) {
  double sum = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
  return sum;
}

[[gnu::always_inline]] inline void sum_block(const Block& block, size_t vectors, uint32_t planes,
                                             ErrorSums& sums) {
  const Doubles* const values = reinterpret_cast<const Doubles*>(block.values);
  const Doubles* const stand_ins = reinterpret_cast<const Doubles*>(block.stand_ins);
  const Longs* const patterns = reinterpret_cast<const Longs*>(block.values);
  const Longs* const nonzero = reinterpret_cast<const Longs*>(block.nonzero);
  Doubles energy{};
  Doubles error{};
  Doubles lean{};
  for (size_t i = 0; i < vectors; ++i) {
    const Doubles difference = values[i] - stand_ins[i];
    energy += values[i] * values[i];
    error += difference * difference;
    lean += values[i] * difference;
  }
  sums.energy += total(energy);
  sums.error[0] += total(error);
  sums.lean[0] += total(lean);
  // With all planes nothing is missing.
  for (uint32_t known = 1; known < planes; ++known) {
    const uint64_t middle = uint64_t{1} << (51 - known);
    const uint64_t keep = ~uint64_t{0} << (52 - known);
    Doubles errors[kTurns] = {};
    Doubles leans[kTurns] = {};
    for (size_t i = 0; i < vectors; i += kTurns) {
#pragma GCC unroll 4
      for (size_t turn = 0; turn < kTurns; ++turn) {
        const Longs bits = (patterns[i + turn] & keep) | (nonzero[i + turn] & middle);
        const Doubles difference = values[i + turn] - reinterpret_cast<Doubles>(bits);
        errors[turn] += difference * difference;
        leans[turn] += values[i + turn] * difference;
      }
    }
    sums.error[known] += total(errors[0] + errors[1]);
    sums.lean[known] += total(leans[0] + leans[1]);
  }
}

// The same loops for each instruction set.
using SumBlock = void (*)(const Block&, size_t, uint32_t, ErrorSums&);

void sum_baseline(const Block& block, size_t vectors, uint32_t planes, ErrorSums& sums) {
  sum_block(block, vectors, planes, sums);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void sum_avx2(const Block& block, size_t vectors, uint32_t planes,
                                          ErrorSums& sums) {
  sum_block(block, vectors, planes, sums);
}

[[gnu::target("avx512f,avx512dq" HOIST_WIDE_VECTORS)]] void sum_avx512(const Block& block,
                                                                       size_t vectors,
                                                                       uint32_t planes,
                                                                       ErrorSums& sums) {
  sum_block(block, vectors, planes, sums);
}
#endif

SumBlock best_sum() {
#if defined(__x86_64__)
  if (cpu_features().avx512) return sum_avx512;
  if (cpu_features().avx2) return sum_avx2;
#endif
  return sum_baseline;
}

// Subnormals have their mantissa bits elsewhere, and are few.
template <typename Float, typename Unsigned>
void add_subnormal(Unsigned magnitude, const std::array<uint64_t, 53>& bases,
                   const ElementFormat& format, uint32_t planes, double scale, ErrorSums& sums) {
  const double value = std::bit_cast<Float>(magnitude) * scale;
  sums.energy += value * value;
  for (uint32_t known = 0; known < planes; ++known) {
    const uint64_t stand_in = bases[known] | (magnitude & known_mask(format, known));
    const double difference = value - std::bit_cast<Float>(static_cast<Unsigned>(stand_in)) * scale;
    sums.error[known] += difference * difference;
    sums.lean[known] += value * difference;
  }
}

template <typename Float, typename Unsigned>
void add_elements(const std::byte* elements, const uint8_t* symbols, size_t count,
                  const ElementFormat& format, uint32_t planes, double scale,
                  const std::array<double, 256>& centroids,
                  const std::array<uint64_t, 53>& subnormal_bases, ErrorSums& sums) {
  static const SumBlock sum = best_sum();
  const Unsigned mask = static_cast<Unsigned>(format.magnitude_mask());
  const Unsigned infinity = static_cast<Unsigned>(format.exponent_mask());
  const Unsigned least_normal = Unsigned{1} << format.mantissa_bits;
  Block block;
  for (size_t at = 0; at < count; at += kBlock) {
    const size_t size = std::min(kBlock, count - at);
    Unsigned subnormals = 0;
    for (size_t i = 0; i < size; ++i) {
      Unsigned element;
      std::memcpy(&element, elements + (at + i) * sizeof element, sizeof element);
      const Unsigned magnitude = element & mask;
      const double value = std::bit_cast<Float>(magnitude) * scale;
      // Squares of what is so far below the largest value, which is near 1, are 0.
      const bool counts =
          (magnitude >= least_normal) & (magnitude < infinity) & (value >= kLeastValue);
      block.nonzero[i] = uint64_t{0} - counts;
      block.values[i] = std::bit_cast<uint64_t>(value) & block.nonzero[i];
      subnormals += (magnitude != 0) & (magnitude < least_normal);
    }
    for (size_t i = 0; i < size; ++i) {
      const uint64_t stand_in = std::bit_cast<uint64_t>(centroids[symbols[at + i]]);
      block.stand_ins[i] = std::bit_cast<double>(stand_in & block.nonzero[i]);
    }
    const size_t vectors = (size + kLanes * kTurns - 1) / (kLanes * kTurns) * kTurns;
    for (size_t i = size; i < vectors * kLanes; ++i) {
      block.values[i] = 0;
      block.nonzero[i] = 0;
      block.stand_ins[i] = 0;
    }
    sum(block, vectors, planes, sums);
    for (size_t i = 0; i < size && subnormals != 0; ++i) {
      Unsigned element;
      std::memcpy(&element, elements + (at + i) * sizeof element, sizeof element);
      const Unsigned magnitude = element & mask;
      if (magnitude == 0 || magnitude >= least_normal) continue;
      add_subnormal<Float>(magnitude, subnormal_bases, format, planes, scale, sums);
      --subnormals;
    }
  }
}

double wide_value(const ElementFormat& format, uint64_t magnitude) {
  return format.bits == 32 ? double{std::bit_cast<float>(static_cast<uint32_t>(magnitude))}
                           : std::bit_cast<double>(magnitude);
}

}  // namespace

void ErrorSums::add(const ErrorSums& other) {
  energy += other.energy;
  for (size_t i = 0; i < error.size(); ++i) error[i] += other.error[i];
  for (size_t i = 0; i < lean.size(); ++i) lean[i] += other.lean[i];
}

std::vector<QualityPoint> ErrorSums::points(uint32_t planes) const {
  // 1 means that nothing is missing, however little it would be.
  constexpr double kBelowOne = 1 - 0x1p-53;
  std::vector<QualityPoint> points(planes + 1, QualityPoint{1, 1});
  for (uint32_t known = 0; known <= planes; ++known) {
    if (error[known] == 0 || energy == 0) continue;
    // x·x' = |x|² - x·(x - x'), and |x'|² = |x|² - 2 x·(x - x') + |x - x'|².
    const double dot = energy - lean[known];
    const double length = std::sqrt(energy * (energy - 2 * lean[known] + error[known]));
    points[known] = {std::min(1 - error[known] / energy, kBelowOne),
                     length == 0 ? 0 : std::min(dot / length, kBelowOne)};
  }
  return points;
}

ErrorSums counted_errors(DType dtype, const ElementFormat& format,
                         std::span<const uint64_t> patterns, uint32_t planes,
                         std::span<const uint64_t> counts,
                         std::span<const uint8_t> symbol_of_class) {
  std::vector<uint64_t> magnitudes;
  for (uint64_t magnitude = 0; magnitude < counts.size(); ++magnitude) {
    if (counts[magnitude] != 0 && format.is_finite(magnitude)) magnitudes.push_back(magnitude);
  }
  ErrorSums sums;
  for (uint32_t known = 0; known <= planes; ++known) {
    const std::array<uint64_t, 256> bases = layer_bases(format, patterns, planes, known);
    for (const uint64_t magnitude : magnitudes) {
      const uint8_t symbol = symbol_of_class[format.class_of(magnitude)];
      const double value = narrow_value(dtype, magnitude);
      const double count = static_cast<double>(counts[magnitude]);
      const uint64_t stand_in = bases[symbol] | (magnitude & known_mask(format, known));
      const double difference = value - narrow_value(dtype, stand_in);
      if (known == 0) sums.energy += count * value * value;
      sums.error[known] += count * difference * difference;
      sums.lean[known] += count * value * difference;
    }
  }
  return sums;
}

ErrorMeter::ErrorMeter(const ElementFormat& format, std::span<const uint64_t> patterns,
                       uint32_t planes)
    : format_(format), planes_(planes), scale_(1) {
  uint64_t largest = 0;
  for (const uint64_t pattern : patterns) {
    if (format.is_finite(pattern)) largest = std::max(largest, pattern);
  }
  // Squares of all floats are doubles; those of doubles need not be.
  if (format.bits == 64 && largest != 0) {
    scale_ = std::ldexp(1.0, std::clamp(-std::ilogb(wide_value(format, largest)), -1000, 1000));
  }
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (format.is_finite(patterns[i])) centroids_[i] = wide_value(format, patterns[i]) * scale_;
    if (patterns[i] == 0 || patterns[i] > format.mantissa_mask()) continue;
    for (uint32_t known = 0; known < planes; ++known) {
      subnormal_bases_[known] = layer_bases(format, patterns, planes, known)[i];
    }
  }
}

void ErrorMeter::add(const std::byte* elements, const uint8_t* symbols, size_t count,
                     ErrorSums& sums) const {
  const auto add =
      format_.bits == 32 ? add_elements<float, uint32_t> : add_elements<double, uint64_t>;
  add(elements, symbols, count, format_, planes_, scale_, centroids_, subnormal_bases_, sums);
}

}  // namespace hoist::tensors
