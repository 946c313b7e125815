// 16 symbols a vector. Each function carries its target attribute; the file is compiled for the
// base instruction set.
#include <immintrin.h>

#include "base/cpu.h"
#include "match/scan/tile_kernels.h"
#include "match/segment_view.h"

namespace hoist::match {

extern const TileKernels kAvx2TileKernels;
bool avx2_supported();

namespace {

#define HOIST_AVX2 __attribute__((target("avx2")))

struct NibbleSets {
  __m256i set[4];
};

// For each of 16 symbols, -1 where a bucket has all four of its nibbles, else 0.
HOIST_AVX2 inline __m256i found(const NibbleSets& sets, __m256i symbols) {
  const __m256i nibble = _mm256_set1_epi8(15);
  const __m256i even = _mm256_and_si256(symbols, nibble);  // nibbles 0 and 2 in the two bytes
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi16(symbols, 4), nibble);  // 1 and 3
  const __m256i low = _mm256_and_si256(_mm256_shuffle_epi8(sets.set[0], even),
                                       _mm256_shuffle_epi8(sets.set[1], odd));
  const __m256i high = _mm256_and_si256(_mm256_shuffle_epi8(sets.set[2], even),
                                        _mm256_shuffle_epi8(sets.set[3], odd));
  // What the low byte has in common of nibbles 0 and 1, and the high byte of 2 and 3.
  const __m256i common = _mm256_and_si256(low, _mm256_srli_epi16(high, 8));
  const __m256i buckets = _mm256_and_si256(common, _mm256_set1_epi16(0xFF));
  const __m256i none = _mm256_cmpeq_epi16(buckets, _mm256_setzero_si256());
  return _mm256_xor_si256(none, _mm256_set1_epi16(-1));
}

// A bit for each of 16 counts: whether it is at least `least`.
HOIST_AVX2 inline uint32_t at_least(__m256i counts, __m256i least) {
  const __m256i enough = _mm256_cmpeq_epi16(_mm256_max_epu16(counts, least), counts);
  const __m128i bytes =
      _mm_packs_epi16(_mm256_castsi256_si128(enough), _mm256_extracti128_si256(enough, 1));
  return static_cast<uint32_t>(_mm_movemask_epi8(bytes));
}

HOIST_AVX2 inline __m256i load_16(const uint16_t* symbols) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(symbols));
}

// The low halves, in order.
HOIST_AVX2 inline __m256i load_16(const uint32_t* symbols) {
  const __m256i low = _mm256_set1_epi32(0xFFFF);
  const auto* at = reinterpret_cast<const __m256i*>(symbols);
  const __m256i first = _mm256_and_si256(_mm256_loadu_si256(at), low);
  const __m256i second = _mm256_and_si256(_mm256_loadu_si256(at + 1), low);
  return _mm256_permute4x64_epi64(_mm256_packus_epi32(first, second), 0b11'01'10'00);
}

template <typename T>
HOIST_AVX2 uint32_t members(const QueryTables& query, const T* tile, uint32_t rows,
                            uint32_t least) {
  NibbleSets sets;
  for (int k = 0; k < 4; ++k) {
    sets.set[k] = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(query.nibbles[k])));
  }
  __m256i left = _mm256_setzero_si256();
  __m256i right = _mm256_setzero_si256();
  for (uint32_t row = 0; row < rows; ++row, tile += kTileWidth) {
    left = _mm256_sub_epi16(left, found(sets, load_16(tile)));
    right = _mm256_sub_epi16(right, found(sets, load_16(tile + kTileWidth / 2)));
  }
  const __m256i wanted = _mm256_set1_epi16(static_cast<int16_t>(least));
  return at_least(left, wanted) | at_least(right, wanted) << 16;
}

}  // namespace

bool avx2_supported() { return cpu_features().avx2; }

const TileKernels kAvx2TileKernels = {"avx2", nullptr, members<uint16_t>, members<uint32_t>,
                                      word_lcs_of_lanes};

}  // namespace hoist::match
