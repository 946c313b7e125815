// Decodes the symbols of columns, a warp a tile, and makes typed values of sequences, a thread a
// row (records/gpu/jobs.h).
#include <cuda_runtime.h>

#include "codec/entropy_lane.cuh"
#include "device/on_device.h"
#include "records/gpu/output_values.h"

namespace hoist::records {
namespace {

constexpr unsigned kLanes = codec::kRansLanes;
constexpr unsigned kOutputThreads = 256;
constexpr unsigned kOutputItems = 4;

// The slots of a table, as codec::EntropyTable has them.
__device__ void make_slots(const SymbolTable& from, codec::SharedTable& table) {
  const unsigned lane = threadIdx.x % kLanes;
  uint32_t start = 0;
  for (unsigned symbol = 0; symbol < 256; ++symbol) {
    const uint32_t frequency = from.frequencies[symbol];
    for (uint32_t i = lane; i < frequency; i += kLanes) {
      table.slots[start + i] = codec::rans_entry(frequency, i, symbol);
    }
    start += frequency;
  }
  for (uint32_t i = lane; i < from.escape_frequency; i += kLanes) {
    table.slots[start + i] = codec::rans_entry(from.escape_frequency, i, from.escape);
  }
  __syncwarp();
}

__global__ void __launch_bounds__(kLanes) decode_symbols(const SymbolJob* jobs, uint32_t* flags) {
  __shared__ codec::SharedTable table;
  __shared__ __align__(16) uint16_t ring[codec::RingWords::kWords];
  const SymbolJob job = jobs[blockIdx.x];
  const codec::EntropyTile tile = {0, 0, job.size, job.count};
  if (job.size == job.count) {
    codec::copy_tile(job.bytes, job.size, threadIdx.x, job.symbols);
    return;
  }
  make_slots(*job.table, table);
  if (!codec::decode_tile<1>(table, job.table->escape, job.bytes, tile, ring, job.symbols) &&
      threadIdx.x == 0) {
    atomicExch(flags + job.flag, 1u);
  }
}

__global__ void __launch_bounds__(kOutputThreads) write_outputs(const OutputJob* jobs) {
  const OutputJob& job = jobs[blockIdx.y];
  const uint32_t base = blockIdx.x * kOutputThreads * kOutputItems;
  if (base >= job.rows) return;
#pragma unroll
  for (unsigned item = 0; item < kOutputItems; ++item) {
    const uint32_t i = base + item * kOutputThreads + threadIdx.x;
    if (i < job.rows) write_output(job, i);
  }
}

}  // namespace

// All pointers are the device's, of as many jobs as they say; `flags` has a word for each flag of
// theirs. Jobs of one call do not read what another of them writes.
extern "C" int hoist_cuda_records_symbols(int device, void* stream, const SymbolJob* jobs,
                                          uint32_t count, uint32_t* flags) {
  return device::on_device(device, [=] {
    decode_symbols<<<count, kLanes, 0, static_cast<cudaStream_t>(stream)>>>(jobs, flags);
    return cudaGetLastError();
  });
}

// `rows`: the most that a job has. At most 65535 jobs.
extern "C" int hoist_cuda_records_outputs(int device, void* stream, const OutputJob* jobs,
                                          uint32_t count, uint32_t rows) {
  constexpr uint32_t kRows = kOutputThreads * kOutputItems;
  return device::on_device(device, [=] {
    const dim3 grid((rows + kRows - 1) / kRows, count);
    write_outputs<<<grid, kOutputThreads, 0, static_cast<cudaStream_t>(stream)>>>(jobs);
    return cudaGetLastError();
  });
}

}  // namespace hoist::records
