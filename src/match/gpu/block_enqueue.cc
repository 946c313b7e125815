#include "match/gpu/block_enqueue.h"

#include <algorithm>
#include <array>

#include "device/kernel.h"
#include "match/gpu/block_walk.h"
#include "match/gpu/sequence_scan.h"

namespace hoist::match {
namespace {

constinit const device::Kernel<const BlockJob*> summarize_blocks(
    "hoist_cuda_match_summarize_blocks", "blocks of patterns");

// What a warp does (block_kernels.cuh), its lanes one after the other.
template <typename Symbol>
BlockSummary summarize_by_lanes(const StridedSymbols<Symbol>& pattern, uint32_t length,
                                const uint32_t* state, uint32_t state_length) {
  BlockWalk walk(length, state_length);
  std::array<BlockWindow, kMostWaiting> waiting;
  size_t count = 0;
  for (;;) {
    if (walk.is_too_long()) return {};
    LongestRun longest = kNoRun;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const LongestRun found = longest_run_of_lane(pattern, state, walk.window(), lane);
      if (found.is_better_than(longest)) longest = found;
    }
    const BlockWindow other = walk.take(longest);
    if (!other.is_empty()) waiting.at(count++) = other;
    if (!walk.window().is_empty()) continue;
    if (count == 0) break;
    walk.enter(waiting.at(--count));
  }
  uint32_t before = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    before = std::max(before, last_equal_of_lane(pattern, walk.begin(), lane));
  }
  return walk.summary(before);
}

template <typename Symbol>
void summarize_on_host(const BlockJob& job) {
  for (uint32_t i = 0; i < job.count; ++i) {
    const ScanRun& run = job.runs[run_of_pattern(job.runs, job.run_count, job.patterns[i])];
    const SequencePlace place = sequence_place(run, job.patterns[i] - run.first_pattern);
    const StridedSymbols<Symbol> pattern = {static_cast<const Symbol*>(job.symbols) + place.begin,
                                            place.stride};
    job.summaries[i] = {0, 0, 0, 0, 0, 1};
    if (run.length == 0 || job.state_length == 0) continue;
    job.summaries[i] = summarize_by_lanes(pattern, run.length, job.state, job.state_length);
  }
}

}  // namespace

Status enqueue(device::Stream& stream, const BlockJob& job) {
  if (job.count == 0) return {};
  const auto on_host = [job] {
    job.is_wide != 0 ? summarize_on_host<uint32_t>(job) : summarize_on_host<uint16_t>(job);
  };
  return summarize_blocks.launch_or_run(stream, on_host, &job);
}

}  // namespace hoist::match
