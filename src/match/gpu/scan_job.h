// What the host tells the kernels that scan a segment (tile_scan.h, sequence_scan.h), and what they
// answer. Every pointer is the device's.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace hoist::match {

inline constexpr uint32_t kLanes = 32;           // of a warp; patterns of a tile
inline constexpr uint32_t kLanePatterns = 8;     // of one load of 16 bytes
inline constexpr uint32_t kGroupTiles = 8;       // that a warp takes at once: 8 patterns a lane
inline constexpr uint32_t kScoreBins = 1024;     // by which the best ones are found (score_bin)
inline constexpr uint32_t kMostStates = 65'536;  // of one scan: a match has 16 bits for its state

// Patterns of one length, all in tiles or all contiguous.
struct ScanRun {
  uint64_t first_symbol;   // where they begin among the symbols that lie on this device
  uint32_t first_pattern;  // index in the segment
  uint32_t count;          // patterns
  uint32_t length;
  uint32_t is_tiled;
  uint32_t first_group;  // groups of the scan's runs before this one
};

// What is counted: symbols of the longest common subsequence, or edits.
enum class Count : uint32_t { lcs, distance };
// What the score divides by: the symbols of both, or of the longer one.
enum class Base : uint32_t { both, longer };

// A match: the state in the upper 16 bits, the pattern in the next 32, then the count.
HOIST_HD constexpr uint64_t found_entry(uint32_t state, uint32_t pattern, uint32_t raw) {
  return uint64_t{state} << 48 | uint64_t{pattern} << 16 | raw;
}

// Matches come in no order. More than `capacity` are counted, not kept.
struct ScanOutput {
  unsigned long long* count;
  uint64_t* found;
  uint64_t capacity;
  uint32_t* bins;  // null, or kScoreBins for each state: how many matches have which score
  Base base;       // of that score
};

struct ScanRuns {
  const ScanRun* runs;
  uint32_t count;
  uint32_t groups;
  // By the job's state, then run: the least LCS, or the largest distance, that matches; kNoLcs or
  // kNoDistance where none does.
  const int32_t* limits;
};
inline constexpr int32_t kNoLcs = INT32_MAX;
inline constexpr int32_t kNoDistance = -1;
HOIST_HD constexpr bool none_matches(Count count, int32_t limit) {
  return count == Count::lcs ? limit == kNoLcs : limit == kNoDistance;
}

// How a state's symbols and their masks lie in its table (slot_table.h).
enum class SlotWidth : uint32_t { narrow, medium, wide };

// A state of at most 64 symbols of 16 bits.
struct SlotState {
  uint32_t index;  // which one it is in matches
  uint32_t length;
  uint32_t multiplier;
  uint32_t table;  // where its table begins, in bytes
};

struct TileScanJob {
  const uint16_t* symbols;
  ScanRuns runs;  // of tiles, in groups of kGroupTiles
  const SlotState* states;
  uint32_t state_count;
  SlotWidth width;     // of all tables
  uint32_t slot_bits;  // of all tables
  const unsigned char* tables;
  Count count;
  ScanOutput output;
};

// 64 symbols of a state, fewer in its last strip: an open hash table from ids to masks.
inline constexpr uint32_t kStripSlotBits = 8;
inline constexpr uint32_t kStripSlots = 1u << kStripSlotBits;
inline constexpr uint32_t kNoSymbol = 0xFFFF'FFFF;
struct Strip {
  uint32_t keys[kStripSlots];
  uint64_t masks[kStripSlots];
};

// A state of any length.
struct StripState {
  uint32_t index;
  uint32_t length;  // at least 1
  uint32_t first_strip;
};

struct SequenceScanJob {
  const void* symbols;
  uint32_t is_wide;  // symbols of 32 bits
  ScanRuns runs;     // in groups of kLanes patterns
  const StripState* states;
  uint32_t state_count;
  const Strip* strips;
  // Scratch where a state has several strips: a byte for each row of the longest run and thread.
  uint8_t* carries;
  uint32_t threads;  // a multiple of kSequenceThreads
  Count count;
  ScanOutput output;
};
inline constexpr uint32_t kSequenceThreads = 256;  // of a block

// The score in kScoreBins steps, rounded down. Not both lengths are 0.
HOIST_HD inline uint32_t score_bin(Count count, Base base, uint32_t raw, uint32_t n, uint32_t m) {
  const uint32_t longer = n > m ? n : m;
  const uint32_t equal = count == Count::distance ? longer - raw : raw;
  const uint32_t bin =
      base == Base::both ? 2 * equal * kScoreBins / (n + m) : equal * kScoreBins / longer;
  return bin < kScoreBins ? bin : kScoreBins - 1;
}

// The run that holds a group.
HOIST_HD inline uint32_t run_of_group(const ScanRuns& runs, uint32_t group) {
  uint32_t low = 0;
  uint32_t high = runs.count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (runs.runs[middle].first_group <= group) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace hoist::match
