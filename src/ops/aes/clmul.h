// Carry-less multiplication in GHASH's field, for the versions of it that use vector instructions.
//
// A block is loaded as one 128-bit number with its bytes reversed; then bit k stands for x^(127-k).
// The 255-bit product of two such numbers, one of them divided by x beforehand, has the coefficient
// of x^(255-k) at bit k: its upper half is reduced already, and x^(255-k) for k < 128 is folded
// upwards with x^128 = x^7 + x^2 + x + 1, 64 bits at a time. 0xc2… holds that polynomial's terms x,
// x^2 and x^7 in the reflected order.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "ops/aes/ghash.h"

#define HOIST_CLMUL __attribute__((target("pclmul,ssse3")))
#define HOIST_VECTOR_CLMUL __attribute__((target("pclmul,ssse3,avx512f,avx512bw,vpclmulqdq")))

namespace hoist::aes {

constexpr size_t kBlocksOfVector = 4;

// Sums of products, not yet reduced: low + middle * 2^64 + high * 2^128.
struct Sums {
  __m128i low;
  __m128i middle;
  __m128i high;
};

// The same in each of four lanes.
struct VectorSums {
  __m512i low;
  __m512i middle;
  __m512i high;
};

HOIST_CLMUL inline __m128i load(const Gf128& value) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(&value));
}

HOIST_CLMUL inline Gf128 stored(__m128i value) {
  Gf128 result;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&result), value);
  return result;
}

HOIST_CLMUL inline __m128i reverse_order() {
  return _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

HOIST_CLMUL inline __m128i reversed_bytes(const uint8_t* block) {
  return _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block)),
                          reverse_order());
}

// Four blocks.
HOIST_VECTOR_CLMUL inline __m512i reversed_vector(const uint8_t* blocks) {
  return _mm512_shuffle_epi8(_mm512_loadu_si512(blocks), _mm512_broadcast_i32x4(reverse_order()));
}

HOIST_CLMUL inline Sums no_sums() {
  return {_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
}

HOIST_VECTOR_CLMUL inline VectorSums no_vector_sums() {
  return {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
}

HOIST_CLMUL inline void add_product(Sums& sums, __m128i a, __m128i b) {
  sums.low = _mm_xor_si128(sums.low, _mm_clmulepi64_si128(a, b, 0x00));
  sums.high = _mm_xor_si128(sums.high, _mm_clmulepi64_si128(a, b, 0x11));
  const __m128i crossed =
      _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x01), _mm_clmulepi64_si128(a, b, 0x10));
  sums.middle = _mm_xor_si128(sums.middle, crossed);
}

HOIST_VECTOR_CLMUL inline void add_products(VectorSums& sums, __m512i a, __m512i b) {
  sums.low = _mm512_xor_si512(sums.low, _mm512_clmulepi64_epi128(a, b, 0x00));
  sums.high = _mm512_xor_si512(sums.high, _mm512_clmulepi64_epi128(a, b, 0x11));
  // 0x96: the exclusive or of all three.
  sums.middle = _mm512_ternarylogic_epi64(sums.middle, _mm512_clmulepi64_epi128(a, b, 0x01),
                                          _mm512_clmulepi64_epi128(a, b, 0x10), 0x96);
}

// Swaps the halves, so that the upper becomes the lower, and folds the former lower half upwards.
HOIST_CLMUL inline __m128i fold(__m128i value) {
  constexpr uint64_t kPolynomial = 0xc200000000000000;
  const __m128i polynomial = _mm_set_epi64x(0, static_cast<long long>(kPolynomial));
  return _mm_xor_si128(_mm_shuffle_epi32(value, 0x4e),
                       _mm_clmulepi64_si128(value, polynomial, 0x00));
}

HOIST_CLMUL inline __m128i reduced(const Sums& sums) {
  const __m128i low = _mm_xor_si128(sums.low, _mm_slli_si128(sums.middle, 8));
  const __m128i high = _mm_xor_si128(sums.high, _mm_srli_si128(sums.middle, 8));
  return _mm_xor_si128(high, fold(fold(low)));
}

HOIST_VECTOR_CLMUL inline __m128i sum_of_lanes(__m512i value) {
  const __m256i halves =
      _mm256_xor_si256(_mm512_castsi512_si256(value), _mm512_extracti64x4_epi64(value, 1));
  return _mm_xor_si128(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
}

HOIST_VECTOR_CLMUL inline __m128i reduced(const VectorSums& sums) {
  return reduced(Sums{sum_of_lanes(sums.low), sum_of_lanes(sums.middle), sum_of_lanes(sums.high)});
}

}  // namespace hoist::aes
