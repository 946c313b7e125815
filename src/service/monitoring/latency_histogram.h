// How long something took, counted in buckets: any thread adds, any thread reads.
//
// Buckets are an eighth of a power of two wide, from a microsecond to 64 seconds, so that a
// quantile is at most 9 % too large.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hoist::service {

class LatencyHistogram {
 public:
  static constexpr size_t kBuckets = 26 * 8 + 1;  // the last: longer than all others

  // The counts of a moment.
  struct Counts {
    std::array<uint64_t, kBuckets> buckets = {};
    uint64_t count = 0;
    double sum = 0;  // seconds

    // What happened since `earlier`.
    Counts since(const Counts& earlier) const;
    // Upper end, in seconds, of the bucket in which the share `quantile` of all (0 to 1) lies; 0
    // without any.
    double quantile(double quantile) const;
    // How many took at most `seconds`, buckets that begin below it counted in whole.
    uint64_t at_most(double seconds) const;
    double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
  };

  void add(double seconds);
  Counts counts() const;

  // Upper end of a bucket in seconds; infinite for the last.
  static double upper_end(size_t bucket);

 private:
  std::array<std::atomic<uint64_t>, kBuckets> buckets_ = {};
  std::atomic<uint64_t> nanoseconds_ = 0;
};

}  // namespace hoist::service
