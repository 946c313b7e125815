#include "service/monitoring/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace hoist::service {
namespace {

constexpr double kLongest = 64e9;  // nanoseconds; what is longer is counted last anyway

// The first three bits behind the leading one of a number of nanoseconds, and the leading one's
// place above that of a microsecond (1024 ns): whole numbers alone.
size_t bucket_of(uint64_t nanoseconds) {
  if (nanoseconds < 1024) return 0;
  const auto exponent = static_cast<size_t>(std::bit_width(nanoseconds) - 1);
  const size_t part = nanoseconds >> (exponent - 3) & 7;
  return std::min((exponent - 10) * 8 + part + 1, LatencyHistogram::kBuckets - 1);
}

}  // namespace

double LatencyHistogram::upper_end(size_t bucket) {
  if (bucket + 1 >= kBuckets) return std::numeric_limits<double>::infinity();
  const size_t exponent = 10 + bucket / 8;
  return std::ldexp(1 + static_cast<double>(bucket % 8) / 8, static_cast<int>(exponent)) * 1e-9;
}

void LatencyHistogram::add(double seconds) {
  const double nanoseconds = std::clamp(seconds * 1e9, 0.0, kLongest * 16);
  const auto whole = static_cast<uint64_t>(nanoseconds);
  buckets_[bucket_of(whole)].fetch_add(1, std::memory_order_relaxed);
  nanoseconds_.fetch_add(whole, std::memory_order_relaxed);
}

LatencyHistogram::Counts LatencyHistogram::counts() const {
  Counts counts;
  for (size_t i = 0; i < kBuckets; ++i) {
    counts.buckets[i] = buckets_[i].load(std::memory_order_relaxed);
    counts.count += counts.buckets[i];
  }
  counts.sum = static_cast<double>(nanoseconds_.load(std::memory_order_relaxed)) * 1e-9;
  return counts;
}

LatencyHistogram::Counts LatencyHistogram::Counts::since(const Counts& earlier) const {
  Counts counts = *this;
  for (size_t i = 0; i < kBuckets; ++i) counts.buckets[i] -= earlier.buckets[i];
  counts.count -= earlier.count;
  counts.sum -= earlier.sum;
  return counts;
}

double LatencyHistogram::Counts::quantile(double quantile) const {
  if (count == 0) return 0;
  const auto wanted = static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(count)));
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += buckets[i];
    if (seen >= std::max<uint64_t>(wanted, 1)) return i + 1 < kBuckets ? upper_end(i) : 64.0;
  }
  return 64.0;
}

uint64_t LatencyHistogram::Counts::at_most(double seconds) const {
  uint64_t total = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    if (i > 0 && upper_end(i - 1) >= seconds) break;
    total += buckets[i];
  }
  return total;
}

}  // namespace hoist::service
