// A block is 64 elements: one mask register a plane. Each function carries its target attribute;
// the file is compiled for the base instruction set, so nothing else in it can need AVX-512.
#include "tensors/embedded/element_planes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "base/cpu.h"

namespace hoist::tensors {
namespace {

#define HOIST_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")))

constexpr size_t kBlock = 64;

bool supported() { return cpu_features().avx512_vbmi; }

// One bit of each of a vector's elements, lowest element first.
template <size_t kWidth>
HOIST_AVX512 inline uint64_t test(__m512i vector, uint32_t bit) {
  if constexpr (kWidth == 1) {
    return _mm512_test_epi8_mask(vector, _mm512_set1_epi8(static_cast<char>(1u << bit)));
  } else if constexpr (kWidth == 2) {
    return _mm512_test_epi16_mask(vector, _mm512_set1_epi16(static_cast<int16_t>(1u << bit)));
  } else if constexpr (kWidth == 4) {
    return _mm512_test_epi32_mask(vector, _mm512_set1_epi32(static_cast<int>(1u << bit)));
  } else {
    return _mm512_test_epi64_mask(vector, _mm512_set1_epi64(static_cast<int64_t>(1ull << bit)));
  }
}

template <size_t kWidth>
HOIST_AVX512 size_t split(const std::byte* elements, size_t count,
                          std::span<const BitPlane<std::byte>> planes) {
  const BitPlane<std::byte>* const first = planes.data();
  const size_t plane_count = planes.size();
  for (size_t block = 0; block < count / kBlock; ++block) {
    __m512i vectors[kWidth];
    for (size_t i = 0; i < kWidth; ++i) {
      vectors[i] = _mm512_loadu_si512(elements + (block * kWidth + i) * 64);
    }
    for (size_t p = 0; p < plane_count; ++p) {
      uint64_t bits = 0;
      for (size_t i = 0; i < kWidth; ++i) {
        bits |= test<kWidth>(vectors[i], first[p].bit) << (64 / kWidth * i);
      }
      __builtin_memcpy(first[p].bytes + block * 8, &bits, 8);
    }
  }
  return count / kBlock * kBlock;
}

// A row of the tables, looked up by 64 symbols.
struct Row {
  __m512i part[4];
};

HOIST_AVX512 inline void load_row(const uint8_t* bytes, Row& row) {
  for (int i = 0; i < 4; ++i) row.part[i] = _mm512_load_si512(bytes + 64 * i);
}

template <int kParts>
HOIST_AVX512 inline __m512i look_up(const Row& row, __m512i symbols) {
  if constexpr (kParts == 1) return _mm512_permutexvar_epi8(symbols, row.part[0]);
  const __m512i low = _mm512_permutex2var_epi8(row.part[0], symbols, row.part[1]);
  if constexpr (kParts == 2) return low;
  const __m512i high = _mm512_permutex2var_epi8(row.part[2], symbols, row.part[3]);
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(symbols), low, high);
}

// The bytes of a and b in turns.
HOIST_AVX512 inline void zip(__m512i a, __m512i b, __m512i& low, __m512i& high) {
  const __m512i pair_lanes = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
  const __m512i pair_lanes_high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
  // Eight bytes of each side by side, then their bytes in turns.
  const __m512i in_turns =
      _mm512_set_epi8(15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0, 15, 7, 14, 6, 13, 5, 12,
                      4, 11, 3, 10, 2, 9, 1, 8, 0, 15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1,
                      8, 0, 15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0);
  low = _mm512_shuffle_epi8(_mm512_permutex2var_epi64(a, pair_lanes, b), in_turns);
  high = _mm512_shuffle_epi8(_mm512_permutex2var_epi64(a, pair_lanes_high, b), in_turns);
}

// Rows become elements: after log2(kWidth) rounds the bytes of each element lie together.
template <size_t kWidth>
HOIST_AVX512 inline void interleave(__m512i (&rows)[kWidth]) {
#pragma GCC unroll 3
  for (size_t round = 1; round < kWidth; round *= 2) {
    __m512i next[kWidth];
#pragma GCC unroll 4
    for (size_t i = 0; i < kWidth / 2; ++i) {
      zip(rows[i], rows[i + kWidth / 2], next[2 * i], next[2 * i + 1]);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < kWidth; ++i) rows[i] = next[i];
  }
}

// Every byte has one bit, its own of eight.
struct alignas(64) BitBytes {
  uint8_t bytes[8][64];
};
constexpr BitBytes kBitBytes = [] {
  BitBytes table{};
  for (size_t bit = 0; bit < 8; ++bit) {
    for (uint8_t& byte : table.bytes[bit]) byte = static_cast<uint8_t>(1u << bit);
  }
  return table;
}();

template <size_t kWidth, int kParts>
HOIST_AVX512 uint8_t merge_blocks(const MergeTables& tables, const uint8_t* symbols, size_t blocks,
                                  const BitPlane<const std::byte>* planes, const size_t (&ends)[8],
                                  std::byte* elements) {
  Row table[kWidth];
  for (size_t row = 0; row < kWidth; ++row) load_row(tables.rows[row], table[row]);
  __m512i highest = _mm512_setzero_si512();
  for (size_t block = 0; block < blocks; ++block) {
    const __m512i these = _mm512_loadu_si512(symbols + block * kBlock);
    highest = _mm512_max_epu8(highest, these);
    __m512i rows[kWidth];
    size_t p = 0;
#pragma GCC unroll 8
    for (size_t row = 0; row < kWidth; ++row) {
      __m512i bits = _mm512_setzero_si512();
      for (; p < ends[row]; ++p) {
        uint64_t mask;
        __builtin_memcpy(&mask, planes[p].bytes + block * 8, 8);
        const __m512i bit = _mm512_load_si512(kBitBytes.bytes[planes[p].bit % 8]);
        bits = _mm512_mask_add_epi8(bits, mask, bits, bit);
      }
      rows[row] = _mm512_or_si512(bits, look_up<kParts>(table[row], these));
    }
    interleave(rows);
    for (size_t i = 0; i < kWidth; ++i) {
      _mm512_storeu_si512(elements + (block * kWidth + i) * 64, rows[i]);
    }
  }
  alignas(64) uint8_t lanes[64];
  _mm512_store_si512(lanes, highest);
  uint8_t most = 0;
  for (const uint8_t lane : lanes) most = lane > most ? lane : most;
  return most;
}

template <size_t kWidth>
HOIST_AVX512 Merged merge(const MergeTables& tables, const uint8_t* symbols, size_t count,
                          std::span<const BitPlane<const std::byte>> planes, std::byte* elements) {
  // By row, so that each row's planes follow one another.
  BitPlane<const std::byte> sorted[kMostPlanes];
  size_t ends[8];
  size_t taken = 0;
  for (size_t row = 0; row < kWidth; ++row) {
    for (size_t i = 0; i < planes.size(); ++i) {
      if (planes.data()[i].bit / 8 == row) sorted[taken++] = planes.data()[i];
    }
    ends[row] = taken;
  }
  const size_t blocks = count / kBlock;
  const auto run = tables.symbol_count <= 64    ? merge_blocks<kWidth, 1>
                   : tables.symbol_count <= 128 ? merge_blocks<kWidth, 2>
                                                : merge_blocks<kWidth, 4>;
  const uint8_t highest = run(tables, symbols, blocks, sorted, ends, elements);
  return {blocks * kBlock, highest};
}

}  // namespace

constinit const ElementPlanes kElementPlanesAvx512 = {"avx512",
                                                      supported,
                                                      {split<1>, split<2>, split<4>, split<8>},
                                                      {merge<1>, merge<2>, merge<4>, merge<8>}};

}  // namespace hoist::tensors
#endif
