// Bit-packed streams on the GPU, one warp a tile, from device memory to device memory.
#include "codec/bitpack_tile.cuh"
#include "device/on_device.h"

namespace hoist::codec {
namespace {

// `first_bad` becomes the least index of the tiles that are damaged; those are not written.
template <typename Word>
__global__ void __launch_bounds__(kBlockThreads, kBlocksPerProcessor<Word>)
    decode_tiles(const uint8_t* stream, uint64_t size, uint64_t count, Word* out,
                 uint32_t* first_bad) {
  __shared__ Quad<Word> staged[kWarpsPerBlock][kTileValues / 4];
  const unsigned warp = threadIdx.x / kLanes;
  const unsigned thread = threadIdx.x % kLanes;
  const uint64_t index = uint64_t{blockIdx.x} * kWarpsPerBlock + warp;
  if (index * kTileValues >= count) return;
  Quad<Word> quads[kGroups];
  if (!decode_tile(stream, size, index, thread, staged[warp], quads)) {
    if (thread == 0) atomicMin(first_bad, static_cast<uint32_t>(index));
    return;
  }
  store_tile(thread, count - index * kTileValues, quads, out + index * kTileValues);
}

template <typename Word>
cudaError_t launch(cudaStream_t on, const void* stream, uint64_t size, uint64_t count, void* out,
                   uint32_t* first_bad) {
  decode_tiles<Word><<<tile_blocks(count), kBlockThreads, 0, on>>>(
      static_cast<const uint8_t*>(stream), size, count, static_cast<Word*>(out), first_bad);
  return cudaGetLastError();
}

}  // namespace
}  // namespace hoist::codec

// The caller has checked that the offset table of `count` values lies within the `size` bytes
// `packed`, that count is not 0, and that both pointers are aligned to 16 bytes.
extern "C" int hoist_cuda_bitpack_decode(int device, void* stream, const void* packed,
                                         uint64_t size, unsigned value_bytes, uint64_t count,
                                         void* out, uint32_t* first_bad) {
  using namespace hoist::codec;
  return hoist::device::on_device(device, [=] {
    auto* const on = static_cast<cudaStream_t>(stream);
    return value_bytes == 4 ? launch<uint32_t>(on, packed, size, count, out, first_bad)
                            : launch<uint64_t>(on, packed, size, count, out, first_bad);
  });
}
