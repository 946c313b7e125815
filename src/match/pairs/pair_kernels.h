// The inner loops of count_pairs(), one set for each instruction set, chosen once at run time.
//
// A kernel takes a batch of sequences, one a lane of a row, and goes through other sequences ("the
// stream"). A row has kRowBytes, or fewer where so many hold the batch, as that takes less time.
// What it knows of the batch is a table of rows of masks: for a symbol and a word, the positions at
// which each lane's sequence has it. Thread-safe: no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace hoist::match {

enum class PairCount : uint8_t { lcs, levenshtein };

inline constexpr size_t kRowBytes = 128;  // the most
inline constexpr size_t kRowWidths[] = {32, 64, kRowBytes};
// Sequences of more words than this are compared one by one.
inline constexpr size_t kMaxWords = 64;

struct PairBatch {
  const std::byte* masks;  // rows in groups of `words`, one group a symbol, on 64-byte boundaries
  const std::byte* all;    // one group: the positions that each lane's sequence has
  size_t words;            // of 64 bits; 1 unless lanes have 64 bits
};

// A sequence of the stream: the numbers of its symbols' groups, or bytes with the group of each.
using GroupStream = std::span<const uint32_t>;
struct ByteStream {
  std::span<const uint8_t> bytes;
  const uint32_t* groups;  // by byte

  size_t size() const { return bytes.size(); }
  uint32_t operator[](size_t i) const { return groups[bytes[i]]; }
};

// `counts` takes a row: in each lane the LCS, or the Levenshtein distance less the stream
// sequence's length as a signed number.
template <typename Stream>
using PairKernel = void(const PairBatch& batch, const Stream& stream, std::byte* counts);

struct LanesKernels {
  PairKernel<GroupStream>* of_groups;
  PairKernel<ByteStream>* of_bytes;
};

// What each lane's sequence may have in common with a symbol of a stream (Jaro): rows of one word a
// lane, the positions within reach of the stream's first symbol, and how far that is.
struct JaroReach {
  const std::byte* first;
  const std::byte* reach;
};
inline constexpr size_t kMaxJaroStream = 128;  // symbols

// `common` and `moved` take a row each: in each lane how many symbols are common, and how many of
// them are in another order.
template <typename Stream>
using JaroKernel = void(const PairBatch& batch, const Stream& stream, const JaroReach& reach,
                        std::byte* common, std::byte* moved);

struct JaroKernels {
  JaroKernel<GroupStream>* of_groups;
  JaroKernel<ByteStream>* of_bytes;
};

// The LCS of one sequence with every part of `size` symbols of a text, from its first place on.
// `masks` has for each place the positions of the sequence that have its symbol, in words of 8 to
// 64 bits, and so have `counts`. As many words behind the last part's are read, and counts written,
// as kWindowSlack bytes hold.
using WindowKernel = void(const std::byte* masks, size_t size, size_t parts, std::byte* counts);
// The same in `words` words of 64 bits, at most kMaxWindowWords, those of each a `stride` apart.
using LongWindowKernel = void(const uint64_t* masks, size_t words, size_t stride, size_t size,
                              size_t parts, uint64_t* counts);
inline constexpr size_t kWindowSlack = 256;
inline constexpr size_t kMaxWindowWords = 8;

// How many of `size` bytes, or of the pairs of bytes that they are, differ from each of the
// `shifts` others from the same place on; some number above `most` where they are more. `size` is a
// multiple of kUnmatchedStep.
using UnmatchedKernel = uint32_t(const uint8_t* bytes, size_t size, const uint8_t* others,
                                 size_t shifts, uint32_t most);
inline constexpr size_t kUnmatchedStep = 32;

struct PairKernels {
  struct ByRow {
    LanesKernels of[std::size(kRowWidths)];
  };

  const char* name;                          // "portable", "avx2", "avx512"
  ByRow kernels[2][4];                       // by count; by lanes of 8, 16, 32, 64 bits
  PairKernel<GroupStream>* long_kernels[2];  // by count: lanes of several words, whole rows
  UnmatchedKernel* unmatched[2];             // bytes, pairs
  // By lanes of 8, 16, 32, 64 bits.
  ByRow osa[4];  // counts as of Levenshtein distances
  JaroKernels jaro[4][std::size(kRowWidths)];
  WindowKernel* windows[4];
  LongWindowKernel* long_windows;
};

// The fastest set that this processor runs.
const PairKernels& pair_kernels();

// All sets that this processor runs, the portable one first.
std::span<const PairKernels* const> all_pair_kernels();

}  // namespace hoist::match
