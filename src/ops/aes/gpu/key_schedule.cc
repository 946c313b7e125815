#include "ops/aes/gpu/key_schedule.h"

#include <openssl/crypto.h>

#include <bit>
#include <cstring>

namespace hoist::aes {
namespace {

static_assert(std::endian::native == std::endian::little);

// All bits where bit 0 of `bit` is 1.
uint32_t mask_of(uint32_t bit) { return 0U - (bit & 1); }

// Times x, modulo x^8 + x^4 + x^3 + x + 1.
uint32_t doubled(uint32_t a) { return (a << 1 & 0xff) ^ (mask_of(a >> 7) & 0x1b); }

uint32_t product(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (int bit = 0; bit < 8; ++bit) {
    sum ^= mask_of(b >> bit) & a;
    a = doubled(a);
  }
  return sum;
}

// The inverse is the power 254, that of 0 is 0.
uint32_t s_box(uint32_t a) {
  uint32_t inverse = 1;
  uint32_t square = a;
  for (int k = 1; k < 8; ++k) {
    square = product(square, square);
    inverse = product(inverse, square);
  }
  const auto b = static_cast<uint8_t>(inverse);
  return static_cast<uint8_t>(b ^ std::rotl(b, 1) ^ std::rotl(b, 2) ^ std::rotl(b, 3) ^
                              std::rotl(b, 4) ^ 0x63);
}

uint32_t substituted(uint32_t word) {
  uint32_t made = 0;
  for (int at = 0; at < 32; at += 8) made |= s_box(word >> at & 0xff) << at;
  return made;
}

uint32_t inverse_mixed(uint32_t column) {
  uint32_t made = 0;
  for (int row = 0; row < 4; ++row) {
    const auto of = [&](int distance) { return column >> ((row + distance) % 4 * 8) & 0xff; };
    made |= (product(of(0), 14) ^ product(of(1), 11) ^ product(of(2), 13) ^ product(of(3), 9))
            << 8 * row;
  }
  return made;
}

}  // namespace

KeySchedule::~KeySchedule() {
  OPENSSL_cleanse(encryption.data(), sizeof encryption);
  OPENSSL_cleanse(decryption.data(), sizeof decryption);
}

Result<KeySchedule> KeySchedule::expand(std::span<const uint8_t> key) {
  if (key.size() != 16 && key.size() != 24 && key.size() != 32) {
    return fail(ErrorCode::invalid_argument, "an AES key has 16, 24 or 32 bytes");
  }
  KeySchedule made;
  const size_t words = key.size() / 4;
  made.rounds = static_cast<int>(words) + 6;
  const auto count = static_cast<size_t>(made.rounds + 1) * 4;
  std::memcpy(made.encryption.data(), key.data(), key.size());
  uint32_t constant = 1;
  for (size_t i = words; i < count; ++i) {
    uint32_t word = made.encryption[i - 1];
    if (i % words == 0) {
      word = substituted(std::rotr(word, 8)) ^ constant;
      constant = doubled(constant);
    } else if (words > 6 && i % words == 4) {
      word = substituted(word);
    }
    made.encryption[i] = made.encryption[i - words] ^ word;
  }
  for (size_t i = 0; i < count; ++i) {
    const size_t round = static_cast<size_t>(made.rounds) - i / 4;
    const uint32_t word = made.encryption[round * 4 + i % 4];
    const bool is_inner = i >= 4 && i < count - 4;
    made.decryption[i] = is_inner ? inverse_mixed(word) : word;
  }
  return made;
}

}  // namespace hoist::aes
