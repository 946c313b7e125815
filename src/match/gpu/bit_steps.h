// The bit-parallel recurrences of match/score/edit_distance.h, one word at a time, for host and
// device. What is above a mask never comes down.
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.h"
#include "match/gpu/scan_job.h"
#include "match/gpu/slot_table.h"

namespace hoist::match {

HOIST_HD inline uint32_t set_bits(uint32_t word) {
#ifdef __CUDA_ARCH__
  return static_cast<uint32_t>(__popc(word));
#else
  return static_cast<uint32_t>(std::popcount(word));
#endif
}
HOIST_HD inline uint32_t set_bits(uint64_t word) {
#ifdef __CUDA_ARCH__
  return static_cast<uint32_t>(__popcll(word));
#else
  return static_cast<uint32_t>(std::popcount(word));
#endif
}

// a | (b & ~c): one instruction a half. Said so, because steps of two words that not all lanes take
// should become such instructions under a condition; compilers make selections of them, or take
// them apart.
HOIST_HD inline uint64_t or_and_not(uint64_t a, uint64_t b, uint64_t c) {
#ifdef __CUDA_ARCH__
  uint32_t halves[2];
  asm("lop3.b32 %0, %1, %2, %3, 0xF4;"
      : "=r"(halves[0])
      : "r"(static_cast<uint32_t>(a)), "r"(static_cast<uint32_t>(b)),
        "r"(static_cast<uint32_t>(c)));
  asm("lop3.b32 %0, %1, %2, %3, 0xF4;"
      : "=r"(halves[1])
      : "r"(static_cast<uint32_t>(a >> 32)), "r"(static_cast<uint32_t>(b >> 32)),
        "r"(static_cast<uint32_t>(c >> 32)));
  return uint64_t{halves[1]} << 32 | halves[0];
#else
  return a | (b & ~c);
#endif
}

// States that one word holds: a pattern's symbols are taken one by one.
template <typename Table>
class LcsSteps {
 public:
  using Word = typename Table::Word;
  static constexpr Count kCount = Count::lcs;

  HOIST_HD explicit LcsSteps(uint32_t state_length) {}
  HOIST_HD void take(const Table& table, uint32_t symbol) {
    if constexpr (Table::kSkips) {
      Word places;
      if (!table.find(symbol, places)) return;
      state_ = or_and_not(state_ + (state_ & places), state_, places);
    } else {
      const Word places = table.places(symbol);
      state_ = (state_ + (state_ & places)) | (state_ & ~places);
    }
  }
  HOIST_HD uint32_t raw() const { return set_bits(static_cast<Word>(~state_ & Table::kMask)); }

 private:
  Word state_ = static_cast<Word>(~Word{0});
};

template <typename Table>
class DistanceSteps {
 public:
  using Word = typename Table::Word;
  static constexpr Count kCount = Count::distance;

  HOIST_HD explicit DistanceSteps(uint32_t state_length)
      : distance_(state_length), last_bit_(state_length - 1) {}
  HOIST_HD void take(const Table& table, uint32_t symbol) {
    const Word matches = table.places(symbol);
    const Word diagonal = (((matches & up_) + up_) ^ up_) | matches | down_;
    const Word rows_up = down_ | ~(diagonal | up_);
    const Word rows_down = diagonal & up_;
    distance_ += static_cast<uint32_t>(rows_up >> last_bit_ & 1);
    distance_ -= static_cast<uint32_t>(rows_down >> last_bit_ & 1);
    const Word up = rows_up << 1 | 1;
    const Word down = rows_down << 1;
    up_ = down | ~(diagonal | up);
    down_ = up & diagonal;
  }
  HOIST_HD uint32_t raw() const { return distance_; }

 private:
  Word up_ = static_cast<Word>(~Word{0});
  Word down_ = 0;
  uint32_t distance_;
  uint32_t last_bit_;
};

HOIST_HD constexpr bool is_match(Count count, uint32_t raw, int32_t limit) {
  const auto value = static_cast<int32_t>(raw);
  return count == Count::lcs ? value >= limit : value <= limit;
}
// Whether so many more symbols can make it match.
HOIST_HD constexpr bool may_match(Count count, uint32_t raw, uint32_t symbols, int32_t limit) {
  const auto value = static_cast<int32_t>(raw);
  const auto more = static_cast<int32_t>(symbols);
  return count == Count::lcs ? value + more >= limit : value - more <= limit;
}

// States of several words, one strip of 64 symbols after the other: what a row carries out of a
// strip goes into the same row of the next.
class LcsStrip {
 public:
  static constexpr Count kCount = Count::lcs;
  static constexpr uint32_t kFirstCarry = 0;
  HOIST_HD static constexpr uint32_t begin(uint32_t state_length) { return 0; }

  HOIST_HD LcsStrip(uint32_t strip_length, bool is_last) {}
  HOIST_HD uint32_t take(uint64_t mask, uint32_t carry) {
    const uint64_t matches = state_ & mask;
    const uint64_t sum = state_ + matches;
    const uint64_t carried = sum + carry;
    const bool overflow = sum < matches || carried < sum;
    state_ = carried | (state_ - matches);
    return overflow ? 1 : 0;
  }
  // What the strip adds to the count.
  HOIST_HD uint32_t added() const { return set_bits(~state_); }

 private:
  uint64_t state_ = ~uint64_t{0};
};

class DistanceStrip {
 public:
  static constexpr Count kCount = Count::distance;
  // Differences between two columns of the row above: bit 0 it rises, bit 1 it falls.
  static constexpr uint32_t kFirstCarry = 1;
  HOIST_HD static constexpr uint32_t begin(uint32_t state_length) { return state_length; }

  HOIST_HD DistanceStrip(uint32_t strip_length, bool is_last)
      : last_bit_(strip_length - 1), counts_(is_last ? 1 : 0) {}
  HOIST_HD uint32_t take(uint64_t mask, uint32_t carry) {
    const uint64_t matches = mask | carry >> 1;
    const uint64_t diagonal = (((matches & up_) + up_) ^ up_) | matches | down_;
    const uint64_t rows_up = down_ | ~(diagonal | up_);
    const uint64_t rows_down = diagonal & up_;
    added_ += static_cast<uint32_t>(rows_up >> last_bit_) & counts_;
    added_ -= static_cast<uint32_t>(rows_down >> last_bit_) & counts_;
    const uint64_t up = rows_up << 1 | (carry & 1);
    const uint64_t down = rows_down << 1 | carry >> 1;
    up_ = down | ~(diagonal | up);
    down_ = up & diagonal;
    return static_cast<uint32_t>(rows_up >> 63) | static_cast<uint32_t>(rows_down >> 63) << 1;
  }
  HOIST_HD uint32_t added() const { return added_; }

 private:
  uint64_t up_ = ~uint64_t{0};
  uint64_t down_ = 0;
  uint32_t added_ = 0;  // modulo 2^32
  uint32_t last_bit_;
  uint32_t counts_;  // 1 in the last strip
};

}  // namespace hoist::match
