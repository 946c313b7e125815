#include "ops/aes/ghash.h"

#include "base/cpu.h"

namespace hoist::aes {
namespace {

void ghash_portable(const GhashKey& key, Gf128& y, const uint8_t* data, size_t blocks) {
  for (size_t i = 0; i < blocks; ++i) {
    y = multiply_portable(y ^ load_block(data + i * kBlock), key.h);
  }
}

}  // namespace

Gf128 divide_by_x(const Gf128& a) {
  // 1 / x = x^127 + x^6 + x + 1, whose coefficients lie at bits 0, 121, 126 and 127.
  const uint64_t overflow = 0 - (a.high >> 63);
  Gf128 shifted = {a.low << 1, a.high << 1 | a.low >> 63};
  shifted.low ^= overflow & 1;
  shifted.high ^= overflow & uint64_t{0xc2} << 56;
  return shifted;
}

void GhashKey::derive(const Gf128& key) {
  h = key;
  Gf128 raised = h;
  for (int i = kPowers - 1; i >= 0; --i) {
    powers[i] = divide_by_x(raised);
    raised = multiply(raised, h);
  }
}

bool has_clmul() { return cpu_features().pclmul && cpu_features().ssse3; }

bool has_vector_clmul() { return has_clmul() && cpu_features().avx512_vpclmul; }

GhashVersion best_ghash() {
  if (has_vector_clmul()) return GhashVersion::vector_clmul;
  return has_clmul() ? GhashVersion::clmul : GhashVersion::portable;
}

void ghash_with(GhashVersion version, const GhashKey& key, Gf128& y, const uint8_t* data,
                size_t blocks) {
  switch (version) {
    case GhashVersion::portable:
      return ghash_portable(key, y, data, blocks);
    case GhashVersion::clmul:
      return ghash_clmul(key, y, data, blocks);
    case GhashVersion::vector_clmul:
      return ghash_vector_clmul(key, y, data, blocks);
  }
}

void ghash(const GhashKey& key, Gf128& y, const uint8_t* data, size_t blocks) {
  ghash_with(best_ghash(), key, y, data, blocks);
}

}  // namespace hoist::aes
