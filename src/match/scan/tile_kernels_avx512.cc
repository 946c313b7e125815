// A row of a tile is one vector. Each function carries its target attribute; the file is compiled
// for the base instruction set.
#include <immintrin.h>

#include "base/cpu.h"
#include "match/scan/tile_kernels.h"
#include "match/segment_view.h"

namespace hoist::match {

extern const TileKernels kAvx512TileKernels;
bool avx512_supported();

namespace {

#define HOIST_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

// 64 16-bit entries in two registers.
struct Table {
  __m512i low;
  __m512i high;
};

HOIST_AVX512 inline Table load_table(const uint16_t* entries) {
  return {_mm512_load_si512(entries), _mm512_load_si512(entries + 32)};
}

HOIST_AVX512 inline __m512i look_up(const Table& table, __m512i index) {
  return _mm512_permutex2var_epi16(table.low, index, table.high);
}

// The upper 10 bits of the hash product of each symbol.
HOIST_AVX512 inline __m512i hashes_of(__m512i symbols, __m512i multiplier) {
  return _mm512_srli_epi16(_mm512_mullo_epi16(symbols, multiplier), 16 - QueryTables::kHashBits);
}

// 16 bits a lane: number of zero bits.
HOIST_AVX512 inline __m512i zero_bits(__m512i states) {
  const __m512i bits_of_nibble =
      _mm512_broadcast_i32x4(_mm_setr_epi8(4, 3, 3, 2, 3, 2, 2, 1, 3, 2, 2, 1, 2, 1, 1, 0));
  const __m512i nibble = _mm512_set1_epi8(15);
  const __m512i low = _mm512_shuffle_epi8(bits_of_nibble, _mm512_and_si512(states, nibble));
  const __m512i high =
      _mm512_shuffle_epi8(bits_of_nibble, _mm512_and_si512(_mm512_srli_epi16(states, 4), nibble));
  return _mm512_maddubs_epi16(_mm512_add_epi8(low, high), _mm512_set1_epi8(1));
}

// A table of 64 * kParts entries.
template <int kParts>
struct WideTable {
  Table parts[kParts];
};

template <int kParts>
HOIST_AVX512 inline WideTable<kParts> load_wide(const uint16_t* entries) {
  WideTable<kParts> table;
  for (int part = 0; part < kParts; ++part) table.parts[part] = load_table(entries + 64 * part);
  return table;
}

// Indices, and their bits above the six that a part takes.
struct Slots {
  __m512i index;
  __mmask32 bit6;
  __mmask32 bit7;
};

template <int kParts>
HOIST_AVX512 inline __m512i look_up(const WideTable<kParts>& table, const Slots& slots) {
  const __m512i first = look_up(table.parts[0], slots.index);
  if constexpr (kParts == 1) return first;
  const __m512i pair =
      _mm512_mask_mov_epi16(first, slots.bit6, look_up(table.parts[1], slots.index));
  if constexpr (kParts == 2) return pair;
  const __m512i upper =
      _mm512_mask_mov_epi16(look_up(table.parts[kParts - 2], slots.index), slots.bit6,
                            look_up(table.parts[kParts - 1], slots.index));
  return _mm512_mask_mov_epi16(pair, slots.bit7, upper);
}

// The states of 32 patterns as kLimbs limbs of 16 symbols of the query each, with the carry of the
// addition from limb to limb.
template <int kLimbs, int kParts>
HOIST_AVX512 uint32_t slot_lcs_of(const QueryTables& query, const uint16_t* tile, uint32_t rows,
                                  uint32_t least, uint16_t* lcs) {
  constexpr int kSlotBits = kParts == 1 ? 6 : kParts == 2 ? 7 : 8;
  const WideTable<kParts> keys = load_wide<kParts>(query.slot_keys);
  WideTable<kParts> masks[kLimbs];
  for (int limb = 0; limb < kLimbs; ++limb) {
    masks[limb] = load_wide<kParts>(query.slot_masks[limb]);
  }
  const __m512i multiplier = _mm512_set1_epi16(static_cast<int16_t>(query.multiplier));
  const __m512i one = _mm512_set1_epi16(1);
  __m512i states[kLimbs];
  for (__m512i& state : states) state = _mm512_set1_epi16(-1);
  for (uint32_t row = 0; row < rows; ++row, tile += kTileWidth) {
    const __m512i symbols = _mm512_loadu_si512(tile);
    Slots slots;
    slots.index = _mm512_srli_epi16(_mm512_mullo_epi16(symbols, multiplier), 16 - kSlotBits);
    slots.bit6 = kParts == 1 ? 0 : _mm512_test_epi16_mask(slots.index, _mm512_set1_epi16(64));
    slots.bit7 = kParts < 4 ? 0 : _mm512_test_epi16_mask(slots.index, _mm512_set1_epi16(128));
    const __mmask32 in_query = _mm512_cmpeq_epi16_mask(look_up<kParts>(keys, slots), symbols);
    __mmask32 carry = 0;
    for (int limb = 0; limb < kLimbs; ++limb) {
      const __m512i state = states[limb];
      const __m512i matches = _mm512_and_si512(
          state, _mm512_maskz_mov_epi16(in_query, look_up<kParts>(masks[limb], slots)));
      __m512i sum = _mm512_add_epi16(state, matches);
      __mmask32 overflow = _mm512_cmplt_epu16_mask(sum, matches);
      if (limb > 0) {
        sum = _mm512_mask_add_epi16(sum, carry, sum, one);
        overflow |= _mm512_mask_testn_epi16_mask(carry, sum, sum);
      }
      states[limb] = _mm512_or_si512(sum, _mm512_sub_epi16(state, matches));
      carry = overflow;
    }
  }
  __m512i lengths = zero_bits(states[0]);
  for (int limb = 1; limb < kLimbs; ++limb) {
    lengths = _mm512_add_epi16(lengths, zero_bits(states[limb]));
  }
  _mm512_storeu_si512(lcs, lengths);
  return _mm512_cmpge_epu16_mask(lengths, _mm512_set1_epi16(static_cast<int16_t>(least)));
}

using SlotLcs = uint32_t(const QueryTables&, const uint16_t*, uint32_t, uint32_t, uint16_t*);

uint32_t slot_lcs(const QueryTables& query, const uint16_t* tile, uint32_t rows, uint32_t least,
                  uint16_t* lcs) {
  // By slot_bits - 6 and limbs - 1.
  static constexpr SlotLcs* kVariants[3][4] = {
      {slot_lcs_of<1, 1>, slot_lcs_of<2, 1>, slot_lcs_of<3, 1>, slot_lcs_of<4, 1>},
      {slot_lcs_of<1, 2>, slot_lcs_of<2, 2>, slot_lcs_of<3, 2>, slot_lcs_of<4, 2>},
      {slot_lcs_of<1, 4>, slot_lcs_of<2, 4>, slot_lcs_of<3, 4>, slot_lcs_of<4, 4>}};
  return kVariants[query.slot_bits - 6][query.limbs - 1](query, tile, rows, least, lcs);
}

// A bit for each symbol whose hash is the hash of a symbol of the query.
HOIST_AVX512 inline __mmask32 may_be_in(const Table& set, __m512i symbols, __m512i multiplier) {
  const __m512i hashes = hashes_of(symbols, multiplier);
  const __m512i words = look_up(set, _mm512_srli_epi16(hashes, 4));
  const __m512i bits =
      _mm512_sllv_epi16(_mm512_set1_epi16(1), _mm512_and_si512(hashes, _mm512_set1_epi16(15)));
  return _mm512_test_epi16_mask(words, bits);
}

HOIST_AVX512 inline __m512i load_row(const uint16_t* row) { return _mm512_loadu_si512(row); }

// The low halves.
HOIST_AVX512 inline __m512i load_row(const uint32_t* row) {
  const __m256i first = _mm512_cvtepi32_epi16(_mm512_loadu_si512(row));
  const __m256i second = _mm512_cvtepi32_epi16(_mm512_loadu_si512(row + kTileWidth / 2));
  return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
}

template <typename T>
HOIST_AVX512 uint32_t members(const QueryTables& query, const T* tile, uint32_t rows,
                              uint32_t least) {
  const Table set = load_table(query.hashes);
  const __m512i multiplier = _mm512_set1_epi16(static_cast<int16_t>(query.multiplier));
  const __m512i one = _mm512_set1_epi16(1);
  __m512i counts = _mm512_setzero_si512();
  for (uint32_t row = 0; row < rows; ++row, tile += kTileWidth) {
    const __mmask32 found = may_be_in(set, load_row(tile), multiplier);
    counts = _mm512_mask_add_epi16(counts, found, counts, one);
  }
  return _mm512_cmpge_epu16_mask(counts, _mm512_set1_epi16(static_cast<int16_t>(least)));
}

}  // namespace

bool avx512_supported() { return cpu_features().avx512; }

const TileKernels kAvx512TileKernels = {"avx512", slot_lcs, members<uint16_t>, members<uint32_t>,
                                        word_lcs_of_lanes};

}  // namespace hoist::match
