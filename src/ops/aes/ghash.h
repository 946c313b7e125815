// GHASH (NIST SP 800-38D, 6.4): the polynomial Y = X1 H^n + X2 H^(n-1) + … + Xn H over the blocks
// of a message. Pieces of a message can be hashed apart: for a first piece with the result A and a
// second one of n blocks with the result B, the whole has A H^n + B.
//
//   GhashKey key(h);
//   Gf128 y;
//   ghash(key, y, data, blocks);
//
// The fast versions multiply without carries and reduce several products at once: S. Gueron,
// M. Kounavis, "Intel Carry-Less Multiplication Instruction and its Usage for Computing the GCM
// Mode", 2010 (aggregated reduction; operands in reflected order), with the reduction by two
// multiplications of S. Gueron, "AES-GCM for Efficient Authenticated Encryption", 2013.
// All versions run in constant time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/aes/gf128.h"

namespace hoist::aes {

// H and its powers. Secret: lives in locked memory (ops/aes/locked_memory.h).
struct GhashKey {
  static constexpr int kPowers = 32;

  GhashKey() = default;
  explicit GhashKey(const Gf128& h) { derive(h); }
  // In place: a copy on the way would leave secrets on the stack.
  void derive(const Gf128& key);

  Gf128 h;
  // H^32 / x, H^31 / x, … H / x: the division makes up for the bit by which a product of reflected
  // operands is off.
  Gf128 powers[kPowers];
};

enum class GhashVersion { portable, clmul, vector_clmul };

// The fastest that this processor has; the portable one is far slower than any cipher.
GhashVersion best_ghash();

// Y takes in `blocks` blocks of 16 bytes.
void ghash(const GhashKey& key, Gf128& y, const uint8_t* data, size_t blocks);
void ghash_with(GhashVersion version, const GhashKey& key, Gf128& y, const uint8_t* data,
                size_t blocks);

// PCLMULQDQ with SSSE3's byte shuffle.
bool has_clmul();
// VPCLMULQDQ on 512-bit registers.
bool has_vector_clmul();

// For processors with has_clmul().
Gf128 multiply_clmul(const Gf128& a, const Gf128& b);
void ghash_clmul(const GhashKey& key, Gf128& y, const uint8_t* data, size_t blocks);
// For processors with has_vector_clmul().
void ghash_vector_clmul(const GhashKey& key, Gf128& y, const uint8_t* data, size_t blocks);

// a / x.
Gf128 divide_by_x(const Gf128& a);

}  // namespace hoist::aes
