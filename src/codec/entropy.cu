// Decodes the tiles of a section: a warp a tile (codec/entropy_lane.cuh), one table for all.
#include <cuda_runtime.h>

#include "codec/entropy_lane.cuh"
#include "device/on_device.h"

namespace hoist::codec {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kWarps = kThreads / kRansLanes;
constexpr unsigned kThreadsPerMultiprocessor = 2048;

template <unsigned kSymbolsPerCode>
__global__ void __launch_bounds__(kThreads, kThreadsPerMultiprocessor / kThreads)
    decode_tiles(const RansDecodeTable* table, const uint8_t* bytes, const EntropyTile* tiles,
                 uint32_t tile_count, uint8_t* symbols, uint32_t* first_bad) {
  __shared__ SharedTable shared;
  __shared__ __align__(16) uint16_t rings[kWarps][RingWords::kWords];
  for (unsigned i = threadIdx.x; i < kRansSlots; i += kThreads) shared.slots[i] = table->slots[i];
  for (unsigned i = threadIdx.x; i < 256; i += kThreads) shared.pairs[i] = table->pairs[i];
  __syncthreads();
  const unsigned warp = threadIdx.x / kRansLanes;
  const uint32_t index = blockIdx.x * kWarps + warp;
  if (index >= tile_count) return;
  const EntropyTile tile = tiles[index];
  const uint8_t* const from = bytes + tile.offset;
  uint8_t* const to = symbols + tile.first_symbol;
  if (tile.size == tile.symbols) {
    copy_tile(from, tile.size, threadIdx.x % kRansLanes, to);
  } else if (!decode_tile<kSymbolsPerCode>(shared, table->escape, from, tile, rings[warp], to)) {
    if (threadIdx.x % kRansLanes == 0) atomicMin(first_bad, index);
  }
}

}  // namespace

// All pointers are the device's; `bytes` and `symbols` are aligned to 16 bytes; tiles passed
// valid_tile() and lie inside `bytes` and `symbols`. The smallest index of a tile that does not
// decode goes to *first_bad, if it is smaller than what is there.
extern "C" int hoist_cuda_entropy_decode(int device, void* stream, uint32_t symbols_per_code,
                                         const void* table, const void* bytes, const void* tiles,
                                         uint32_t tile_count, void* symbols, void* first_bad) {
  return device::on_device(device, [=] {
    const auto kernel = symbols_per_code == 1 ? decode_tiles<1> : decode_tiles<2>;
    kernel<<<(tile_count + kWarps - 1) / kWarps, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const RansDecodeTable*>(table), static_cast<const uint8_t*>(bytes),
        static_cast<const EntropyTile*>(tiles), tile_count, static_cast<uint8_t*>(symbols),
        static_cast<uint32_t*>(first_bad));
    return cudaGetLastError();
  });
}

}  // namespace hoist::codec
