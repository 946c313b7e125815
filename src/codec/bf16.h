// The parts of a bfloat16: sign (bit 15), exponent (14…7), mantissa (6…0).
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace hoist::codec {

HOIST_HD constexpr uint8_t bf16_exponent(uint16_t value) {
  return static_cast<uint8_t>(value >> 7);
}
HOIST_HD constexpr uint8_t bf16_sign_mantissa(uint16_t value) {
  return static_cast<uint8_t>((value >> 8 & 0x80) | (value & 0x7f));
}
HOIST_HD constexpr uint16_t bf16_join(uint8_t exponent, uint8_t sign_mantissa) {
  return static_cast<uint16_t>((sign_mantissa & 0x80) << 8 | exponent << 7 |
                               (sign_mantissa & 0x7f));
}

}  // namespace hoist::codec
