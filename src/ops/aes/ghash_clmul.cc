#include "ops/aes/clmul.h"

namespace hoist::aes {
namespace {

constexpr size_t kAggregate = 8;

}  // namespace

HOIST_CLMUL Gf128 multiply_clmul(const Gf128& a, const Gf128& b) {
  Sums sums = no_sums();
  add_product(sums, load(a), load(divide_by_x(b)));
  return stored(reduced(sums));
}

HOIST_CLMUL void ghash_clmul(const GhashKey& key, Gf128& y, const uint8_t* data, size_t blocks) {
  __m128i sum = load(y);
  while (blocks > 0) {
    const size_t count = blocks < kAggregate ? blocks : kAggregate;
    const Gf128* power = key.powers + GhashKey::kPowers - count;
    Sums sums = no_sums();
    add_product(sums, _mm_xor_si128(sum, reversed_bytes(data)), load(power[0]));
    for (size_t i = 1; i < count; ++i) {
      add_product(sums, reversed_bytes(data + i * kBlock), load(power[i]));
    }
    sum = reduced(sums);
    data += count * kBlock;
    blocks -= count;
  }
  y = stored(sum);
}

HOIST_VECTOR_CLMUL void ghash_vector_clmul(const GhashKey& key, Gf128& y, const uint8_t* data,
                                           size_t blocks) {
  __m128i sum = load(y);
  for (; blocks >= GhashKey::kPowers; blocks -= GhashKey::kPowers) {
    VectorSums sums = no_vector_sums();
#pragma GCC unroll 8
    for (size_t i = 0; i < GhashKey::kPowers; i += kBlocksOfVector) {
      __m512i value = reversed_vector(data + i * kBlock);
      if (i == 0) value = _mm512_xor_si512(value, _mm512_zextsi128_si512(sum));
      add_products(sums, value, _mm512_loadu_si512(key.powers + i));
    }
    sum = reduced(sums);
    data += GhashKey::kPowers * kBlock;
  }
  y = stored(sum);
  ghash_clmul(key, y, data, blocks);
}

}  // namespace hoist::aes
