// ChaCha20-Poly1305 (RFC 8439, 2.8): ChaCha20 by the default provider on all cores, each chunk from
// its own block counter. Poly1305 is serial, and three to four times faster than ChaCha20: the
// caller's lane does it, between chunks of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ops/aes/aead_message.h"
#include "ops/aes/default_provider.h"
#include "ops/aes/split.h"

namespace hoist::aes {

class ChachaMessage final : public AeadMessage {
 public:
  bool begin(const MessageStart& start, bool same_key) override;
  bool update(bool encrypting, uint8_t* out, const uint8_t* in, size_t size,
              size_t lane_bytes) override;
  bool tag(uint8_t* tag) override;
  bool late_additional(const uint8_t* data, size_t size) override;
  std::unique_ptr<AeadMessage> duplicate() const override;

 private:
  struct Text {
    bool encrypting;
    uint8_t* out;
    const uint8_t* in;
    size_t size;
    uint64_t offset;  // in the message
  };

  bool close_additional();
  bool crypt(Cipher& cipher, const Text& text) const;
  bool hash_and_crypt(const Text& text);
  bool crypt_chunk(Cipher& cipher, const Text& text, const Split& split, size_t i) const;
  bool split_encryption(const Text& text, const Split& split, LaneCiphers& lanes);
  bool split_decryption(const Text& text, const Split& split, LaneCiphers& lanes);

  Cipher cipher_;
  Mac mac_;
  uint8_t nonce_[12] = {};
  uint64_t additional_size_ = 0;
  uint64_t text_size_ = 0;
  bool additional_is_open_ = false;  // not padded to whole blocks yet
};

// What the default provider's ChaCha20 takes as its IV for the text's byte `offset`, which lies in
// block 1 + offset / 64 (RFC 8439, 2.8). Past 2^32 blocks the counter's carry goes into the nonce
// there, so it does here.
void chacha_position(const uint8_t nonce[12], uint64_t offset, uint8_t iv[16]);

}  // namespace hoist::aes
