#include "ops/hash/blake2b.h"

#include <bit>
#include <cstring>
#include <utility>

namespace hoist::hash {
namespace {

static_assert(std::endian::native == std::endian::little, "message words are loaded as they lie");

// RFC 7693, section 2.6: the initialisation vector of SHA-512.
constexpr uint64_t kInitial[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                  0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                  0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

// RFC 7693, section 2.7; rounds 10 and 11 repeat the first two.
constexpr uint8_t kSigma[12][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
                                    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3}};

// RFC 7693, section 3.1: G.
[[gnu::always_inline]] inline void mix(uint64_t& a, uint64_t& b, uint64_t& c, uint64_t& d,
                                       uint64_t x, uint64_t y) {
  a += b + x;
  d = std::rotr(d ^ a, 32);
  c += d;
  b = std::rotr(b ^ c, 24);
  a += b + y;
  d = std::rotr(d ^ a, 16);
  c += d;
  b = std::rotr(b ^ c, 63);
}

// The round is a template argument so that the message words have constant places.
template <size_t kRound>
[[gnu::always_inline]] inline void round(uint64_t (&v)[16], const uint64_t (&m)[16]) {
  constexpr const uint8_t(&s)[16] = kSigma[kRound];
  mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
  mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
  mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
  mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
  mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
  mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
  mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
  mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
}

template <size_t... kRounds>
[[gnu::always_inline]] inline void all_rounds(uint64_t (&v)[16], const uint64_t (&m)[16],
                                              std::index_sequence<kRounds...>) {
  (round<kRounds>(v, m), ...);
}

}  // namespace

Blake2b::Blake2b(size_t digest_bytes) : digest_bytes_(digest_bytes) {
  std::memcpy(state_, kInitial, sizeof state_);
  // Parameter block: digest length, no key, fanout and depth 1.
  state_[0] ^= 0x01010000 ^ digest_bytes;
}

// RFC 7693, section 3.2: F.
void Blake2b::compress(const uint8_t* block, size_t new_bytes, bool last) {
  count_low_ += new_bytes;
  if (count_low_ < new_bytes) ++count_high_;
  uint64_t m[16];
  std::memcpy(m, block, sizeof m);
  uint64_t v[16];
  for (int i = 0; i < 8; ++i) {
    v[i] = state_[i];
    v[i + 8] = kInitial[i];
  }
  v[12] ^= count_low_;
  v[13] ^= count_high_;
  if (last) v[14] = ~v[14];
  all_rounds(v, m, std::make_index_sequence<12>());
  for (int i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[i + 8];
}

void Blake2b::update(const uint8_t* data, size_t size) {
  if (pending_size_ + size > kBlockBytes) {
    if (pending_size_ > 0) {
      const size_t rest = kBlockBytes - pending_size_;
      std::memcpy(pending_ + pending_size_, data, rest);
      compress(pending_, kBlockBytes, false);
      data += rest;
      size -= rest;
      pending_size_ = 0;
    }
    for (; size > kBlockBytes; data += kBlockBytes, size -= kBlockBytes) {
      compress(data, kBlockBytes, false);
    }
  }
  if (size == 0) return;
  std::memcpy(pending_ + pending_size_, data, size);
  pending_size_ += size;
}

void Blake2b::finish(uint8_t* digest) {
  std::memset(pending_ + pending_size_, 0, kBlockBytes - pending_size_);
  compress(pending_, pending_size_, true);
  std::memcpy(digest, state_, digest_bytes_);
}

}  // namespace hoist::hash
