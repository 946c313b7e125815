// Launches the kernels that scan a segment's symbols.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "device/on_device.h"
#include "match/gpu/scan_kernels.cuh"

namespace hoist::match {
namespace {

// Shared memory of a block, so that three fit on a multiprocessor of 227 KiB, and states beyond
// which their tables take longer to copy than they save.
constexpr uint32_t kSharedBytes = 72 << 10;
constexpr uint32_t kMostStatesOfBlock = 8;
// Blocks for each that is resident, where several go over the same patterns: the last ones to
// finish then keep few waiting.
constexpr uint32_t kWaves = 8;

cudaError_t multiprocessors(int device, int& count) {
  return cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
}

template <template <typename> typename Steps, typename Table>
cudaError_t launch_tiles(int device, cudaStream_t stream, const TileScanJob& job) {
  const uint32_t state_bytes =
      (Table::kSlotBytes * kLanes << job.slot_bits) +
      (job.output.bins != nullptr ? kScoreBins * static_cast<uint32_t>(sizeof(uint32_t)) : 0);
  const uint32_t states =
      std::clamp(kSharedBytes / state_bytes, 1u, std::min(kMostStatesOfBlock, job.state_count));
  const uint32_t bytes = states * state_bytes;
  const auto kernel = scan_tiles<Steps, Table>;
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(bytes));
  int resident = 0;
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kTileThreads, bytes);
  }
  int processors = 0;
  if (error == cudaSuccess) error = multiprocessors(device, processors);
  if (error != cudaSuccess) return error;
  const uint32_t state_blocks = (job.state_count + states - 1) / states;
  const auto at_once = static_cast<uint32_t>(std::max(1, resident * processors));
  const uint32_t wanted = state_blocks == 1 ? at_once : (at_once * kWaves) / state_blocks + 1;
  const uint32_t useful = (job.runs.groups + kTileWarps - 1) / kTileWarps;
  kernel<<<std::min(wanted, useful) * state_blocks, kTileThreads, bytes, stream>>>(job, states);
  return cudaGetLastError();
}

template <template <typename> typename Steps>
cudaError_t launch_tiles_of_width(int device, cudaStream_t stream, const TileScanJob& job) {
  switch (job.width) {
    case SlotWidth::narrow:
      return launch_tiles<Steps, NarrowTable<kLanes>>(device, stream, job);
    case SlotWidth::medium:
      return launch_tiles<Steps, MediumTable<kLanes>>(device, stream, job);
    case SlotWidth::wide:
      return launch_tiles<Steps, WideTable<kLanes>>(device, stream, job);
  }
  return cudaErrorInvalidValue;
}

template <typename StripSteps>
cudaError_t launch_sequences(int device, cudaStream_t stream, const SequenceScanJob& job) {
  const auto kernel = job.is_wide != 0 ? scan_sequences<StripSteps, uint32_t>
                                       : scan_sequences<StripSteps, uint16_t>;
  int resident = 0;
  cudaError_t error =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kSequenceThreads, 0);
  int processors = 0;
  if (error == cudaSuccess) error = multiprocessors(device, processors);
  if (error != cudaSuccess) return error;
  const uint64_t rounds = (job.runs.groups + kSequenceWarps - 1) / kSequenceWarps;
  uint64_t blocks = std::min<uint64_t>(rounds * job.state_count,
                                       static_cast<uint64_t>(std::max(1, resident * processors)));
  if (job.carries != nullptr) blocks = std::min<uint64_t>(blocks, job.threads / kSequenceThreads);
  kernel<<<static_cast<unsigned>(blocks), kSequenceThreads, 0, stream>>>(job);
  return cudaGetLastError();
}

}  // namespace
}  // namespace hoist::match

// Jobs have at least one state and one group.
extern "C" int hoist_cuda_match_scan_tiles(int device, void* stream,
                                           const hoist::match::TileScanJob* job) {
  using namespace hoist::match;
  auto* const on = static_cast<cudaStream_t>(stream);
  return hoist::device::on_device(device, [&] {
    return job->count == Count::lcs ? launch_tiles_of_width<LcsSteps>(device, on, *job)
                                    : launch_tiles_of_width<DistanceSteps>(device, on, *job);
  });
}

extern "C" int hoist_cuda_match_scan_sequences(int device, void* stream,
                                               const hoist::match::SequenceScanJob* job) {
  using namespace hoist::match;
  auto* const on = static_cast<cudaStream_t>(stream);
  return hoist::device::on_device(device, [&] {
    return job->count == Count::lcs ? launch_sequences<LcsStrip>(device, on, *job)
                                    : launch_sequences<DistanceStrip>(device, on, *job);
  });
}
