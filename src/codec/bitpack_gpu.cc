#include "codec/bitpack_gpu.h"

#include <fmt/core.h>

#include <span>

#include "codec/bitpack_layout.h"
#include "device/kernel.h"

namespace hoist::codec {
namespace {

constinit const device::Kernel<const void*, uint64_t, unsigned, uint64_t, void*, uint32_t*> decode(
    "hoist_cuda_bitpack_decode", "decoding bit-packed tiles");

bool aligned(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % kTileAlignment == 0;
}

}  // namespace

bool table_fits(const DeviceBitpack& packed) {
  const uint64_t tiles = packed.count / kTileValues + (packed.count % kTileValues != 0 ? 1 : 0);
  return tiles < kNoBadTile &&
         sizeof(StreamHeader) + (tiles + 1) * sizeof(uint32_t) + tiles * kTileAlignment <=
             packed.size;
}

Result<BitpackGpuDecoder> BitpackGpuDecoder::create(device::Stream& stream) {
  if (Status found = decode.check(stream.device()); !found) return found.error();
  Result<device::Buffer> first_bad = device::Buffer::allocate(stream.device(), sizeof(uint32_t));
  if (!first_bad) return first_bad.error();
  if (Status status = first_bad->fill(std::byte{0xff}); !status) {
    return status.error();
  }
  return BitpackGpuDecoder(stream, std::move(*first_bad));
}

Status BitpackGpuDecoder::launch(const DeviceBitpack& packed, void* out) {
  if (packed.value_bytes != 4 && packed.value_bytes != 8) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("values of {} bytes (bit-packed stream on the GPU): decode them on the CPU",
                    packed.value_bytes));
  }
  if (!aligned(packed.stream) || !aligned(out)) {
    return fail(ErrorCode::invalid_argument,
                "pointer not aligned to 16 bytes (bit-packed stream on the GPU)");
  }
  if (!table_fits(packed)) return fail(ErrorCode::corrupt, "wrong size (bit-packed stream)");
  if (packed.count == 0) return {};
  return decode.launch(*stream_, packed.stream, packed.size, packed.value_bytes, packed.count, out,
                       first_bad());
}

Status BitpackGpuDecoder::finish() {
  if (Status status = stream_->synchronize(); !status) return status;
  uint32_t first_bad = 0;
  if (Status status = first_bad_.download(std::as_writable_bytes(std::span(&first_bad, 1)));
      !status) {
    return status;
  }
  if (first_bad == kNoBadTile) return {};
  if (Status status = first_bad_.fill(std::byte{0xff}); !status) return status;
  return fail(ErrorCode::corrupt, fmt::format("damaged (bit-packed tile {})", first_bad));
}

}  // namespace hoist::codec
