// CRC-32 of one large input in a device's memory, from px (crc32.px).
//
//   Status done = crc32::large_crc32(stream, crc32::Polynomial::ieee, data, 0, result);
//
// result[0], in the device's memory too, becomes what zlib's crc32(crc, data, size) gives, or for
// `castagnoli` the same of CRC-32C (RFC 3720, 12.1): `crc` is that of what precedes the data, 0 for
// nothing.
//
// Enqueued on the stream; memory must stay until it has come past. Thread-safe.
//
// Errors: `invalid_argument` where `data` does not begin at a multiple of 16 bytes, as every
// device::Buffer does, or where `result` is not one word; those of px/built_in/kernel.h.
#pragma once

#include <cstdint>

#include "device/buffer.h"
#include "device/stream.h"

namespace hoist::crc32 {

enum class Polynomial { ieee, castagnoli };

Status large_crc32(const device::Stream& stream, Polynomial polynomial,
                   device::Span<const std::byte> data, uint32_t crc, device::Span<uint32_t> result);

}  // namespace hoist::crc32
