#include "ops/aes/gcm_vaes.h"

#include <openssl/crypto.h>

#include <cstring>

#include "base/cpu.h"
#include "ops/aes/clmul.h"

#define HOIST_AES __attribute__((target("aes")))
#define HOIST_VAES __attribute__((target("aes,pclmul,ssse3,avx512f,avx512bw,vaes,vpclmulqdq")))

namespace hoist::aes {
namespace {

constexpr size_t kVectors = GhashKey::kPowers / kBlocksOfVector;
constexpr size_t kVectorBytes = kBlocksOfVector * kBlock;

HOIST_AES uint32_t sub_word(uint32_t word) {
  const __m128i words = _mm_aeskeygenassist_si128(_mm_set1_epi32(static_cast<int>(word)), 0);
  return static_cast<uint32_t>(_mm_cvtsi128_si32(words));
}

HOIST_VAES inline __m512i broadcast(const uint8_t* block) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block)));
}

// Counter blocks with the bytes of their counting word in the processor's order, or back.
HOIST_VAES inline __m512i swapped_counters(__m512i blocks) {
  const __m128i order = _mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  return _mm512_shuffle_epi8(blocks, _mm512_broadcast_i32x4(order));
}

// inc32 (SP 800-38D, 6.2) of all four counters, `count` times; it wraps without a carry.
HOIST_VAES inline __m512i advanced(__m512i counters, int count) {
  return _mm512_add_epi32(counters, _mm512_broadcast_i32x4(_mm_set_epi32(count, 0, 0, 0)));
}

// The first counter and the three after it.
HOIST_VAES inline __m512i four_counters(const uint8_t* first) {
  const __m512i offsets = _mm512_set_epi32(3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);
  return _mm512_add_epi32(swapped_counters(broadcast(first)), offsets);
}

// Encrypts or decrypts one group; meanwhile `sum` takes in the group at `hashed`. A round of AES on
// all vectors takes longer than the products of one vector, so each of the first rounds has one
// beside it. That of the first blocks, which waits for the sum of the group before, comes last.
template <size_t kRounds, bool kHashing>
HOIST_VAES inline __attribute__((always_inline)) void crypt_group(const AesKey& key,
                                                                  const GhashKey& hash_key,
                                                                  __m512i& counters, __m128i& sum,
                                                                  const uint8_t* hashed,
                                                                  uint8_t* out, const uint8_t* in) {
  static_assert(kRounds > kVectors);
  VectorSums sums = no_vector_sums();
  __m512i state[kVectors];
  const __m512i whitening = broadcast(key.round_keys[0]);
#pragma GCC unroll 8
  for (size_t i = 0; i < kVectors; ++i) {
    state[i] = _mm512_xor_si512(swapped_counters(counters), whitening);
    counters = advanced(counters, kBlocksOfVector);
  }
#pragma GCC unroll 14
  for (size_t round = 1; round < kRounds; ++round) {
    const __m512i round_key = broadcast(key.round_keys[round]);
#pragma GCC unroll 8
    for (size_t i = 0; i < kVectors; ++i) state[i] = _mm512_aesenc_epi128(state[i], round_key);
    if (kHashing && round <= kVectors) {
      const size_t i = round % kVectors;
      __m512i value = reversed_vector(hashed + i * kVectorBytes);
      if (i == 0) value = _mm512_xor_si512(value, _mm512_zextsi128_si512(sum));
      add_products(sums, value, _mm512_loadu_si512(hash_key.powers + i * kBlocksOfVector));
    }
  }
  if (kHashing) sum = reduced(sums);
  const __m512i last_key = broadcast(key.round_keys[kRounds]);
#pragma GCC unroll 8
  for (size_t i = 0; i < kVectors; ++i) {
    const __m512i text = _mm512_loadu_si512(in + i * kVectorBytes);
    state[i] = _mm512_xor_si512(_mm512_aesenclast_epi128(state[i], last_key), text);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kVectors; ++i) _mm512_storeu_si512(out + i * kVectorBytes, state[i]);
}

// Ciphertext is hashed a group behind its encryption; before its decryption, which may overwrite
// it.
template <size_t kRounds>
HOIST_VAES void crypt(const AesKey& key, const GhashKey& hash_key, const GcmPart& part) {
  if (part.size == 0) return;
  __m512i counters = four_counters(part.counter);
  __m128i sum = load(*part.sum);
  if (!part.encrypting) {
    for (size_t at = 0; at < part.size; at += kGcmGroup) {
      crypt_group<kRounds, true>(key, hash_key, counters, sum, part.in + at, part.out + at,
                                 part.in + at);
    }
    *part.sum = stored(sum);
    return;
  }
  crypt_group<kRounds, false>(key, hash_key, counters, sum, nullptr, part.out, part.in);
  for (size_t at = kGcmGroup; at < part.size; at += kGcmGroup) {
    crypt_group<kRounds, true>(key, hash_key, counters, sum, part.out + at - kGcmGroup,
                               part.out + at, part.in + at);
  }
  *part.sum = stored(sum);
  ghash_vector_clmul(hash_key, *part.sum, part.out + part.size - kGcmGroup, GhashKey::kPowers);
}

}  // namespace

bool has_vaes_gcm() { return has_vector_clmul() && cpu_features().aes && cpu_features().vaes; }

// FIPS 197, figure 11, with the bytes of a word in the processor's order.
void AesKey::expand(std::span<const uint8_t> key) {
  const size_t key_words = key.size() / 4;
  rounds = key_words + 6;
  uint32_t words[4 * (kMaxRounds + 1)];
  std::memcpy(words, key.data(), key.size());
  uint32_t round_constant = 1;
  for (size_t i = key_words; i < 4 * (rounds + 1); ++i) {
    uint32_t word = words[i - 1];
    if (i % key_words == 0) {
      word = sub_word(word >> 8 | word << 24) ^ round_constant;
      round_constant = round_constant << 1 ^ (round_constant >> 7) * 0x11b;
    } else if (key_words == 8 && i % key_words == 4) {
      word = sub_word(word);
    }
    words[i] = words[i - key_words] ^ word;
  }
  std::memcpy(round_keys, words, kBlock * (rounds + 1));
  OPENSSL_cleanse(words, sizeof words);
}

void vaes_gcm(const AesKey& key, const GhashKey& hash_key, const GcmPart& part) {
  switch (key.rounds) {
    case 10:
      return crypt<10>(key, hash_key, part);
    case 12:
      return crypt<12>(key, hash_key, part);
    default:
      return crypt<14>(key, hash_key, part);
  }
}

}  // namespace hoist::aes
