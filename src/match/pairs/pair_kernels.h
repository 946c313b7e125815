// The inner loops of count_pairs(), one set for each instruction set, chosen once at run time.
//
// A kernel takes a batch of sequences, one a lane of a row of kRowBytes, and goes through other
// sequences ("the stream"). What it knows of the batch is a table of rows of masks: for a symbol
// and a word, the positions at which each lane's sequence has it. Thread-safe: no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hoist::match {

enum class PairCount : uint8_t { lcs, levenshtein };

inline constexpr size_t kRowBytes = 128;
// Sequences of more words than this are compared one by one.
inline constexpr size_t kMaxWords = 64;

struct PairBatch {
  const std::byte* masks;  // rows in groups of `words`, one group a symbol, on 64-byte boundaries
  const std::byte* all;    // one group: the positions that each lane's sequence has
  size_t words;            // of 64 bits; 1 unless lanes have 64 bits
};

// `groups` are the numbers of the stream sequence's symbols' groups. `counts` takes a row: in each
// lane the LCS, or the Levenshtein distance less the stream sequence's length as a signed number.
using PairKernel = void(const PairBatch& batch, std::span<const uint32_t> groups,
                        std::byte* counts);

// How many of `size` bytes, or of the pairs of bytes that they are, differ from each of the
// `shifts` others from the same place on; some number above `most` where they are more. `size` is a
// multiple of kUnmatchedStep.
using UnmatchedKernel = uint32_t(const uint8_t* bytes, size_t size, const uint8_t* others,
                                 size_t shifts, uint32_t most);
inline constexpr size_t kUnmatchedStep = 32;

struct PairKernels {
  const char* name;           // "portable", "avx2", "avx512"
  PairKernel* kernels[2][5];  // by count; by lanes of 8, 16, 32, 64 bits, and several words of 64
  UnmatchedKernel* unmatched[2];  // bytes, pairs

  PairKernel* of(PairCount count, size_t kind) const {
    return kernels[static_cast<size_t>(count)][kind];
  }
};

// The fastest set that this processor runs.
const PairKernels& pair_kernels();

// All sets that this processor runs, the portable one first.
std::span<const PairKernels* const> all_pair_kernels();

}  // namespace hoist::match
