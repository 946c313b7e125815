#include "match/gpu/scan_enqueue.h"

#include <algorithm>

#include "device/kernel.h"
#include "match/gpu/sequence_scan.h"
#include "match/gpu/tile_scan.h"

namespace hoist::match {
namespace {

constinit const device::Kernel<const TileScanJob*> scan_tiles_kernel("hoist_cuda_match_scan_tiles",
                                                                     "scan of patterns");
constinit const device::Kernel<const SequenceScanJob*> scan_sequences_kernel(
    "hoist_cuda_match_scan_sequences", "scan of patterns");

void emit(const ScanOutput& output, Count count, uint32_t state, uint32_t state_length,
          uint32_t length, uint32_t pattern, uint32_t raw) {
  if (*output.count < output.capacity) {
    output.found[*output.count] = found_entry(state, pattern, raw);
  }
  ++*output.count;
  if (output.bins != nullptr) {
    ++output.bins[uint64_t{state} * kScoreBins +
                  score_bin(count, output.base, raw, length, state_length)];
  }
}

template <template <typename> typename Steps, typename Table>
void scan_tiles(const TileScanJob& job) {
  for (uint32_t group = 0; group < job.runs.groups; ++group) {
    const uint32_t run_index = run_of_group(job.runs, group);
    const ScanRun& run = job.runs.runs[run_index];
    for (uint32_t s = 0; s < job.state_count; ++s) {
      const int32_t limit = job.runs.limits[uint64_t{s} * job.runs.count + run_index];
      if (none_matches(job.count, limit)) continue;
      const SlotState& state = job.states[s];
      const Table table(job.tables + state.table, 0, 0, state.multiplier, job.slot_bits);
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const LaneMatches found = scan_tile_lane<Steps, Table>(
            job.symbols, run, group - run.first_group, lane, table, state.length, limit);
        for (uint32_t i = 0; i < kLanePatterns; ++i) {
          if ((found.lanes >> i & 1) == 0) continue;
          emit(job.output, job.count, state.index, state.length, run.length,
               found.first_pattern + i, found.raws[i]);
        }
      }
    }
  }
}

template <template <typename> typename Steps>
void scan_tiles_of_width(const TileScanJob& job) {
  switch (job.width) {
    case SlotWidth::narrow:
      return scan_tiles<Steps, NarrowTable<1>>(job);
    case SlotWidth::medium:
      return scan_tiles<Steps, MediumTable<1>>(job);
    case SlotWidth::wide:
      return scan_tiles<Steps, WideTable<1>>(job);
  }
}

template <typename StripSteps, typename Symbol>
void scan_sequences(const SequenceScanJob& job) {
  for (uint32_t group = 0; group < job.runs.groups; ++group) {
    const uint32_t run_index = run_of_group(job.runs, group);
    const ScanRun& run = job.runs.runs[run_index];
    for (uint32_t s = 0; s < job.state_count; ++s) {
      const StripState& state = job.states[s];
      const int32_t limit = job.runs.limits[uint64_t{s} * job.runs.count + run_index];
      if (none_matches(job.count, limit)) continue;
      const uint32_t first = (group - run.first_group) * kLanes;
      for (uint32_t place = first; place < first + std::min(kLanes, run.count - first); ++place) {
        const SequencePlace at = sequence_place(run, place);
        uint32_t raw = StripSteps::begin(state.length);
        for (uint32_t strip = 0; strip < strips_of(state.length); ++strip) {
          // Each pattern takes another thread's scratch, as on a GPU.
          uint8_t* const carries =
              job.carries == nullptr ? nullptr : job.carries + place % job.threads;
          scan_strip<StripSteps>(static_cast<const Symbol*>(job.symbols) + at.begin, at.stride,
                                 run.length, job.strips[state.first_strip + strip], state.length,
                                 strip, carries, job.threads, raw);
        }
        if (!is_match(job.count, raw, limit)) continue;
        emit(job.output, job.count, state.index, state.length, run.length,
             run.first_pattern + place, raw);
      }
    }
  }
}

void scan_on_host(const TileScanJob& job) {
  if (job.count == Count::lcs) {
    scan_tiles_of_width<LcsSteps>(job);
  } else {
    scan_tiles_of_width<DistanceSteps>(job);
  }
}

void scan_on_host(const SequenceScanJob& job) {
  if (job.count == Count::lcs) {
    job.is_wide != 0 ? scan_sequences<LcsStrip, uint32_t>(job)
                     : scan_sequences<LcsStrip, uint16_t>(job);
  } else {
    job.is_wide != 0 ? scan_sequences<DistanceStrip, uint32_t>(job)
                     : scan_sequences<DistanceStrip, uint16_t>(job);
  }
}

template <typename Job>
Status enqueue_scan(const device::Kernel<const Job*>& scan, device::Stream& stream,
                    const Job& job) {
  if (job.state_count == 0 || job.runs.groups == 0) return {};
  return scan.launch_or_run(
      stream, [job] { scan_on_host(job); }, &job);
}

}  // namespace

Status enqueue(device::Stream& stream, const TileScanJob& job) {
  return enqueue_scan(scan_tiles_kernel, stream, job);
}

Status enqueue(device::Stream& stream, const SequenceScanJob& job) {
  return enqueue_scan(scan_sequences_kernel, stream, job);
}

}  // namespace hoist::match
