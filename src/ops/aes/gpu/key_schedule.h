// AES's round keys (FIPS 197, 5.2), computed in constant time: no table is looked up and no branch
// taken by what is secret.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace hoist::aes {

// Four words a round, the first byte of memory lowest. The words are wiped in the end.
struct KeySchedule {
  static constexpr int kMostWords = 60;

  int rounds = 0;  // 10, 12 or 14
  std::array<uint32_t, kMostWords> encryption{};
  // In the order of their use; those between the first and the last went through InvMixColumns
  // (the equivalent inverse cipher, FIPS 197, 5.3.5).
  std::array<uint32_t, kMostWords> decryption{};

  KeySchedule() = default;
  KeySchedule(const KeySchedule&) = default;
  KeySchedule& operator=(const KeySchedule&) = default;
  ~KeySchedule();

  // `invalid_argument` for a key that has not 16, 24 or 32 bytes.
  static Result<KeySchedule> expand(std::span<const uint8_t> key);
};

}  // namespace hoist::aes
