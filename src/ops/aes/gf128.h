// The field GF(2^128) modulo x^128 + x^7 + x^2 + x + 1 that GHASH (NIST SP 800-38D, 6.3) and, with
// the bits of a block in the opposite order, XTS (IEEE 1619, 5.2) calculate in.
//
// Everything here runs in time that depends on no operand. (A power's exponent is public.)
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::aes {

// An element as GCM writes it: the block's first bit, the coefficient of x^0, is the top bit of
// `high`.
struct Gf128 {
  uint64_t low = 0;
  uint64_t high = 0;

  bool operator==(const Gf128&) const = default;
  Gf128 operator^(const Gf128& other) const { return {low ^ other.low, high ^ other.high}; }
};

constexpr size_t kBlock = 16;

Gf128 load_block(const uint8_t* bytes);
void store_block(uint8_t* bytes, const Gf128& value);

// XTS keeps a tweak with the coefficient of x^0 in the first byte's lowest bit.
Gf128 load_tweak(const uint8_t* bytes);
void store_tweak(uint8_t* bytes, const Gf128& value);

Gf128 multiply(const Gf128& a, const Gf128& b);
// SP 800-38D, Algorithm 1: the oracle, and the fallback on processors without PCLMULQDQ.
Gf128 multiply_portable(const Gf128& a, const Gf128& b);

Gf128 power(Gf128 base, uint64_t exponent);
// x^exponent.
Gf128 power_of_x(uint64_t exponent);

}  // namespace hoist::aes
