// SM3 (GB/T 32905-2016; English text: draft-sca-cfrg-sm3). OpenSSL has it only behind the provider
// interface, whose start-up takes longer than hashing a small file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::hash {

class Sm3 {
 public:
  static constexpr size_t kDigestBytes = 32;

  void update(const uint8_t* data, size_t size);
  // Writes kDigestBytes bytes. The object is used up.
  void finish(uint8_t* digest);

 private:
  static constexpr size_t kBlockBytes = 64;

  void compress(const uint8_t* block);

  // Section 4.1: the initial value.
  uint32_t state_[8] = {0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600,
                        0xa96f30bc, 0x163138aa, 0xe38dee4d, 0xb0fb0e4e};
  uint64_t length_ = 0;
  uint8_t pending_[kBlockBytes];
  size_t pending_size_ = 0;
};

}  // namespace hoist::hash
