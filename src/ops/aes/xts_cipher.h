// AES-XTS (IEEE 1619-2018, NIST SP 800-38E). Each update is one data unit of at most 2^20 blocks.
// Its j-th block has the tweak E(K2, IV) x^j in GF(2^128), so a unit can be entered anywhere; a
// context of the default provider is put there by the IV D(K2, tweak), which encrypts to that
// tweak.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/aes/context.h"
#include "ops/aes/locked_memory.h"
#include "ops/aes/split.h"

namespace hoist::aes {

class XtsCipher : public Context {
 public:
  XtsCipher(const Algorithm& algorithm, size_t threshold) : Context(algorithm, threshold) {}
  XtsCipher(const XtsCipher& other) : Context(other), key_(other.key_) {}

  int start(bool encrypting, Bytes key, Bytes iv, Params params);
  int update(const Update& update) {
    if (update.size >= threshold_) [[unlikely]]
      return update_large(update);
    return inner_update(update);
  }
  int final(uint8_t* out, size_t* written, size_t room) {
    return functions_.final(inner(), out, written, room);
  }
  int cipher(const Update& update) {
    return functions_.cipher(inner(), update.out, update.written, update.room, update.in,
                             update.size);
  }
  int get_params(OSSL_PARAM* params) { return functions_.get_ctx_params(inner(), params); }
  int set_params(Params params) { return functions_.set_ctx_params(inner(), params); }

 private:
  int update_large(const Update& update);
  const char* obstacle(const Update& update) const;
  bool prepare_tweak_ciphers();
  int update_verified(const Update& update, Split& split, LaneCiphers& lanes);
  int update_split(const Update& update, Split& split, LaneCiphers& lanes);
  bool run_rest(const Update& rest, Split& split, LaneCiphers& lanes);

  LockedKey key_;
  // AES with the second half of the key, made from it at the first large call.
  Cipher encrypt_tweak_;
  Cipher decrypt_tweak_;
};

}  // namespace hoist::aes
