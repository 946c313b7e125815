// Decoding of bit-packed streams (bitpack.h) on a CUDA device, from device memory to device memory.
//
//   Result<BitpackGpuDecoder> decoder = BitpackGpuDecoder::create(stream);
//   if (Status status = decoder->launch({packed, packed_size, 4, count}, out); !status) …
//   if (Status status = decoder->finish(); !status) …                 // corrupt: names the tile
//
// The work is queued on the stream that the decoder is made for, which must outlive it: launch()
// returns at once, and several may precede one finish(). Tiles are validated on the device: a
// damaged stream never writes outside `out`, and its damaged tiles are left unwritten. Results
// equal the CPU's. The packed bytes must not change between launch() and finish(): memory that
// another process can write is copied first.
//
// Not thread-safe: one decoder a thread.
#pragma once

#include <cstdint>
#include <utility>

#include "base/result.h"
#include "device/buffer.h"
#include "device/stream.h"

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
  // `unavailable` where its device has no CUDA (device/kernel.h), `unsupported` where it is no GPU.
  static Result<BitpackGpuDecoder> create(device::Stream& stream);

  device::Stream& stream() const { return *stream_; }

  // `out` holds `count` values and is aligned to 16 bytes. `unsupported` for values of other than 4
  // or 8 bytes, `corrupt` where the stream is too short for its count.
  Status launch(const DeviceBitpack& packed, void* out);

  // Waits for everything launched; `corrupt` where a tile was damaged.
  Status finish();

  // Where other kernels may report damage (atomicMin of a tile's index), in device memory.
  uint32_t* first_bad() { return static_cast<uint32_t*>(first_bad_.data()); }

 private:
  BitpackGpuDecoder(device::Stream& stream, device::Buffer first_bad)
      : stream_(&stream), first_bad_(std::move(first_bad)) {}

  device::Stream* stream_;
  device::Buffer first_bad_;  // kNoBadTile, or a damaged tile's index
};

}  // namespace hoist::codec
