// Decoding of bit-packed streams (bitpack.h) on a CUDA device, from device memory to device memory.
//
//   Result<BitpackGpuDecoder> decoder = BitpackGpuDecoder::create();  // unavailable: says why
//   if (Status status = decoder->launch({stream, stream_size, 4, count}, out); !status) …
//   if (Status status = decoder->finish(); !status) …                 // corrupt: names the tile
//
// The work is queued on the default stream: launch() returns at once, and several may precede one
// finish(). Tiles are validated on the device: a damaged stream never writes outside `out`, and its
// damaged tiles are left unwritten. Results equal the CPU's. The stream must not change between
// launch() and finish(): memory that another process can write is copied first.
//
// Not thread-safe: one decoder a thread.
#pragma once

#include <cstdint>
#include <utility>

#include "base/result.h"
#include "device/cuda_memory.h"

namespace hoist::codec {

// A stream in device memory. What its header says is given by the caller, who has read it before
// the upload (BitpackView) or knows it; the header itself is not read again.
struct DeviceBitpack {
  const void* stream;  // aligned to 16 bytes
  uint64_t size;       // bytes
  unsigned value_bytes;
  uint64_t count;
};

// Whether the offset table that `count` asks for lies within the stream, whatever `count` is.
bool table_fits(const DeviceBitpack& packed);

class BitpackGpuDecoder {
 public:
  static Result<BitpackGpuDecoder> create();

  // `out` holds `count` values and is aligned to 16 bytes. `unsupported` for values of other than 4
  // or 8 bytes, `corrupt` where the stream is too short for its count.
  Status launch(const DeviceBitpack& packed, void* out);

  // Waits for everything launched; `corrupt` where a tile was damaged.
  Status finish();

  // Where other kernels may report damage (atomicMin of a tile's index), in device memory.
  uint32_t* first_bad() { return static_cast<uint32_t*>(first_bad_.data()); }

 private:
  using Decode = int(const void*, uint64_t, unsigned, uint64_t, void*, uint32_t*);

  BitpackGpuDecoder(Decode* decode, device::Buffer first_bad)
      : decode_(decode), first_bad_(std::move(first_bad)) {}

  Decode* decode_;
  device::Buffer first_bad_;  // kNoBadTile, or a damaged tile's index
};

}  // namespace hoist::codec
