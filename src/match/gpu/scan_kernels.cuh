// The kernels of scans: which block and warp takes what, tables in shared memory, and the
// collection of matches. What a lane computes is in tile_scan.h and sequence_scan.h; scan.cu
// launches them, and a test runs them on threads of the host (block_threads.h).
#pragma once

#include <cstdint>

#include "match/gpu/scan_job.h"
#include "match/gpu/sequence_scan.h"
#include "match/gpu/tile_scan.h"

#ifdef __CUDACC__
#define HOIST_DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#endif

namespace hoist::match {

inline constexpr uint32_t kTileThreads = 256;
inline constexpr uint32_t kTileWarps = kTileThreads / kLanes;
inline constexpr uint32_t kSequenceWarps = kSequenceThreads / kLanes;
// Blocks on a multiprocessor that registers must suffice for.
template <typename Steps>
inline constexpr unsigned kResident = Steps::kCount == Count::lcs &&
                                              sizeof(typename Steps::Word) == 4
                                          ? 3
                                          : 2;

inline constexpr unsigned kAll = 0xFFFF'FFFFu;

__device__ inline uint32_t lane_of_thread() { return threadIdx.x % kLanes; }

// Gives each lane the place of its first match; called by whole warps, of which some lane has one.
__device__ inline uint64_t reserve(unsigned long long* counter, uint32_t count) {
  uint32_t before = count;
  for (uint32_t distance = 1; distance < kLanes; distance *= 2) {
    const uint32_t left = __shfl_up_sync(kAll, before, distance);
    if (lane_of_thread() >= distance) before += left;
  }
  unsigned long long first = 0;
  if (lane_of_thread() == kLanes - 1) first = atomicAdd(counter, before);
  first = __shfl_sync(kAll, first, kLanes - 1);
  return first + before - count;
}

// Called by whole warps. `bins` are the state's.
template <uint32_t kPatterns>
__device__ void emit(const ScanOutput& output, Count count, uint32_t* bins, uint32_t state,
                     uint32_t state_length, uint32_t length, uint32_t first_pattern, uint32_t lanes,
                     const uint32_t* raws) {
  if (!__any_sync(kAll, lanes != 0)) return;
  uint64_t at = reserve(output.count, static_cast<uint32_t>(__popc(lanes)));
  HOIST_UNROLL
  for (uint32_t i = 0; i < kPatterns; ++i) {
    if ((lanes >> i & 1) == 0) continue;
    if (at < output.capacity) output.found[at] = found_entry(state, first_pattern + i, raws[i]);
    ++at;
    if (bins != nullptr) {
      atomicAdd(bins + score_bin(count, output.base, raws[i], length, state_length), 1u);
    }
  }
}

template <typename T>
__device__ void copy_to_lanes(const T* from, T* to, uint32_t slots) {
  for (uint32_t i = threadIdx.x; i < slots * kLanes; i += kTileThreads) to[i] = from[i / kLanes];
}

// A table of one copy becomes one with a copy for each lane.
template <typename Table>
__device__ void stage_table(const unsigned char* from, unsigned char* to, uint32_t slots) {
  using Word = typename Table::Word;
  copy_to_lanes(reinterpret_cast<const Word*>(from), reinterpret_cast<Word*>(to), slots);
  if constexpr (Table::kSlotBytes > sizeof(Word)) {
    copy_to_lanes(reinterpret_cast<const uint32_t*>(reinterpret_cast<const Word*>(from) + slots),
                  reinterpret_cast<uint32_t*>(reinterpret_cast<Word*>(to) + slots * kLanes), slots);
  }
}

// A block takes up to `states_of_block` states and every n-th group, beginning with its own, where
// n blocks have the same states. Blocks of the same groups follow one another, so that what one
// fetches from memory the others find in the cache.
template <template <typename> typename Steps, typename Table>
__global__ void __launch_bounds__(kTileThreads, kResident<Steps<Table>>)
    scan_tiles(const TileScanJob job, uint32_t states_of_block) {
  HOIST_DYNAMIC_SHARED(shared);
  const uint32_t state_blocks = (job.state_count + states_of_block - 1) / states_of_block;
  const uint32_t first_state = blockIdx.x % state_blocks * states_of_block;
  const uint32_t states = min(states_of_block, job.state_count - first_state);
  const uint32_t slots = 1u << job.slot_bits;
  const uint32_t table_bytes = slots * kLanes * Table::kSlotBytes;
  auto* const bins = reinterpret_cast<uint32_t*>(shared + states_of_block * table_bytes);
  for (uint32_t s = 0; s < states; ++s) {
    stage_table<Table>(job.tables + job.states[first_state + s].table, shared + s * table_bytes,
                       slots);
  }
  if (job.output.bins != nullptr) {
    for (uint32_t i = threadIdx.x; i < states * kScoreBins; i += kTileThreads) bins[i] = 0;
  }
  __syncthreads();

  const uint32_t stride = gridDim.x / state_blocks * kTileWarps;
  uint32_t group = blockIdx.x / state_blocks * kTileWarps + threadIdx.x / kLanes;
  for (; group < job.runs.groups; group += stride) {
    const uint32_t run_index = run_of_group(job.runs, group);
    const ScanRun run = job.runs.runs[run_index];
    for (uint32_t s = 0; s < states; ++s) {
      const int32_t limit = job.runs.limits[(first_state + s) * job.runs.count + run_index];
      if (none_matches(job.count, limit)) continue;
      const SlotState state = job.states[first_state + s];
      const Table table(shared, s, lane_of_thread(), state.multiplier, job.slot_bits);
      const LaneMatches found = scan_tile_lane<Steps, Table>(
          job.symbols, run, group - run.first_group, lane_of_thread(), table, state.length, limit);
      emit<kLanePatterns>(job.output, job.count,
                          job.output.bins != nullptr ? bins + s * kScoreBins : nullptr, state.index,
                          state.length, run.length, found.first_pattern, found.lanes, found.raws);
    }
  }

  if (job.output.bins == nullptr) return;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < states * kScoreBins; i += kTileThreads) {
    const uint32_t state = job.states[first_state + i / kScoreBins].index;
    if (bins[i] != 0) atomicAdd(job.output.bins + state * kScoreBins + i % kScoreBins, bins[i]);
  }
}

// A block takes kSequenceThreads patterns and a state at a time, strip by strip.
template <typename StripSteps, typename Symbol>
__global__ void __launch_bounds__(kSequenceThreads) scan_sequences(const SequenceScanJob job) {
  __shared__ Strip table;
  const uint32_t rounds = (job.runs.groups + kSequenceWarps - 1) / kSequenceWarps;
  const uint64_t items = uint64_t{rounds} * job.state_count;
  uint8_t* const carries =
      job.carries == nullptr ? nullptr : job.carries + blockIdx.x * kSequenceThreads + threadIdx.x;
  for (uint64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const auto state_index = static_cast<uint32_t>(item % job.state_count);
    const StripState state = job.states[state_index];
    const uint32_t group =
        static_cast<uint32_t>(item / job.state_count) * kSequenceWarps + threadIdx.x / kLanes;
    ScanRun run = {};
    int32_t limit = 0;
    bool is_active = group < job.runs.groups;
    uint32_t place = 0;
    if (is_active) {
      const uint32_t run_index = run_of_group(job.runs, group);
      run = job.runs.runs[run_index];
      limit = job.runs.limits[state_index * job.runs.count + run_index];
      // Groups are rounded up: beyond 2^32 it would begin anew.
      const uint64_t at = uint64_t{group - run.first_group} * kLanes + lane_of_thread();
      place = static_cast<uint32_t>(at);
      is_active = at < run.count && !none_matches(job.count, limit);
    }
    if (__syncthreads_or(static_cast<int>(is_active)) == 0) continue;
    const SequencePlace at = sequence_place(run, place);
    uint32_t raw = StripSteps::begin(state.length);
    for (uint32_t strip = 0; strip < strips_of(state.length); ++strip) {
      const auto* const from =
          reinterpret_cast<const uint32_t*>(job.strips + state.first_strip + strip);
      for (uint32_t i = threadIdx.x; i < sizeof(Strip) / sizeof(uint32_t); i += kSequenceThreads) {
        reinterpret_cast<uint32_t*>(&table)[i] = from[i];
      }
      __syncthreads();
      if (is_active) {
        scan_strip<StripSteps>(static_cast<const Symbol*>(job.symbols) + at.begin, at.stride,
                               run.length, table, state.length, strip, carries, job.threads, raw);
      }
      __syncthreads();
    }
    const uint32_t lanes = is_active && is_match(job.count, raw, limit) ? 1 : 0;
    emit<1>(job.output, job.count,
            job.output.bins != nullptr ? job.output.bins + state.index * kScoreBins : nullptr,
            state.index, state.length, run.length, run.first_pattern + place, lanes, &raw);
  }
}

}  // namespace hoist::match
