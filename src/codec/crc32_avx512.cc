// After Gopal, Ozturk, Guilford, Wolrich, Feghali, Dixon, Karakoyunlu: "Fast CRC computation for
// generic polynomials using PCLMULQDQ instruction" (Intel, 2009). What has been read is kept as a
// polynomial of a few hundred bytes; to go on, it is multiplied by the power of x by which it
// comes earlier in the message than the bytes that follow, modulo the CRC's polynomial. A vector
// holds four 128-bit lanes that are folded alike, and four vectors hide the latency of one
// multiplication.
#include "codec/crc32_avx512.h"

#include <immintrin.h>
#include <libdeflate.h>

#include <cstring>

#include "base/cpu.h"

namespace hoist::codec::crc32_detail {
namespace {

constexpr size_t kVector = 64;
constexpr size_t kStride = 4 * kVector;

// x^n modulo the polynomial, reflected as the CRC is: bit 31 is x^0. One bit further up, where the
// product of two reflected numbers of 64 bits wants it.
constexpr uint64_t power_of_x(unsigned n) {
  constexpr uint32_t kPolynomial = 0xedb88320;
  uint32_t power = uint32_t{1} << 31;
  for (; n > 0; --n) power = (power >> 1) ^ ((power & 1) != 0 ? kPolynomial : 0);
  return uint64_t{power} << 1;
}

template <unsigned kExponent>
constexpr int64_t kPowerOfX = static_cast<int64_t>(power_of_x(kExponent));

// Moves a polynomial `kBits` ahead: the factors of its earlier and of its later 64 bits.
template <unsigned kBits>
__m512i fold_factors() {
  return _mm512_broadcast_i32x4(_mm_set_epi64x(kPowerOfX<kBits - 32>, kPowerOfX<kBits + 32>));
}

__m512i fold(__m512i sum, __m512i factors, __m512i next) {
  constexpr int kThreeWayXor = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(sum, factors, 0x00),
                                   _mm512_clmulepi64_epi128(sum, factors, 0x11), next,
                                   kThreeWayXor);
}

__m512i load(const unsigned char* from) { return _mm512_loadu_si512(from); }

// The four lanes as one: the first comes 384 bits before the last, and so on.
__m128i fold_lanes(__m512i sum) {
  const __m512i factors =
      _mm512_set_epi64(0, 0, kPowerOfX<128 - 32>, kPowerOfX<128 + 32>, kPowerOfX<256 - 32>,
                       kPowerOfX<256 + 32>, kPowerOfX<384 - 32>, kPowerOfX<384 + 32>);
  const __m512i last = _mm512_maskz_mov_epi64(0xc0, sum);
  const __m512i moved = fold(sum, factors, last);
  const __m256i half =
      _mm256_xor_si256(_mm512_castsi512_si256(moved), _mm512_extracti64x4_epi64(moved, 1));
  return _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

}  // namespace

bool has_avx512() { return cpu_features().avx512_vpclmul; }

uint32_t crc32_avx512(uint32_t crc, const void* data, size_t size) {
  if (size < kStride) return libdeflate_crc32(crc, data, size);
  const auto* in = static_cast<const unsigned char*>(data);
  __m512i sums[4];
  for (size_t i = 0; i < 4; ++i) sums[i] = load(in + i * kVector);
  sums[0] =
      _mm512_xor_si512(sums[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(~crc))));
  in += kStride;
  size -= kStride;
  const __m512i stride_factors = fold_factors<8 * kStride>();
  for (; size >= kStride; in += kStride, size -= kStride) {
    for (size_t i = 0; i < 4; ++i) sums[i] = fold(sums[i], stride_factors, load(in + i * kVector));
  }
  const __m512i vector_factors = fold_factors<8 * kVector>();
  __m512i sum = sums[0];
  for (size_t i = 1; i < 4; ++i) sum = fold(sum, vector_factors, sums[i]);
  for (; size >= kVector; in += kVector, size -= kVector) {
    sum = fold(sum, vector_factors, load(in));
  }
  // 16 bytes that have the CRC of all, for a register that starts with zeros.
  unsigned char folded[16];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(folded), fold_lanes(sum));
  return libdeflate_crc32(libdeflate_crc32(UINT32_MAX, folded, sizeof folded), in, size);
}

}  // namespace hoist::codec::crc32_detail
