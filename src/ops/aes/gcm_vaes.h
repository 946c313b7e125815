// AES-GCM in one pass: AES in counter mode and GHASH side by side on 512-bit registers (VAES and
// VPCLMULQDQ), so that a processor's cipher and multiplication units, and its memory, are busy at
// the same time: N. Drucker, S. Gueron, V. Krasnov, "Making AES great again: the forthcoming
// vectorized AES instruction", 2018; V. Gopal et al., "Fast Cryptographic Computation on Intel
// Architecture Processors Via Function Stitching", 2010.
//
// Runs in constant time: AES by instructions, no table, no branch on data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/aes/gf128.h"
#include "ops/aes/ghash.h"

namespace hoist::aes {

// AES's encryption key schedule (FIPS 197, 5.2). Secret: lives in locked memory.
struct AesKey {
  static constexpr size_t kMaxRounds = 14;

  // For processors with has_vaes_gcm(); `key` has 16, 24 or 32 bytes.
  void expand(std::span<const uint8_t> key);

  size_t rounds = 0;
  uint8_t round_keys[kMaxRounds + 1][kBlock];
};

// VAES and VPCLMULQDQ on 512-bit registers.
bool has_vaes_gcm();

// What one step of vaes_gcm() takes.
constexpr size_t kGcmGroup = GhashKey::kPowers * kBlock;

// One part of a message: its text, the counter block of its first byte, and GHASH's sum so far,
// which takes in the part's ciphertext.
struct GcmPart {
  bool encrypting;
  uint8_t* out;
  const uint8_t* in;
  size_t size;  // a multiple of kGcmGroup
  const uint8_t* counter;
  Gf128* sum;
};

// For processors with has_vaes_gcm(). `in` and `out` are equal or do not overlap; also right is an
// `out` that lies lower.
void vaes_gcm(const AesKey& key, const GhashKey& hash_key, const GcmPart& part);

}  // namespace hoist::aes
