#include "tensors/embedded/analysis.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace hoist::tensors {
namespace {

template <typename Unsigned>
Unsigned load(const std::byte* elements, uint64_t i) {
  Unsigned value;
  std::memcpy(&value, elements + i * sizeof(Unsigned), sizeof(Unsigned));
  return value;
}

// Adds to `into` how often each of `count` words occurs, without the bits that are not in `mask`.
// The bits that are set in any. Counters of 32 bits, which a piece of 2^31 words cannot overflow.
uint16_t count_words(const std::byte* words, uint64_t count, uint16_t mask,
                     std::vector<uint64_t>& into) {
  constexpr uint64_t kPiece = uint64_t{1} << 31;
  uint16_t seen = 0;
  for (uint64_t at = 0; at < count; at += kPiece) {
    std::vector<uint32_t> counts(into.size());
    const uint64_t end = std::min(count, at + kPiece);
    for (uint64_t i = at; i < end; ++i) {
      const uint16_t word = load<uint16_t>(words, i);
      seen |= word;
      ++counts[word & mask];
    }
    for (size_t m = 0; m < counts.size(); ++m) into[m] += counts[m];
  }
  return seen;
}

void count_elements(const std::byte* elements, Range range, const ElementFormat& format,
                    MagnitudeCounts& into) {
  into.counts.resize(format.magnitude_mask() + 1);
  const uint16_t seen = count_words(elements + 2 * range.begin, range.end - range.begin,
                                    static_cast<uint16_t>(format.magnitude_mask()), into.counts);
  into.any_sign = (seen & format.sign_mask()) != 0;
}

// Two bytes at once: neighbours that are equal, as bytes often are, would wait for each other's
// counter, and the entropy coder wants to know of pairs anyway. Ranges begin at even places.
void count_bytes(const std::byte* elements, Range range, const ElementFormat& format,
                 MagnitudeCounts& into) {
  const auto mask = static_cast<uint8_t>(format.magnitude_mask());
  into.pairs.resize(size_t{1} << 16);
  const uint64_t count = range.end - range.begin;
  uint16_t seen = count_words(elements + range.begin, count / 2,
                              static_cast<uint16_t>(mask | mask << 8), into.pairs);
  if (count % 2 != 0) {
    const auto last = load<uint8_t>(elements, range.end - 1);
    into.odd = last & mask;
    seen |= last;
  }
  into.any_sign = ((seen | seen >> 8) & format.sign_mask()) != 0;
}

// What pairs of bytes say of single ones.
void count_singles(MagnitudeCounts& counts, const ElementFormat& format) {
  counts.counts.resize(format.magnitude_mask() + 1);
  for (size_t pair = 0; pair < counts.pairs.size(); ++pair) {
    if (counts.pairs[pair] == 0) continue;
    counts.counts[pair & 0xff] += counts.pairs[pair];
    counts.counts[pair >> 8] += counts.pairs[pair];
  }
  if (counts.odd) ++counts.counts[*counts.odd];
}

struct ClassSum {
  uint64_t count = 0;
  uint64_t mantissas = 0;
};

// Neighbours often have the same class; counters that take turns do not wait for one another.
template <typename Unsigned>
void add_range(const std::byte* elements, Range range, const ElementFormat& format,
               ClassStatistics& into) {
  constexpr size_t kTurns = 2;
  const size_t classes = into.counts.size();
  std::vector<ClassSum> sums(kTurns * classes);
  const uint64_t magnitude_mask = format.magnitude_mask();
  const uint64_t mantissa_mask = format.mantissa_mask();
  const uint32_t dropped = ClassStatistics::dropped_bits(format);
  const uint32_t mantissa_bits = format.mantissa_bits;
  const uint64_t last_not_nan = format.last_not_nan();
  uint64_t seen = 0;
  for (uint64_t i = range.begin; i < range.end; ++i) {
    const uint64_t element = load<Unsigned>(elements, i);
    const uint64_t magnitude = element & magnitude_mask;
    const size_t element_class =
        1 + (magnitude >> mantissa_bits) - (magnitude == 0) + (magnitude > last_not_nan);
    ClassSum& sum = sums[(i % kTurns) * classes + element_class];
    ++sum.count;
    sum.mantissas += (magnitude & mantissa_mask) >> dropped;
    seen |= element;
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    into.counts[i % classes] += sums[i].count;
    into.mantissa_sums[i % classes] += sums[i].mantissas;
  }
  into.mantissas |= seen & mantissa_mask;
  into.any_sign |= (seen & format.sign_mask()) != 0;
}

double entropy_bits(std::span<const uint64_t> counts) {
  const double total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
  double bits = 0;
  for (const uint64_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / total;
    bits -= share * std::log2(share);
  }
  return bits;
}

// The element that minimises the squared error of a class: its mean, rounded, in the same class.
uint64_t centroid(const ElementFormat& format, uint64_t exponent, uint64_t mantissa_sum,
                  uint64_t count) {
  const uint64_t mean = (mantissa_sum + count / 2) / count << ClassStatistics::dropped_bits(format);
  const bool floating = format.kind != ElementKind::integer;
  const uint64_t least = floating && exponent == 0 ? 1 : 0;
  const uint64_t most = std::min(format.mantissa_mask(), format.last_not_nan() - exponent);
  return exponent | std::clamp(mean, least, most);
}

uint64_t pattern_of(const ElementFormat& format, uint32_t element_class, uint64_t mantissa_sum,
                    uint64_t count) {
  if (format.kind == ElementKind::integer) {
    return centroid(format, uint64_t{element_class} << format.mantissa_bits, mantissa_sum, count);
  }
  if (element_class == 0) return 0;
  const uint64_t exponent = uint64_t{element_class - 1} << format.mantissa_bits;
  if (element_class + 1 == format.classes()) {
    return format.kind == ElementKind::e4m3
               ? format.magnitude_mask()
               : format.exponent_mask() | uint64_t{1} << (format.mantissa_bits - 1);
  }
  return format.is_infinity(exponent) ? exponent : centroid(format, exponent, mantissa_sum, count);
}

}  // namespace

std::vector<Range> ranges_for(uint64_t count, uint64_t unit, ThreadPool* pool) {
  const uint64_t units = (count + unit - 1) / unit;
  const uint64_t most = pool == nullptr ? 1 : 2 * static_cast<uint64_t>(pool->size());
  const uint64_t wanted = std::clamp<uint64_t>(units, 1, most);
  const uint64_t size = (units + wanted - 1) / wanted * unit;
  std::vector<Range> ranges;
  for (uint64_t at = 0; at < count; at += size) ranges.push_back({at, std::min(count, at + size)});
  return ranges;
}

void for_each(size_t count, ThreadPool* pool, const std::function<void(size_t)>& body) {
  if (pool != nullptr) return pool->parallel_for(count, body);
  for (size_t i = 0; i < count; ++i) body(i);
}

MagnitudeCounts count_magnitudes(const TensorView& tensor, const ElementFormat& format,
                                 ThreadPool* pool) {
  const size_t width = format.bits / 8;
  const std::vector<Range> ranges = ranges_for(tensor.bytes.size() / width, 1 << 20, pool);
  std::vector<MagnitudeCounts> parts(ranges.size());
  for_each(ranges.size(), pool, [&](size_t i) {
    const auto count = width == 1 ? count_bytes : count_elements;
    count(tensor.bytes.data(), ranges[i], format, parts[i]);
  });
  MagnitudeCounts all = std::move(parts.front());
  for (const MagnitudeCounts& part : std::span(parts).subspan(1)) {
    for (size_t m = 0; m < all.counts.size(); ++m) all.counts[m] += part.counts[m];
    for (size_t m = 0; m < all.pairs.size(); ++m) all.pairs[m] += part.pairs[m];
    all.any_sign |= part.any_sign;
    if (part.odd) all.odd = part.odd;
  }
  if (width == 1) count_singles(all, format);
  return all;
}

void ClassStatistics::merge(const ClassStatistics& other) {
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  for (size_t i = 0; i < counts.size(); ++i) mantissa_sums[i] += other.mantissa_sums[i];
  mantissas |= other.mantissas;
  any_sign |= other.any_sign;
}

ClassStatistics class_statistics(const ElementFormat& format, const MagnitudeCounts& counts) {
  ClassStatistics all;
  all.counts.resize(format.classes());
  all.mantissa_sums.resize(format.classes());
  all.any_sign = counts.any_sign;
  for (uint64_t magnitude = 0; magnitude < counts.counts.size(); ++magnitude) {
    const uint64_t count = counts.counts[magnitude];
    if (count == 0) continue;
    const uint64_t mantissa = magnitude & format.mantissa_mask();
    const uint32_t element_class = format.class_of(magnitude);
    all.counts[element_class] += count;
    all.mantissa_sums[element_class] += count * mantissa;
    all.mantissas |= mantissa;
  }
  return all;
}

ClassStatistics class_statistics(const TensorView& tensor, const ElementFormat& format,
                                 ThreadPool* pool) {
  const size_t width = format.bits / 8;
  const std::vector<Range> ranges = ranges_for(tensor.bytes.size() / width, 1 << 20, pool);
  std::vector<ClassStatistics> parts(ranges.size());
  for_each(ranges.size(), pool, [&](size_t i) {
    parts[i].counts.resize(format.classes());
    parts[i].mantissa_sums.resize(format.classes());
    const auto add = width == 4 ? add_range<uint32_t> : add_range<uint64_t>;
    add(tensor.bytes.data(), ranges[i], format, parts[i]);
  });
  ClassStatistics all = std::move(parts.front());
  for (const ClassStatistics& part : std::span(parts).subspan(1)) all.merge(part);
  return all;
}

uint32_t integer_planes(std::span<const uint64_t> counts) {
  constexpr double kMayCost = 1.005;
  const double least = entropy_bits(counts);
  for (uint32_t planes = 7; planes > 0; --planes) {
    std::vector<uint64_t> upper(counts.size() >> planes);
    for (size_t i = 0; i < counts.size(); ++i) upper[i >> planes] += counts[i];
    if (entropy_bits(upper) + planes <= kMayCost * least) return planes;
  }
  return 0;
}

double SymbolPlan::entropy() const { return entropy_bits(symbol_counts); }

std::optional<SymbolPlan> plan_symbols(const ElementFormat& format,
                                       const ClassStatistics& statistics) {
  SymbolPlan plan;
  plan.has_signs = statistics.any_sign;
  if (format.kind == ElementKind::integer) {
    plan.planes = format.mantissa_bits;
  } else if (statistics.mantissas != 0) {
    plan.planes =
        format.mantissa_bits - static_cast<uint32_t>(std::countr_zero(statistics.mantissas));
  }
  plan.symbol_of_class.resize(statistics.counts.size());
  for (uint32_t i = 0; i < statistics.counts.size(); ++i) {
    const uint64_t count = statistics.counts[i];
    if (count == 0) continue;
    if (plan.patterns.size() == 256) return std::nullopt;
    plan.symbol_of_class[i] = static_cast<uint8_t>(plan.patterns.size());
    plan.patterns.push_back(pattern_of(format, i, statistics.mantissa_sums[i], count));
    plan.symbol_counts.push_back(count);
  }
  return plan;
}

}  // namespace hoist::tensors
