// A block is 32 elements. Each function carries its target attribute; the file is compiled for the
// base instruction set, so nothing else in it can need AVX2.
#include "tensors/embedded/element_planes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "base/cpu.h"

namespace hoist::tensors {
namespace {

#define HOIST_AVX2 __attribute__((target("avx2")))

constexpr size_t kBlock = 32;

bool supported() { return cpu_features().avx2; }

// Bit `shift` below the highest of 32 elements, lowest element first.
template <size_t kWidth>
HOIST_AVX2 inline uint32_t test(const __m256i (&vectors)[kWidth], int shift) {
  const __m128i by = _mm_cvtsi32_si128(shift);
  uint32_t bits = 0;
  if constexpr (kWidth == 1) {
    // Bits that cross into the next byte are below its highest one.
    bits = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_sll_epi16(vectors[0], by)));
  } else if constexpr (kWidth == 2) {
    const __m256i signs =
        _mm256_packs_epi16(_mm256_sll_epi16(vectors[0], by), _mm256_sll_epi16(vectors[1], by));
    const __m256i in_order = _mm256_permute4x64_epi64(signs, 0xd8);
    bits = static_cast<uint32_t>(_mm256_movemask_epi8(in_order));
  } else if constexpr (kWidth == 4) {
    for (size_t i = 0; i < 4; ++i) {
      const __m256 shifted = _mm256_castsi256_ps(_mm256_sll_epi32(vectors[i], by));
      bits |= static_cast<uint32_t>(_mm256_movemask_ps(shifted)) << (8 * i);
    }
  } else {
    for (size_t i = 0; i < 8; ++i) {
      const __m256d shifted = _mm256_castsi256_pd(_mm256_sll_epi64(vectors[i], by));
      bits |= static_cast<uint32_t>(_mm256_movemask_pd(shifted)) << (4 * i);
    }
  }
  return bits;
}

template <size_t kWidth>
HOIST_AVX2 size_t split(const std::byte* elements, size_t count,
                        std::span<const BitPlane<std::byte>> planes) {
  const BitPlane<std::byte>* const first = planes.data();
  const size_t plane_count = planes.size();
  for (size_t block = 0; block < count / kBlock; ++block) {
    __m256i vectors[kWidth];
    for (size_t i = 0; i < kWidth; ++i) {
      vectors[i] = _mm256_loadu_si256(
          reinterpret_cast<const __m256i*>(elements + (block * kWidth + i) * 32));
    }
    for (size_t p = 0; p < plane_count; ++p) {
      const uint32_t bits = test<kWidth>(vectors, static_cast<int>(8 * kWidth - 1 - first[p].bit));
      __builtin_memcpy(first[p].bytes + block * 4, &bits, 4);
    }
  }
  return count / kBlock * kBlock;
}

// Adds `bit` to the elements whose bit of the plane is set: every byte sees the plane's byte that
// has its bit, and keeps that bit.
HOIST_AVX2 inline __m256i add_plane(__m256i sum, const std::byte* plane, uint32_t bit) {
  const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
                                          2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  const __m256i own = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201));
  uint32_t word;
  __builtin_memcpy(&word, plane, 4);
  const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(word)), spread);
  const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, own), own);
  const __m256i value = _mm256_set1_epi8(static_cast<char>(1u << bit));
  return _mm256_or_si256(sum, _mm256_and_si256(set, value));
}

// Sixteen entries at a time: a shuffle answers 0 where an index has its highest bit, which the
// saturating addition sets for the symbols of other sixteens.
HOIST_AVX2 inline __m256i look_up(const uint8_t* table, uint32_t entries, __m256i symbols) {
  __m256i found = _mm256_setzero_si256();
  for (uint32_t at = 0; at < entries; at += 16) {
    const __m128i part = _mm_load_si128(reinterpret_cast<const __m128i*>(table + at));
    const __m256i from = _mm256_xor_si256(symbols, _mm256_set1_epi8(static_cast<char>(at)));
    const __m256i index = _mm256_adds_epu8(from, _mm256_set1_epi8(0x70));
    found = _mm256_or_si256(found, _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(part), index));
  }
  return found;
}

// Rows become elements: after log2(kWidth) rounds the bytes of each element lie together.
template <size_t kWidth>
HOIST_AVX2 inline void interleave(__m256i (&rows)[kWidth]) {
#pragma GCC unroll 3
  for (size_t round = 1; round < kWidth; round *= 2) {
    __m256i next[kWidth];
#pragma GCC unroll 4
    for (size_t i = 0; i < kWidth / 2; ++i) {
      const __m256i low = _mm256_unpacklo_epi8(rows[i], rows[i + kWidth / 2]);
      const __m256i high = _mm256_unpackhi_epi8(rows[i], rows[i + kWidth / 2]);
      next[2 * i] = _mm256_permute2x128_si256(low, high, 0x20);
      next[2 * i + 1] = _mm256_permute2x128_si256(low, high, 0x31);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < kWidth; ++i) rows[i] = next[i];
  }
}

template <size_t kWidth>
HOIST_AVX2 Merged merge(const MergeTables& tables, const uint8_t* symbols, size_t count,
                        std::span<const BitPlane<const std::byte>> planes, std::byte* elements) {
  const BitPlane<const std::byte>* const first = planes.data();
  const size_t plane_count = planes.size();
  const size_t blocks = count / kBlock;
  __m256i highest = _mm256_setzero_si256();
  for (size_t block = 0; block < blocks; ++block) {
    const __m256i these =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(symbols + block * kBlock));
    highest = _mm256_max_epu8(highest, these);
    __m256i rows[kWidth];
    for (size_t row = 0; row < kWidth; ++row) {
      rows[row] = look_up(tables.rows[row], tables.symbol_count, these);
    }
    for (size_t p = 0; p < plane_count; ++p) {
      __m256i& row = rows[first[p].bit / 8];
      row = add_plane(row, first[p].bytes + block * 4, first[p].bit % 8);
    }
    interleave(rows);
    for (size_t i = 0; i < kWidth; ++i) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(elements + (block * kWidth + i) * 32),
                          rows[i]);
    }
  }
  alignas(32) uint8_t lanes[32];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), highest);
  uint8_t most = 0;
  for (const uint8_t lane : lanes) most = lane > most ? lane : most;
  return {blocks * kBlock, most};
}

}  // namespace

constinit const ElementPlanes kElementPlanesAvx2 = {"avx2",
                                                    supported,
                                                    {split<1>, split<2>, split<4>, split<8>},
                                                    {merge<1>, merge<2>, merge<4>, merge<8>}};

}  // namespace hoist::tensors
#endif
