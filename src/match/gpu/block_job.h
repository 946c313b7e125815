// What the host tells the kernel that finds the blocks of patterns and a state (block_walk.h), and
// what it answers. Every pointer is the device's.
#pragma once

#include <cstdint>

#include "match/gpu/scan_job.h"
#include "match/score/block_summary.h"

namespace hoist::match {

struct BlockJob {
  const void* symbols;
  uint32_t is_wide;     // symbols of 32 bits
  const ScanRun* runs;  // in ascending order of their patterns
  uint32_t run_count;
  const uint32_t* state;  // ids; of no pattern where the segment does not have the symbol
  uint32_t state_length;
  const uint32_t* patterns;  // indices in the segment, each in one of the runs
  uint32_t count;
  BlockSummary* summaries;  // one for each of `patterns`
};

HOIST_HD inline uint32_t run_of_pattern(const ScanRun* runs, uint32_t count, uint32_t pattern) {
  uint32_t low = 0;
  uint32_t high = count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (runs[middle].first_pattern <= pattern) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace hoist::match
