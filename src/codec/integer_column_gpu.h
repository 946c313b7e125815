// Integer columns (integer_column.h) on a CUDA device: uploaded as they are stored, decoded there.
//
//   Result<DeviceIntegerColumn> column = DeviceIntegerColumn::upload(stream, packed);
//   Result<Buffer> out = Buffer::allocate(stream, column->count() * column->value_bytes());
//   if (Status status = column->launch(*out); !status) …
//   if (Status status = column->finish(); !status) …   // corrupt: names the tile
//
// All codings of integer columns, values of 4 and 8 bytes; string dictionaries are decoded on the
// CPU. Nothing in a stream is trusted: whatever it holds, only `out` and the column's own buffers
// are written, and nothing reaches `out` but what is computed from the stream. Results equal the
// CPU's.
//
// A dictionary's entries, and runs, are decoded to device memory of the column's own: up to 410
// times their part of the stream, and no more than count() entries or runs. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/result.h"
#include "codec/bitpack_gpu.h"
#include "codec/integer_column.h"
#include "device/buffer.h"
#include "device/stream.h"

namespace hoist::codec {

class DeviceIntegerColumn {
 public:
  // Onto the stream's device; the stream must outlive the column. `unavailable` without CUDA,
  // `unsupported` where the device is no GPU and for values of 1 or 2 bytes, `corrupt` where
  // headers or sizes are wrong.
  static Result<DeviceIntegerColumn> upload(device::Stream& stream,
                                            std::span<const std::byte> packed);

  uint64_t count() const { return info_.count; }
  unsigned value_bytes() const { return info_.value_bytes; }
  IntegerCoding coding() const { return info_.coding; }
  // What decoding reads of the stream, in device memory.
  uint64_t stored_bytes() const { return first_.bytes.size() + second_.bytes.size(); }

  // Starts decoding on the stream; may be called again. `invalid_argument` where `out` is
  // smaller than the column.
  Status launch(device::Buffer& out);

  // Waits; `corrupt` where a tile was damaged.
  Status finish() { return decoder_.finish(); }

 private:
  // A bit-packed stream of a column, uploaded, and where it decodes to before the last step.
  struct Part {
    device::Buffer bytes;
    device::Buffer decoded;
    unsigned value_bytes = 0;
    uint64_t count = 0;

    DeviceBitpack packed() const { return {bytes.data(), bytes.size(), value_bytes, count}; }
  };

  DeviceIntegerColumn(const IntegerColumnInfo& info, BitpackGpuDecoder decoder)
      : info_(info), decoder_(std::move(decoder)) {}

  Result<Part> upload_part(std::span<const std::byte> packed, unsigned value_bytes,
                           bool decoded) const;
  Status upload_payload(std::span<const std::byte> payload);
  Status launch_constant(void* out);
  Status launch_dictionary(void* out);
  Status launch_runs(void* out);

  IntegerColumnInfo info_;
  BitpackGpuDecoder decoder_;
  uint64_t constant_ = 0;
  Part first_;   // the tiles; the entries; the runs' values
  Part second_;  // the codes; the runs' ends
};

}  // namespace hoist::codec
