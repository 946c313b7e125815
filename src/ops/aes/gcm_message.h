// AES-GCM (NIST SP 800-38D), chunk by chunk on all cores: in one pass where the processor has
// vector AES, else CTR by the default provider, and GHASH beside it while a chunk is in the cache.
// The chunks' hashes are joined by powers of H.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ops/aes/aead_message.h"
#include "ops/aes/default_provider.h"
#include "ops/aes/gcm_vaes.h"
#include "ops/aes/ghash.h"
#include "ops/aes/locked_memory.h"
#include "ops/aes/split.h"

namespace hoist::aes {

class GcmMessage final : public AeadMessage {
 public:
  // `key_bits` of AES.
  explicit GcmMessage(size_t key_bits);

  bool begin(const MessageStart& start, bool same_key) override;
  bool update(bool encrypting, uint8_t* out, const uint8_t* in, size_t size,
              size_t lane_bytes) override;
  bool tag(uint8_t* tag) override;
  bool late_additional(const uint8_t*, size_t) override { return false; }
  std::unique_ptr<AeadMessage> duplicate() const override;

 private:
  struct Secrets {
    GhashKey key;
    AesKey aes;                       // where there is vector AES
    Gf128 sum;                        // Y
    uint8_t incomplete[kBlock] = {};  // ciphertext of a block that is not complete
    uint8_t tag_mask[kBlock] = {};    // E(K, J0)
  };
  // A part of the text that begins on a block boundary.
  struct Text {
    bool encrypting;
    uint8_t* out;
    const uint8_t* in;
    size_t size;
    uint64_t block;  // number of its first one, from 0
  };

  explicit GcmMessage(const CipherFunctions& ctr) : ctr_(ctr) {}

  bool set_key(Bytes key);
  bool set_iv(Bytes iv);
  bool add_incomplete(bool encrypting, uint8_t*& out, const uint8_t*& in, size_t& size);
  bool crypt(Cipher& cipher, uint8_t* out, const uint8_t* in, size_t size, uint64_t block) const;
  bool hash_and_crypt(Cipher& cipher, const Text& text, Gf128& sum) const;
  bool hash_and_crypt_in_steps(Cipher& cipher, const Text& text, Gf128& sum) const;
  void counter_of(uint64_t block, uint8_t* counter) const;
  bool split_blocks(const Text& text, size_t lane_bytes);

  const CipherFunctions& ctr_;
  Cipher cipher_;
  Locked<Secrets> secrets_;
  uint8_t first_counter_[kBlock] = {};  // inc32(J0)
  uint64_t additional_size_ = 0;
  uint64_t text_size_ = 0;
};

// How fast one core is in our way, compared with the default provider's in its: far above 1 where
// we have vector AES and it has not, below 1/2 where it is the other way round. Measured at the
// first call, in a tenth of a millisecond.
double gcm_gain_of_a_core();

}  // namespace hoist::aes
