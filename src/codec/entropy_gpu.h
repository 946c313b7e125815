// The entropy decoder on a CUDA device, for coded bytes that are in its memory already.
//
//   Result<CudaEntropySection> section = CudaEntropySection::prepare(stream, *view, table);
//   if (Status status = section->decode(coded_on_device, symbols_on_device); !status) …
//   if (Status status = section->finish(); !status) …     // waits, and says whether it was good
//
// The stream, of a CUDA device, must outlive the section. Errors are those of a launch
// (device/kernel.h). An object is used by one thread at a time; decode() may be called again, for
// the same section, once finish() has returned.
#pragma once

#include <cstdint>

#include "codec/entropy.h"
#include "device/buffer.h"
#include "device/stream.h"

namespace hoist::codec {

class CudaEntropySection {
 public:
  // Copies the table and the list of tiles to the device; the view may go, its bytes are not read.
  static Result<CudaEntropySection> prepare(device::Stream& stream, const EntropyView& view,
                                            const EntropyTable& table);

  // Starts decoding, on the stream. `coded`: the section that the view was parsed from,
  // byte for byte the same or not: whatever is there, only [coded, coded + its size) is read and
  // only [symbols, symbols + view.symbols()) is written. Both aligned to 16 bytes. A warp decodes a
  // tile, so a section keeps a device busy from some 16 tiles a multiprocessor on: choose small
  // tiles for small sections (docs/measurements/codecs.md).
  Status decode(const void* coded, void* symbols);

  // Waits; `corrupt` where a tile did not decode. The symbols of such a tile are unspecified.
  Status finish();

 private:
  explicit CudaEntropySection(device::Stream& stream) : stream_(&stream) {}

  device::Stream* stream_;
  uint32_t symbols_per_code_ = 0;
  uint32_t tile_count_ = 0;
  device::Buffer table_;
  device::Buffer tiles_;
  device::Buffer first_bad_;
};

}  // namespace hoist::codec
