// rANS with 8 lanes a vector, four vectors a tile. AVX2 has neither compress nor expand: a mask of
// lanes picks a byte shuffle from a table instead. Each function carries its target attribute; the
// file is compiled for the base instruction set, so nothing else in it can need AVX2.
#include <immintrin.h>

#include <array>

#include "base/cpu.h"
#include "codec/rans.h"

namespace hoist::codec {
namespace {

#define HOIST_AVX2 __attribute__((target("avx2,bmi2,popcnt")))

constexpr int kVectors = kRansLanes / 8;

bool supported() { return cpu_features().avx2 && cpu_features().bmi2 && cpu_features().popcnt; }

// Byte shuffles of eight 16-bit words, by the mask of lanes.
struct alignas(64) WordShuffles {
  std::array<std::array<uint8_t, 16>, 256> expand{};    // first words to the lanes, zero elsewhere
  std::array<std::array<uint8_t, 16>, 256> compress{};  // the lanes' words to the last places
};

constexpr WordShuffles make_word_shuffles() {
  WordShuffles shuffles;
  for (unsigned mask = 0; mask < 256; ++mask) {
    unsigned taken = 0;
    unsigned place = 8;
    for (unsigned lane = 0; lane < 8; ++lane) place -= mask >> lane & 1;
    for (unsigned lane = 0; lane < 8; ++lane) {
      const bool set = (mask >> lane & 1) != 0;
      for (unsigned byte = 0; byte < 2; ++byte) {
        shuffles.expand[mask][2 * lane + byte] =
            static_cast<uint8_t>(set ? 2 * taken + byte : 0x80);
        if (set) shuffles.compress[mask][2 * place + byte] = static_cast<uint8_t>(2 * lane + byte);
      }
      taken += set;
      place += set;
    }
  }
  return shuffles;
}

constexpr WordShuffles kShuffles = make_word_shuffles();

struct States {
  __m256i part[kVectors];
};

HOIST_AVX2 inline States load_states(const uint32_t (&states)[kRansLanes]) {
  States loaded;
  for (int v = 0; v < kVectors; ++v) {
    loaded.part[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(states + 8 * v));
  }
  return loaded;
}

HOIST_AVX2 inline void store_states(const States& from, uint32_t (&states)[kRansLanes]) {
  for (int v = 0; v < kVectors; ++v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(states + 8 * v), from.part[v]);
  }
}

HOIST_AVX2 inline unsigned lane_mask(__m256i lanes) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
}

HOIST_AVX2 inline __m128i shuffle_of(const std::array<uint8_t, 16>& bytes) {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(bytes.data()));
}

HOIST_AVX2 inline __m256i gather(const void* table, __m256i index) {
  return _mm256_i32gather_epi32(static_cast<const int*>(table), index, 4);
}

// The masked lanes' words from `at`, each to its lane, zero elsewhere.
HOIST_AVX2 inline __m256i take_words(__m256i lanes, const std::byte*& at) {
  const unsigned mask = lane_mask(lanes);
  const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  at += 2 * _mm_popcnt_u32(mask);
  return _mm256_cvtepu16_epi32(_mm_shuffle_epi8(words, shuffle_of(kShuffles.expand[mask])));
}

// Gives the tags.
HOIST_AVX2 inline __m256i decode_codes(const RansDecodeTable& table, __m256i& states,
                                       const std::byte*& at) {
  const __m256i slot_mask = _mm256_set1_epi32(kRansSlots - 1);
  const __m256i entries = gather(table.slots, _mm256_and_si256(states, slot_mask));
  const __m256i product =
      _mm256_mullo_epi32(_mm256_srli_epi32(entries, 20), _mm256_srli_epi32(states, kRansSlotBits));
  const __m256i offsets = _mm256_and_si256(_mm256_srli_epi32(entries, 8), slot_mask);
  const __m256i next = _mm256_add_epi32(product, offsets);
  const __m256i wanted =
      _mm256_cmpeq_epi32(_mm256_srli_epi32(next, kRansWordBits), _mm256_setzero_si256());
  const __m256i pushed =
      _mm256_or_si256(_mm256_slli_epi32(next, kRansWordBits), take_words(wanted, at));
  states = _mm256_blendv_epi8(next, pushed, wanted);
  return _mm256_and_si256(entries, _mm256_set1_epi32(0xff));
}

// Puts the escaped lanes' literals in place of their `values`.
HOIST_AVX2 inline void decode_literals(__m256i escaped, __m256i& states, __m256i& values,
                                       const std::byte*& at) {
  const __m256i low = _mm256_set1_epi32(0xffff);
  values = _mm256_blendv_epi8(values, _mm256_and_si256(states, low), escaped);
  const __m256i replaced =
      _mm256_or_si256(_mm256_andnot_si256(low, states), take_words(escaped, at));
  states = _mm256_blendv_epi8(states, replaced, escaped);
}

// One step of all lanes: `values` becomes their symbols, or pairs of symbols.
template <uint32_t kSymbolsPerCode>
HOIST_AVX2 inline void decode_step(const RansDecodeTable& table, __m256i escape, States& states,
                                   __m256i (&values)[kVectors], const std::byte*& at) {
  const __m256i value_mask = _mm256_set1_epi32(kSymbolsPerCode == 1 ? 0xff : 0xffff);
  __m256i escaped[kVectors];
  __m256i any = _mm256_setzero_si256();
  for (int v = 0; v < kVectors; ++v) {
    values[v] = decode_codes(table, states.part[v], at);
    escaped[v] = _mm256_cmpeq_epi32(values[v], escape);
    any = _mm256_or_si256(any, escaped[v]);
    if constexpr (kSymbolsPerCode == 2) {
      // 32 bits from each pair on: the last one's lie partly in the field after the pairs.
      static_assert(offsetof(RansDecodeTable, escape) >=
                    offsetof(RansDecodeTable, pairs) + sizeof(RansDecodeTable::pairs));
      const __m256i wide = _mm256_i32gather_epi32(reinterpret_cast<const int*>(table.pairs),
                                                  values[v], sizeof(uint16_t));
      values[v] = _mm256_and_si256(wide, value_mask);
    }
  }
  if (_mm256_testz_si256(any, any) != 0) return;
  for (int v = 0; v < kVectors; ++v) {
    decode_literals(escaped[v], states.part[v], values[v], at);
    values[v] = _mm256_and_si256(values[v], value_mask);
  }
}

template <uint32_t kSymbolsPerCode>
HOIST_AVX2 RansProgress decode_groups(const RansDecodeTable& table, const std::byte* words,
                                      size_t limit, uint32_t (&lanes)[kRansLanes], size_t groups,
                                      uint8_t* symbols) {
  const __m256i escape = _mm256_set1_epi32(static_cast<int>(table.escape));
  States states = load_states(lanes);
  const std::byte* at = words;
  const std::byte* const last = words + 2 * limit;
  size_t done = 0;
  for (; done < groups && at <= last; ++done, symbols += kRansGroupSymbols) {
    __m256i quads[kVectors] = {};
    for (int shift = 0; shift < 32; shift += 8 * static_cast<int>(kSymbolsPerCode)) {
      __m256i values[kVectors];
      decode_step<kSymbolsPerCode>(table, escape, states, values, at);
      for (int v = 0; v < kVectors; ++v) {
        quads[v] = _mm256_or_si256(quads[v], _mm256_slli_epi32(values[v], shift));
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(symbols + 32 * v), quads[v]);
    }
  }
  store_states(states, lanes);
  return {static_cast<size_t>(at - words) / 2, done};
}

// Writes the low words of the masked lanes so that they end at `at`, and scratch below them.
HOIST_AVX2 inline void put_words(__m256i lanes, __m256i states, uint16_t*& at) {
  const unsigned mask = lane_mask(lanes);
  const __m256i low = _mm256_and_si256(states, _mm256_set1_epi32(0xffff));
  const __m128i words =
      _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(at - 8),
                   _mm_shuffle_epi8(words, shuffle_of(kShuffles.compress[mask])));
  at -= _mm_popcnt_u32(mask);
}

HOIST_AVX2 inline void encode_literals(__m256i escaped, __m256i values, __m256i& states,
                                       uint16_t*& at) {
  put_words(escaped, states, at);
  const __m256i replaced =
      _mm256_or_si256(_mm256_andnot_si256(_mm256_set1_epi32(0xffff), states), values);
  states = _mm256_blendv_epi8(states, replaced, escaped);
}

// To the nearest; from the two exact halves, because AVX2 converts signed integers only.
HOIST_AVX2 inline __m256 to_float(__m256i values) {
  const __m256 high = _mm256_cvtepi32_ps(_mm256_srli_epi32(values, 16));
  const __m256 low = _mm256_cvtepi32_ps(_mm256_and_si256(values, _mm256_set1_epi32(0xffff)));
  return _mm256_add_ps(_mm256_mul_ps(high, _mm256_set1_ps(65536)), low);
}

HOIST_AVX2 inline void encode_codes(__m256i entries, __m256i& states, uint16_t*& at) {
  const __m256i frequencies = _mm256_srli_epi32(entries, 20);
  const __m256i full = _mm256_xor_si256(
      _mm256_cmpgt_epi32(frequencies, _mm256_srli_epi32(states, 32 - kRansSlotBits)),
      _mm256_set1_epi32(-1));
  put_words(full, states, at);
  const __m256i state = _mm256_blendv_epi8(states, _mm256_srli_epi32(states, kRansWordBits), full);
  // The quotient is below 2^20 and comes out of two roundings to 24 bits, so it is off by one at
  // most, and the remainder tells. A comparison is -1 where it holds.
  __m256i quotient =
      _mm256_cvttps_epi32(_mm256_div_ps(to_float(state), _mm256_cvtepi32_ps(frequencies)));
  __m256i remainder = _mm256_sub_epi32(state, _mm256_mullo_epi32(quotient, frequencies));
  const __m256i over = _mm256_srai_epi32(remainder, 31);
  quotient = _mm256_add_epi32(quotient, over);
  remainder = _mm256_add_epi32(remainder, _mm256_and_si256(over, frequencies));
  const __m256i fits = _mm256_cmpgt_epi32(frequencies, remainder);
  quotient = _mm256_add_epi32(quotient, _mm256_add_epi32(fits, _mm256_set1_epi32(1)));
  remainder = _mm256_sub_epi32(remainder, _mm256_andnot_si256(fits, frequencies));
  const __m256i starts =
      _mm256_and_si256(_mm256_srli_epi32(entries, 8), _mm256_set1_epi32(kRansSlots - 1));
  states = _mm256_add_epi32(_mm256_add_epi32(_mm256_slli_epi32(quotient, kRansSlotBits), remainder),
                            starts);
}

// One step of all lanes, in the opposite order of decode_step().
HOIST_AVX2 inline void encode_step(const uint32_t* encode_table, __m256i escape,
                                   const __m256i (&values)[kVectors], States& states,
                                   uint16_t*& at) {
  __m256i entries[kVectors];
  __m256i escaped[kVectors];
  __m256i any = _mm256_setzero_si256();
  for (int v = 0; v < kVectors; ++v) {
    entries[v] = gather(encode_table, values[v]);
    escaped[v] = _mm256_cmpeq_epi32(_mm256_and_si256(entries[v], _mm256_set1_epi32(0xff)), escape);
    any = _mm256_or_si256(any, escaped[v]);
  }
  if (_mm256_testz_si256(any, any) == 0) {
    for (int v = kVectors; v-- != 0;) encode_literals(escaped[v], values[v], states.part[v], at);
  }
  for (int v = kVectors; v-- != 0;) encode_codes(entries[v], states.part[v], at);
}

template <uint32_t kSymbolsPerCode>
HOIST_AVX2 uint16_t* encode_groups(std::span<const uint32_t> encode_table,
                                   const RansDecodeTable& table, const uint8_t* symbols,
                                   size_t groups, uint32_t (&lanes)[kRansLanes], uint16_t* floor,
                                   uint16_t* end) {
  const __m256i escape = _mm256_set1_epi32(static_cast<int>(table.escape));
  const __m256i value_mask = _mm256_set1_epi32(kSymbolsPerCode == 1 ? 0xff : 0xffff);
  constexpr int kValueBits = 8 * kSymbolsPerCode;
  States states = load_states(lanes);
  uint16_t* at = end;
  for (size_t g = groups; g-- != 0;) {
    if (at - floor < static_cast<ptrdiff_t>(kRansMaxGroupWords)) return nullptr;
    for (int shift = 32; shift != 0;) {
      shift -= kValueBits;
      __m256i values[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        const __m256i quads = _mm256_loadu_si256(
            reinterpret_cast<const __m256i*>(symbols + g * kRansGroupSymbols + 32 * v));
        values[v] = _mm256_and_si256(_mm256_srli_epi32(quads, shift), value_mask);
      }
      encode_step(encode_table.data(), escape, values, states, at);
    }
  }
  store_states(states, lanes);
  return at;
}

}  // namespace

constinit const RansImplementation kRansAvx2 = {
    "avx2", supported, {decode_groups<1>, decode_groups<2>}, {encode_groups<1>, encode_groups<2>}};

}  // namespace hoist::codec
