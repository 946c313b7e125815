// The predictions of records/prediction.h, and arithmetic of theirs that devices share.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace hoist::records {

// The prediction of value i, from value i - 1 of the same sequence and so on. `a` and `b` are
// sources, k is the factor; j is the last position before i with the same values in the groups as
// i, or i - 1 where there is none.
enum class Predictor : uint8_t {
  none = 0,           // 0
  last = 1,           // own[i - 1]
  line = 2,           // 2 own[i - 1] - own[i - 2]
  other = 3,          // a[i]
  other_last = 4,     // a[i - 1]
  group_last = 5,     // own[j]
  group_other = 6,    // a[j]
  larger = 7,         // max(a[i], b[i])
  smaller = 8,        // min(a[i], b[i])
  sum = 9,            // a[i] + b[i]
  difference = 10,    // a[i] - b[i]
  product = 11,       // a[i] b[i] / 10^k
  quotient = 12,      // a[i] 10^k / b[i]
  ratio = 13,         // own[i - 1] a[i] / a[i - 1]
  running = 14,       // own[i - 1] + a[i]
  moves = 15,         // own[i - 1] + k (a[i] - a[i - 1])
  lag = 16,           // own[i - k], or own[i - 1] where i < k
  clock = 17,         // the time of day b[i] minutes after a[i], both times as 100 hours + minutes
  pair_last = 18,     // own[j] with two groups
  pair_other = 19,    // a[j] with two groups
  group_ratio = 20,   // own[j] a[i] / a[j]
  running_last = 21,  // own[i - 1] + a[i - 1]
  scaled_sum = 22,    // (a[i] 10^x + b[i] 10^y) / 10^z, where k is x + 19 y + 361 z
  scaled_difference = 23,  // (a[i] 10^x - b[i] 10^y) / 10^z
};
inline constexpr uint8_t kPredictors = 24;

// The nearest integer to x y / z, halves away from 0; 0 where z is 0.
HOIST_HD inline int64_t scaled(int64_t x, int64_t y, int64_t z) {
  if (z == 0) return 0;
  // Factors below 2^30 in magnitude, which most are, need no wide division.
  constexpr int64_t kNarrow = int64_t{1} << 30;
  if (x < kNarrow && x > -kNarrow && y < kNarrow && y > -kNarrow) {
    const int64_t half = z < 0 ? -(z / 2) : z / 2;
    const int64_t product = x * y;
    return (product < 0 ? product - half : product + half) / z;
  }
  // Below 2^126, and so is every step.
  using Wide = __int128;
  const Wide product = static_cast<Wide>(x) * y;
  const Wide half = (z < 0 ? -static_cast<Wide>(z) : static_cast<Wide>(z)) / 2;
  return static_cast<int64_t>((product < 0 ? product - half : product + half) / z);
}

// The nearest integer to (a x + b y) / z, halves away from 0, modulo 2^64. The factors are 10^0 to
// 10^18.
HOIST_HD inline int64_t scaled_sum_of(int64_t a, int64_t x, int64_t b, int64_t y, int64_t z) {
  using Wide = __int128;
  // Below 2^124; modulo 2^64 where nothing is divided.
  const Wide sum = static_cast<Wide>(a) * x + static_cast<Wide>(b) * y;
  if (z == 1) return static_cast<int64_t>(sum);
  const Wide half = z / 2;
  return static_cast<int64_t>((sum < 0 ? sum - half : sum + half) / z);
}

// `minutes` after a time of day of 100 hours + minutes; midnight is 2400.
HOIST_HD inline int64_t clock_after(int64_t time, int64_t minutes) {
  constexpr int64_t kDay = 24 * 60;
  int64_t now = time / 100 % 24 * 60 + time % 100 + minutes % kDay;
  now = (now % kDay + kDay) % kDay;
  if (now == 0) now = kDay;
  return now / 60 * 100 + now % 60;
}

}  // namespace hoist::records
