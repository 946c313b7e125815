#include "ops/hash/sm3.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace hoist::hash {
namespace {

uint32_t load_big_endian(const uint8_t* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return __builtin_bswap32(word);
}

// Section 4.4: the permutations.
uint32_t p0(uint32_t x) { return x ^ std::rotl(x, 9) ^ std::rotl(x, 17); }
uint32_t p1(uint32_t x) { return x ^ std::rotl(x, 15) ^ std::rotl(x, 23); }

// One step of section 5.3.3 with the word of section 5.3.2 that it is the first to need: computed
// here it fills the gaps that the step's chain of dependences leaves. Instead of shifting the eight
// registers a step finds each of them in the place where its predecessors have left it, and the
// words in a ring of sixteen; the index is a template argument so that all of this is settled when
// compiling.
template <size_t kStep>
[[gnu::always_inline]] inline void step(uint32_t (&v)[8], uint32_t (&ring)[16]) {
  constexpr bool kEarly = kStep < 16;
  constexpr uint32_t kT = std::rotl(kEarly ? 0x79cc4519u : 0x7a879d8au, kStep % 32);
  constexpr auto place = [](size_t name) { return name / 4 * 4 + (name % 4 + 4 - kStep % 4) % 4; };
  const auto w = [&ring](size_t index) -> uint32_t& { return ring[index % 16]; };
  if constexpr (kStep >= 12) {
    constexpr size_t j = kStep + 4;
    w(j) = p1(w(j - 16) ^ w(j - 9) ^ std::rotl(w(j - 3), 15)) ^ std::rotl(w(j - 13), 7) ^ w(j - 6);
  }
  const uint32_t a = v[place(0)];
  uint32_t& b = v[place(1)];
  const uint32_t c = v[place(2)];
  uint32_t& d = v[place(3)];
  const uint32_t e = v[place(4)];
  uint32_t& f = v[place(5)];
  const uint32_t g = v[place(6)];
  uint32_t& h = v[place(7)];
  const uint32_t ff = kEarly ? a ^ b ^ c : (a & b) | (c & (a | b));
  const uint32_t gg = kEarly ? e ^ f ^ g : g ^ (e & (f ^ g));
  const uint32_t ss1 = std::rotl(std::rotl(a, 12) + kT + e, 7);
  const uint32_t ss2 = ss1 ^ std::rotl(a, 12);
  d = (d + (w(kStep) ^ w(kStep + 4))) + ff + ss2;
  h = p0((h + w(kStep)) + gg + ss1);
  b = std::rotl(b, 9);
  f = std::rotl(f, 19);
}

template <size_t... kSteps>
[[gnu::always_inline]] inline void all_steps(uint32_t (&v)[8], uint32_t (&w)[16],
                                             std::index_sequence<kSteps...>) {
  (step<kSteps>(v, w), ...);
}

}  // namespace

// Section 5.3.
void Sm3::compress(const uint8_t* block) {
  uint32_t w[16];
  for (int j = 0; j < 16; ++j) w[j] = load_big_endian(block + 4 * j);
  uint32_t v[8];
  std::memcpy(v, state_, sizeof v);
  // 64 steps bring every register back to its own place.
  all_steps(v, w, std::make_index_sequence<64>());
  for (int i = 0; i < 8; ++i) state_[i] ^= v[i];
}

void Sm3::update(const uint8_t* data, size_t size) {
  length_ += size;
  while (size > 0) {
    if (pending_size_ == 0 && size >= kBlockBytes) {
      compress(data);
      data += kBlockBytes;
      size -= kBlockBytes;
      continue;
    }
    const size_t taken = std::min(size, kBlockBytes - pending_size_);
    std::memcpy(pending_ + pending_size_, data, taken);
    pending_size_ += taken;
    data += taken;
    size -= taken;
    if (pending_size_ == kBlockBytes) {
      compress(pending_);
      pending_size_ = 0;
    }
  }
}

void Sm3::finish(uint8_t* digest) {
  const uint64_t bits = __builtin_bswap64(length_ * 8);
  const uint8_t one_bit = 0x80;
  update(&one_bit, 1);
  // Zeros up to the length field, which ends a block.
  const uint8_t zeros[kBlockBytes] = {};
  update(zeros, (2 * kBlockBytes - 8 - pending_size_) % kBlockBytes);
  update(reinterpret_cast<const uint8_t*>(&bits), sizeof bits);
  for (int i = 0; i < 8; ++i) {
    const uint32_t word = __builtin_bswap32(state_[i]);
    std::memcpy(digest + 4 * i, &word, sizeof word);
  }
}

}  // namespace hoist::hash
