// The kernel that finds blocks: a warp takes one pattern after the other. What its lanes compute is
// in block_walk.h; blocks.cu launches it, and a test runs it on threads of the host
// (block_threads.h).
#pragma once

#include <cstdint>

#include "match/gpu/block_job.h"
#include "match/gpu/block_walk.h"
#include "match/gpu/sequence_scan.h"

namespace hoist::match {

inline constexpr uint32_t kBlockThreads = 256;
inline constexpr uint32_t kBlockWarps = kBlockThreads / kLanes;
// Symbols that are copied to shared memory where they are no more: of the state, of each pattern.
inline constexpr uint32_t kNearState = 1024;
inline constexpr uint32_t kNearPattern = 256;

__device__ inline LongestRun longest_run_of_warp(const LongestRun& lane) {
  constexpr unsigned all = 0xFFFF'FFFFu;
  const uint32_t size = __reduce_max_sync(all, lane.size);
  return {size, __reduce_min_sync(all, lane.size == size ? lane.begin : kNoRun.begin)};
}

template <typename Symbol>
__device__ BlockSummary summarize_by_warp(const StridedSymbols<Symbol>& pattern, uint32_t length,
                                          const uint32_t* state, uint32_t state_length,
                                          uint32_t lane) {
  constexpr unsigned all = 0xFFFF'FFFFu;
  BlockWalk walk(length, state_length);
  uint64_t kept = 0;  // the lane's window of those that wait
  uint32_t waiting = 0;
  for (;;) {
    if (walk.is_too_long()) return {};
    const BlockWindow other =
        walk.take(longest_run_of_warp(longest_run_of_lane(pattern, state, walk.window(), lane)));
    if (!other.is_empty()) {
      if (lane == waiting) kept = other.packed();
      ++waiting;
    }
    if (!walk.window().is_empty()) continue;
    if (waiting == 0) break;
    --waiting;
    walk.enter(BlockWindow::unpack(__shfl_sync(all, kept, waiting)));
  }
  return walk.summary(__reduce_max_sync(all, last_equal_of_lane(pattern, walk.begin(), lane)));
}

template <typename Symbol>
__global__ void __launch_bounds__(kBlockThreads) summarize_blocks(const BlockJob job) {
  __shared__ uint32_t near_state[kNearState];
  __shared__ Symbol near_patterns[kBlockWarps][kNearPattern];
  const uint32_t lane = threadIdx.x % kLanes;
  Symbol* const near_pattern = near_patterns[threadIdx.x / kLanes];
  const bool is_near = job.state_length <= kNearState;
  if (is_near) {
    for (uint32_t i = threadIdx.x; i < job.state_length; i += kBlockThreads) {
      near_state[i] = job.state[i];
    }
  }
  __syncthreads();
  const uint32_t* const state = is_near ? near_state : job.state;
  const uint32_t stride = gridDim.x * kBlockWarps;
  for (uint32_t item = blockIdx.x * kBlockWarps + threadIdx.x / kLanes; item < job.count;
       item += stride) {
    const uint32_t index = job.patterns[item];
    const ScanRun run = job.runs[run_of_pattern(job.runs, job.run_count, index)];
    const SequencePlace place = sequence_place(run, index - run.first_pattern);
    StridedSymbols<Symbol> pattern = {static_cast<const Symbol*>(job.symbols) + place.begin,
                                      place.stride};
    if (run.length <= kNearPattern) {
      __syncwarp();  // the pattern before is done with
      for (uint32_t i = lane; i < run.length; i += kLanes) {
        near_pattern[i] = pattern.at[uint64_t{i} * pattern.stride];
      }
      pattern = {near_pattern, 1};
      __syncwarp();
    }
    BlockSummary summary = {0, 0, 0, 0, 0, 1};
    if (run.length != 0 && job.state_length != 0) {
      summary = summarize_by_warp(pattern, run.length, state, job.state_length, lane);
    }
    if (lane == 0) job.summaries[item] = summary;
  }
}

}  // namespace hoist::match
