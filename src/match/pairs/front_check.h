// Whether two sequences are further apart than some edits, where their first symbols show it: a
// symbol of the one that no symbol of the other equals within the diagonals that so many edits can
// reach (EditBand) costs an edit, and so does one of disjoint pairs of symbols that no two symbols
// of the other equal. Unrelated sequences have many such symbols among a few dozen, or pairs where
// the diagonals are many, and 32 symbols are compared at once: a fraction of the time of a band of
// the matrix.
//
// H. Xin et al., "Shifted Hamming distance: a fast and accurate SIMD-friendly filter to accelerate
// alignment verification in read mapping" (2015), one-sided. Symbols are compared by their lowest
// bytes: which differ, differ.
#pragma once

#include <array>
#include <cstdint>

#include "match/pairs/banded_edits.h"
#include "match/pairs/pair_kernels.h"
#include "match/pairs/sequence_list.h"

namespace hoist::match {

// For one thread. Symbols of the first sequences stay where and as they are as long as it lives.
class FrontCheck {
 public:
  static constexpr uint32_t kMostSymbols = 320;
  // The lowest bytes of symbols from `begin` to `end`, at their places in `out`.
  static void low_bytes(const Sequence& sequence, size_t begin, size_t end, uint8_t* out);

  // For sequences of some lengths.
  struct Plan {
    uint32_t symbols = 0;  // of the second sequence; none: it would most likely show nothing
    uint32_t shifts = 0;   // diagonals
    int32_t first = 0;     // of them
    uint32_t most = 0;     // symbols, or pairs, that may have no equal
    bool has_pairs = false;
    bool is_for_all = false;  // all symbols, which are too few for a front, most likely show it
  };

  explicit FrontCheck(const PairKernels& kernels) : kernels_(kernels) {}

  // `most` edits, as EditBand has them.
  static Plan plan(PairCount count, uint32_t m, uint32_t n, uint64_t most);
  // Tenths of a nanosecond, about.
  static uint64_t time(const Plan& plan) {
    return 30 + uint64_t{plan.symbols} / kUnmatchedStep * plan.shifts * 7;
  }

  // Whether there are surely more edits. False says nothing.
  bool are_beyond(const Sequence& a, const Sequence& b, const Plan& plan);

 private:
  static constexpr uint32_t kMostShifts = 128;
  // Diagonals are at most so far from the first one.
  static constexpr uint32_t kMargin = kMostShifts;
  static constexpr size_t kRows = kMargin + kMostSymbols + kMargin;

  // Makes the first bytes of `a` known.
  void take(const Sequence& a, uint32_t size);

  const PairKernels& kernels_;
  const void* of_ = nullptr;
  uint32_t known_ = 0;
  alignas(64) std::array<uint8_t, kRows> rows_{};  // the first sequence's, from kMargin on
  alignas(64) std::array<uint8_t, kMostSymbols> columns_;
};

}  // namespace hoist::match
