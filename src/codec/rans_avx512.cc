// rANS with 16 lanes a vector, two vectors a tile. Each function carries its target attribute; the
// file is compiled for the base instruction set, so nothing else in it can need AVX-512.
#include <immintrin.h>

#include "base/cpu.h"
#include "codec/rans.h"

namespace hoist::codec {
namespace {

#define HOIST_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi2,popcnt")))

bool supported() { return cpu_features().avx512_vbmi2 && cpu_features().bmi2; }

// `count` lanes' words from `at`, each to the lane of its mask bit.
HOIST_AVX512 inline __m512i take_words(__mmask16 lanes, const std::byte*& at) {
  const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  at += 2 * _mm_popcnt_u32(lanes);
  return _mm512_maskz_expand_epi32(lanes, _mm512_cvtepu16_epi32(words));
}

HOIST_AVX512 inline __m512i decode_codes(const RansDecodeTable& table, __m512i& states,
                                         const std::byte*& at) {
  const __m512i slot_mask = _mm512_set1_epi32(kRansSlots - 1);
  const __m512i entries =
      _mm512_i32gather_epi32(_mm512_and_si512(states, slot_mask), table.slots, 4);
  const __m512i product =
      _mm512_mullo_epi32(_mm512_srli_epi32(entries, 20), _mm512_srli_epi32(states, kRansSlotBits));
  const __m512i offsets = _mm512_and_si512(_mm512_srli_epi32(entries, 8), slot_mask);
  const __m512i next = _mm512_add_epi32(product, offsets);
  const __mmask16 wanted = _mm512_cmplt_epu32_mask(next, _mm512_set1_epi32(kRansLowerBound));
  const __m512i words = take_words(wanted, at);
  states = _mm512_mask_or_epi32(next, wanted, _mm512_slli_epi32(next, kRansWordBits), words);
  return _mm512_and_si512(entries, _mm512_set1_epi32(0xff));
}

// The escaped lanes' values, zero elsewhere.
HOIST_AVX512 inline __m512i decode_literals(__mmask16 escaped, __m512i& states,
                                            const std::byte*& at) {
  const __m512i low = _mm512_set1_epi32(0xffff);
  const __m512i literals = _mm512_maskz_and_epi32(escaped, states, low);
  const __m512i words = take_words(escaped, at);
  states = _mm512_mask_or_epi32(states, escaped, _mm512_andnot_si512(low, states), words);
  return literals;
}

// table.pairs in registers, looked up by 32 tags, one in each 16-bit element.
struct PairTable {
  __m512i part[8];
};

HOIST_AVX512 inline __m512i look_up(const PairTable& pairs, __m512i tags) {
  const __m512i a = _mm512_permutex2var_epi16(pairs.part[0], tags, pairs.part[1]);
  const __m512i b = _mm512_permutex2var_epi16(pairs.part[2], tags, pairs.part[3]);
  const __m512i c = _mm512_permutex2var_epi16(pairs.part[4], tags, pairs.part[5]);
  const __m512i d = _mm512_permutex2var_epi16(pairs.part[6], tags, pairs.part[7]);
  const __mmask32 bit6 = _mm512_test_epi16_mask(tags, _mm512_set1_epi16(0x40));
  const __mmask32 bit7 = _mm512_test_epi16_mask(tags, _mm512_set1_epi16(0x80));
  return _mm512_mask_blend_epi16(bit7, _mm512_mask_blend_epi16(bit6, a, b),
                                 _mm512_mask_blend_epi16(bit6, c, d));
}

HOIST_AVX512 RansProgress decode_pairs(const RansDecodeTable& table, const std::byte* words,
                                       size_t limit, uint32_t (&states)[kRansLanes], size_t groups,
                                       uint8_t* symbols) {
  const __m512i escape = _mm512_set1_epi32(static_cast<int>(table.escape));
  PairTable pairs;
  for (int i = 0; i < 8; ++i) pairs.part[i] = _mm512_loadu_si512(table.pairs + 32 * i);
  __m512i low = _mm512_loadu_si512(states);
  __m512i high = _mm512_loadu_si512(states + 16);
  const std::byte* at = words;
  const std::byte* const last = words + 2 * limit;
  size_t done = 0;
  for (; done < groups && at <= last; ++done, symbols += kRansGroupSymbols) {
    __m512i low_tags = _mm512_setzero_si512();
    __m512i high_tags = _mm512_setzero_si512();
    __m512i low_literals = _mm512_setzero_si512();
    __m512i high_literals = _mm512_setzero_si512();
    __mmask32 low_escaped = 0;
    __mmask32 high_escaped = 0;
    for (unsigned shift = 0; shift < 32; shift += 16) {
      const __m512i low_step = decode_codes(table, low, at);
      const __m512i high_step = decode_codes(table, high, at);
      low_tags = _mm512_or_si512(low_tags, _mm512_slli_epi32(low_step, shift));
      high_tags = _mm512_or_si512(high_tags, _mm512_slli_epi32(high_step, shift));
      const __mmask16 low_now = _mm512_cmpeq_epi32_mask(low_step, escape);
      const __mmask16 high_now = _mm512_cmpeq_epi32_mask(high_step, escape);
      if (_mm512_kortestz(low_now, high_now) == 0) {
        const __m512i low_literal = decode_literals(low_now, low, at);
        const __m512i high_literal = decode_literals(high_now, high, at);
        low_literals = _mm512_or_si512(low_literals, _mm512_slli_epi32(low_literal, shift));
        high_literals = _mm512_or_si512(high_literals, _mm512_slli_epi32(high_literal, shift));
        const uint32_t step_bits = shift == 0 ? 0x55555555u : 0xaaaaaaaau;
        low_escaped |= _pdep_u32(low_now, step_bits);
        high_escaped |= _pdep_u32(high_now, step_bits);
      }
    }
    _mm512_storeu_si512(symbols,
                        _mm512_mask_mov_epi16(look_up(pairs, low_tags), low_escaped, low_literals));
    _mm512_storeu_si512(symbols + 64, _mm512_mask_mov_epi16(look_up(pairs, high_tags), high_escaped,
                                                            high_literals));
  }
  _mm512_storeu_si512(states, low);
  _mm512_storeu_si512(states + 16, high);
  return {static_cast<size_t>(at - words) / 2, done};
}

HOIST_AVX512 RansProgress decode_singles(const RansDecodeTable& table, const std::byte* words,
                                         size_t limit, uint32_t (&states)[kRansLanes],
                                         size_t groups, uint8_t* symbols) {
  const __m512i escape = _mm512_set1_epi32(static_cast<int>(table.escape));
  const __m512i byte_mask = _mm512_set1_epi32(0xff);
  __m512i low = _mm512_loadu_si512(states);
  __m512i high = _mm512_loadu_si512(states + 16);
  const std::byte* at = words;
  const std::byte* const last = words + 2 * limit;
  size_t done = 0;
  for (; done < groups && at <= last; ++done, symbols += kRansGroupSymbols) {
    __m512i low_symbols = _mm512_setzero_si512();
    __m512i high_symbols = _mm512_setzero_si512();
    for (unsigned shift = 0; shift < 32; shift += 8) {
      __m512i low_step = decode_codes(table, low, at);
      __m512i high_step = decode_codes(table, high, at);
      const __mmask16 low_now = _mm512_cmpeq_epi32_mask(low_step, escape);
      const __mmask16 high_now = _mm512_cmpeq_epi32_mask(high_step, escape);
      if (_mm512_kortestz(low_now, high_now) == 0) {
        const __m512i low_literal = decode_literals(low_now, low, at);
        const __m512i high_literal = decode_literals(high_now, high, at);
        low_step = _mm512_mask_and_epi32(low_step, low_now, low_literal, byte_mask);
        high_step = _mm512_mask_and_epi32(high_step, high_now, high_literal, byte_mask);
      }
      low_symbols = _mm512_or_si512(low_symbols, _mm512_slli_epi32(low_step, shift));
      high_symbols = _mm512_or_si512(high_symbols, _mm512_slli_epi32(high_step, shift));
    }
    _mm512_storeu_si512(symbols, low_symbols);
    _mm512_storeu_si512(symbols + 64, high_symbols);
  }
  _mm512_storeu_si512(states, low);
  _mm512_storeu_si512(states + 16, high);
  return {static_cast<size_t>(at - words) / 2, done};
}

// Writes the low words of the masked lanes so that they end at `at`.
HOIST_AVX512 inline void put_words(__mmask16 lanes, __m512i states, uint16_t*& at) {
  const int count = _mm_popcnt_u32(lanes);
  const __m256i words = _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(lanes, states));
  at -= count;
  _mm256_mask_storeu_epi16(at, static_cast<__mmask16>(_bzhi_u32(0xffff, count)), words);
}

HOIST_AVX512 inline void encode_literals(__mmask16 escaped, __m512i values, __m512i& states,
                                         uint16_t*& at) {
  put_words(escaped, states, at);
  const __m512i kept = _mm512_andnot_si512(_mm512_set1_epi32(0xffff), states);
  states = _mm512_mask_or_epi32(states, escaped, kept, values);
}

HOIST_AVX512 inline void encode_codes(__m512i entries, __m512i& states, uint16_t*& at) {
  const __m512i frequencies = _mm512_srli_epi32(entries, 20);
  const __mmask16 full =
      _mm512_cmpge_epu32_mask(_mm512_srli_epi32(states, 32 - kRansSlotBits), frequencies);
  put_words(full, states, at);
  const __m512i state = _mm512_mask_srli_epi32(states, full, states, kRansWordBits);
  // The quotient is below 2^20 and comes out of two roundings to 24 bits, so it is off by one at
  // most, and the sign of the remainder tells.
  const __m512 ratio = _mm512_div_ps(_mm512_cvtepu32_ps(state), _mm512_cvtepu32_ps(frequencies));
  __m512i quotient = _mm512_cvttps_epu32(ratio);
  __m512i remainder = _mm512_sub_epi32(state, _mm512_mullo_epi32(quotient, frequencies));
  const __m512i one = _mm512_set1_epi32(1);
  const __mmask16 over = _mm512_movepi32_mask(remainder);
  quotient = _mm512_mask_sub_epi32(quotient, over, quotient, one);
  remainder = _mm512_mask_add_epi32(remainder, over, remainder, frequencies);
  const __mmask16 under = _mm512_cmpge_epu32_mask(remainder, frequencies);
  quotient = _mm512_mask_add_epi32(quotient, under, quotient, one);
  remainder = _mm512_mask_sub_epi32(remainder, under, remainder, frequencies);
  const __m512i starts =
      _mm512_and_si512(_mm512_srli_epi32(entries, 8), _mm512_set1_epi32(kRansSlots - 1));
  states = _mm512_add_epi32(_mm512_add_epi32(_mm512_slli_epi32(quotient, kRansSlotBits), remainder),
                            starts);
}

template <uint32_t kSymbolsPerCode>
HOIST_AVX512 uint16_t* encode_groups(std::span<const uint32_t> encode_table,
                                     const RansDecodeTable& table, const uint8_t* symbols,
                                     size_t groups, uint32_t (&states)[kRansLanes], uint16_t* floor,
                                     uint16_t* end) {
  const __m512i escape = _mm512_set1_epi32(static_cast<int>(table.escape));
  const __m512i value_mask = _mm512_set1_epi32(kSymbolsPerCode == 1 ? 0xff : 0xffff);
  const __m512i tag_mask = _mm512_set1_epi32(0xff);
  constexpr unsigned kValueBits = 8 * kSymbolsPerCode;
  __m512i low = _mm512_loadu_si512(states);
  __m512i high = _mm512_loadu_si512(states + 16);
  uint16_t* at = end;
  for (size_t g = groups; g-- != 0;) {
    if (at - floor < static_cast<ptrdiff_t>(kRansMaxGroupWords)) return nullptr;
    const __m512i low_symbols = _mm512_loadu_si512(symbols + g * kRansGroupSymbols);
    const __m512i high_symbols = _mm512_loadu_si512(symbols + g * kRansGroupSymbols + 64);
    for (unsigned shift = 32; shift != 0;) {
      shift -= kValueBits;
      const __m512i low_values =
          _mm512_and_si512(_mm512_srli_epi32(low_symbols, shift), value_mask);
      const __m512i high_values =
          _mm512_and_si512(_mm512_srli_epi32(high_symbols, shift), value_mask);
      const __m512i low_entries = _mm512_i32gather_epi32(low_values, encode_table.data(), 4);
      const __m512i high_entries = _mm512_i32gather_epi32(high_values, encode_table.data(), 4);
      const __mmask16 low_escaped =
          _mm512_cmpeq_epi32_mask(_mm512_and_si512(low_entries, tag_mask), escape);
      const __mmask16 high_escaped =
          _mm512_cmpeq_epi32_mask(_mm512_and_si512(high_entries, tag_mask), escape);
      if (_mm512_kortestz(low_escaped, high_escaped) == 0) {
        encode_literals(high_escaped, high_values, high, at);
        encode_literals(low_escaped, low_values, low, at);
      }
      encode_codes(high_entries, high, at);
      encode_codes(low_entries, low, at);
    }
  }
  _mm512_storeu_si512(states, low);
  _mm512_storeu_si512(states + 16, high);
  return at;
}

}  // namespace

constinit const RansImplementation kRansAvx512 = {
    "avx512", supported, {decode_singles, decode_pairs}, {encode_groups<1>, encode_groups<2>}};

}  // namespace hoist::codec
