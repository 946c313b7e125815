#include "ops/aes/gf128.h"

#include <cstring>

#include "ops/aes/ghash.h"

namespace hoist::aes {
namespace {

uint64_t reverse_bits(uint64_t value) {
  value = (value >> 1 & 0x5555555555555555) | (value & 0x5555555555555555) << 1;
  value = (value >> 2 & 0x3333333333333333) | (value & 0x3333333333333333) << 2;
  value = (value >> 4 & 0x0f0f0f0f0f0f0f0f) | (value & 0x0f0f0f0f0f0f0f0f) << 4;
  return __builtin_bswap64(value);
}

uint64_t load64(const uint8_t* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

void store64(uint8_t* bytes, uint64_t value) { std::memcpy(bytes, &value, sizeof value); }

constexpr Gf128 kOne = {0, uint64_t{1} << 63};
constexpr Gf128 kX = {0, uint64_t{1} << 62};

}  // namespace

Gf128 load_block(const uint8_t* bytes) {
  return {__builtin_bswap64(load64(bytes + 8)), __builtin_bswap64(load64(bytes))};
}

void store_block(uint8_t* bytes, const Gf128& value) {
  store64(bytes, __builtin_bswap64(value.high));
  store64(bytes + 8, __builtin_bswap64(value.low));
}

Gf128 load_tweak(const uint8_t* bytes) {
  return {reverse_bits(load64(bytes + 8)), reverse_bits(load64(bytes))};
}

void store_tweak(uint8_t* bytes, const Gf128& value) {
  store64(bytes, reverse_bits(value.high));
  store64(bytes + 8, reverse_bits(value.low));
}

Gf128 multiply_portable(const Gf128& a, const Gf128& b) {
  constexpr uint64_t kReduction = uint64_t{0xe1} << 56;
  Gf128 sum;
  Gf128 shifted = b;
  for (int i = 0; i < 128; ++i) {
    const uint64_t word = i < 64 ? a.high : a.low;
    const uint64_t wanted = 0 - (word >> (63 - i % 64) & 1);
    sum.low ^= shifted.low & wanted;
    sum.high ^= shifted.high & wanted;
    const uint64_t overflow = 0 - (shifted.low & 1);
    shifted.low = shifted.low >> 1 | shifted.high << 63;
    shifted.high = shifted.high >> 1 ^ (kReduction & overflow);
  }
  return sum;
}

Gf128 multiply(const Gf128& a, const Gf128& b) {
  return has_clmul() ? multiply_clmul(a, b) : multiply_portable(a, b);
}

Gf128 power(Gf128 base, uint64_t exponent) {
  Gf128 result = kOne;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

Gf128 power_of_x(uint64_t exponent) { return power(kX, exponent); }

}  // namespace hoist::aes
