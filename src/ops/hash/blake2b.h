// BLAKE2b (RFC 7693) without key, salt or personalisation, digests of 1 to 64 bytes.
//
// OpenSSL 3.0 offers only 512-bit digests, and libb2 is slower than b2sum's own C code on current
// processors: one stream is bound by the latency of a round, which vector registers do not shorten,
// so four mixing functions side by side in scalar registers are what is fastest.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::hash {

class Blake2b {
 public:
  explicit Blake2b(size_t digest_bytes);
  void update(const uint8_t* data, size_t size);
  // Writes digest_bytes bytes. The object is used up.
  void finish(uint8_t* digest);

 private:
  static constexpr size_t kBlockBytes = 128;

  void compress(const uint8_t* block, size_t new_bytes, bool last);

  uint64_t state_[8];
  uint64_t count_low_ = 0;
  uint64_t count_high_ = 0;
  // The last block is compressed with a flag, so a full block waits until more data follows.
  uint8_t pending_[kBlockBytes];
  size_t pending_size_ = 0;
  size_t digest_bytes_;
};

}  // namespace hoist::hash
