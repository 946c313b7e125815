// Constants, dictionaries and runs on the GPU. Codes are decoded and looked up in one pass; a run
// is found by binary search among the ends, first the range of runs that a block's values lie in,
// then in that range for each thread (the load-balancing search of merge path: Green, McColl &
// Bader 2012).
#include "codec/bitpack_tile.cuh"
#include "device/on_device.h"

namespace hoist::codec {
namespace {

constexpr unsigned kExpandThreads = 256;
constexpr uint64_t kExpandValues = 8192;  // of a block

// Codes at or above `entry_count` mark their tile as damaged.
template <typename Word>
__global__ void __launch_bounds__(kBlockThreads, 4)
    decode_codes(const uint8_t* stream, uint64_t size, uint64_t count, const Word* entries,
                 uint32_t entry_count, Word* out, uint32_t* first_bad) {
  __shared__ Quad<uint32_t> staged[kWarpsPerBlock][kTileValues / 4];
  const unsigned warp = threadIdx.x / kLanes;
  const unsigned thread = threadIdx.x % kLanes;
  const uint64_t index = uint64_t{blockIdx.x} * kWarpsPerBlock + warp;
  if (index * kTileValues >= count) return;
  const uint64_t left = count - index * kTileValues;
  Quad<uint32_t> codes[kGroups];
  bool good = decode_tile(stream, size, index, thread, staged[warp], codes);
  if (good) {
    Quad<Word> values[kGroups];
#pragma unroll
    for (unsigned group = 0; group < kGroups; ++group) {
#pragma unroll
      for (unsigned place = 0; place < 4; ++place) {
        const uint32_t code = codes[group].values[place];
        const bool known = code < entry_count;
        // What fills up the last tile is no value, so it may name no entry.
        good &= known || group * kGroupValues + thread * 4 + place >= left;
        values[group].values[place] = known ? entries[code] : Word{0};
      }
    }
    good = __all_sync(kAllThreads, good);
    if (good) store_tile(thread, left, values, out + index * kTileValues);
  }
  if (!good && thread == 0) atomicMin(first_bad, static_cast<uint32_t>(index));
}

// The first run in [low, high) that ends behind `position`; `high` where none does.
__device__ uint64_t find_run(const uint64_t* ends, uint64_t low, uint64_t high, uint64_t position) {
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (ends[middle] > position) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Ends must rise from 1 to `count`.
__global__ void check_ends(const uint64_t* ends, uint64_t runs, uint64_t count,
                           uint32_t* first_bad) {
  const uint64_t run = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (run >= runs) return;
  const uint64_t before = run == 0 ? 0 : ends[run - 1];
  const bool good = ends[run] > before && (run + 1 != runs || ends[run] == count);
  if (!good) atomicMin(first_bad, static_cast<uint32_t>(run / kTileValues));
}

// Does nothing where anything before it in the stream has found damage: with ends that do not rise,
// the walk along them would have no bound.
template <typename Word>
__global__ void __launch_bounds__(kExpandThreads)
    expand_runs(const Word* values, const uint64_t* ends, uint64_t runs, uint64_t count, Word* out,
                const uint32_t* first_bad) {
  if (*first_bad != kNoBadTile) return;
  __shared__ uint64_t range[2];
  const uint64_t begin = blockIdx.x * kExpandValues;
  const uint64_t end = min(begin + kExpandValues, count);
  if (threadIdx.x < 2) {
    range[threadIdx.x] = find_run(ends, 0, runs, threadIdx.x == 0 ? begin : end - 1);
  }
  __syncthreads();
  const uint64_t last = range[1];
  for (uint64_t first = begin + threadIdx.x * 4; first < end; first += kExpandThreads * 4) {
    uint64_t run = find_run(ends, range[0], last, first);
    Quad<Word> quad;
#pragma unroll
    for (unsigned place = 0; place < 4; ++place) {
      while (run < last && ends[run] <= first + place) ++run;
      quad.values[place] = values[run];
    }
    if (first + 4 <= end) {
      *reinterpret_cast<Quad<Word>*>(out + first) = quad;
      continue;
    }
#pragma unroll
    for (unsigned place = 0; place < 4; ++place) {
      if (first + place < end) out[first + place] = quad.values[place];
    }
  }
}

template <typename Word>
__global__ void fill(Word value, uint64_t count, Word* out) {
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    out[i] = value;
  }
}

unsigned blocks_for(uint64_t work, uint64_t per_block) {
  return static_cast<unsigned>((work + per_block - 1) / per_block);
}

template <typename Word>
cudaError_t launch_codes(cudaStream_t on, const void* codes, uint64_t size, uint64_t count,
                         const void* entries, uint32_t entry_count, void* out,
                         uint32_t* first_bad) {
  decode_codes<<<tile_blocks(count), kBlockThreads, 0, on>>>(
      static_cast<const uint8_t*>(codes), size, count, static_cast<const Word*>(entries),
      entry_count, static_cast<Word*>(out), first_bad);
  return cudaGetLastError();
}

template <typename Word>
cudaError_t launch_fill(cudaStream_t on, uint64_t value, uint64_t count, void* out) {
  const unsigned blocks = blocks_for(count < (1u << 24) ? count : 1u << 24, kExpandThreads);
  fill<<<blocks, kExpandThreads, 0, on>>>(static_cast<Word>(value), count, static_cast<Word*>(out));
  return cudaGetLastError();
}

template <typename Word>
cudaError_t launch_expand(cudaStream_t on, const void* values, const void* run_ends, uint64_t runs,
                          uint64_t count, void* out, uint32_t* first_bad) {
  const auto* const ends = static_cast<const uint64_t*>(run_ends);
  check_ends<<<blocks_for(runs, kExpandThreads), kExpandThreads, 0, on>>>(ends, runs, count,
                                                                          first_bad);
  expand_runs<Word><<<blocks_for(count, kExpandValues), kExpandThreads, 0, on>>>(
      static_cast<const Word*>(values), ends, runs, count, static_cast<Word*>(out), first_bad);
  return cudaGetLastError();
}

}  // namespace
}  // namespace hoist::codec

// Values take 4 or 8 bytes; counts are not 0; pointers are aligned to 16 bytes; the offset table of
// `count` codes lies within `size`.
extern "C" {

using namespace hoist::codec;
using hoist::device::on_device;

int hoist_cuda_dictionary_decode(int device, void* stream, const void* codes, uint64_t size,
                                 uint64_t count, const void* entries, uint32_t entry_count,
                                 unsigned value_bytes, void* out, uint32_t* first_bad) {
  return on_device(device, [=] {
    const auto launch = value_bytes == 4 ? launch_codes<uint32_t> : launch_codes<uint64_t>;
    return launch(static_cast<cudaStream_t>(stream), codes, size, count, entries, entry_count, out,
                  first_bad);
  });
}

int hoist_cuda_runs_expand(int device, void* stream, const void* values, const void* ends,
                           uint64_t runs, uint64_t count, unsigned value_bytes, void* out,
                           uint32_t* first_bad) {
  return on_device(device, [=] {
    const auto launch = value_bytes == 4 ? launch_expand<uint32_t> : launch_expand<uint64_t>;
    return launch(static_cast<cudaStream_t>(stream), values, ends, runs, count, out, first_bad);
  });
}

int hoist_cuda_constant_fill(int device, void* stream, uint64_t value, uint64_t count,
                             unsigned value_bytes, void* out) {
  return on_device(device, [=] {
    const auto launch = value_bytes == 4 ? launch_fill<uint32_t> : launch_fill<uint64_t>;
    return launch(static_cast<cudaStream_t>(stream), value, count, out);
  });
}

}  // extern "C"
