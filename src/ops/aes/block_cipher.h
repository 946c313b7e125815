// AES in ECB, CBC and CTR mode. Large updates are split into pieces that need nothing from one
// another (NIST SP 800-38A): ECB's blocks stand alone, a CTR block needs its counter, and a CBC
// block is decrypted with the ciphertext block before it. CBC encryption is serial by definition,
// and stays with the default provider.
//
// The inner context sees the first bytes of a large update, so that it takes or refuses the call
// as it would take the whole, and the last ones, so that it ends in the state in which it would
// have ended: incomplete and held back blocks, counter, chaining value. Between the two it is moved
// on by a new IV. The IV that the caller knows as the original one is kept here meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/aes/context.h"
#include "ops/aes/split.h"

namespace hoist::aes {

class BlockCipher : public Context {
 public:
  BlockCipher(const Algorithm& algorithm, size_t threshold) : Context(algorithm, threshold) {}

  int start(bool encrypting, Bytes key, Bytes iv, Params params);
  int update(const Update& update) {
    if (update.size >= threshold_) [[unlikely]]
      return update_large(update);
    return update_whole(update);
  }
  int final(uint8_t* out, size_t* written, size_t room);
  int cipher(const Update& update);
  int get_params(OSSL_PARAM* params);
  int set_params(Params params);

 private:
  // A part of an update whose blocks are complete.
  struct Blocks {
    uint8_t* out;
    const uint8_t* in;
    size_t size;
  };

  int update_whole(const Update& update) {
    const int done = inner_update(update);
    track(done, update.size, update.written);
    return done;
  }
  void track(int done, size_t size, const size_t* written) {
    if (done == 1) {
      held_ += size - *written;
    } else {
      known_ = false;
    }
  }
  int update_large(const Update& update);
  const char* obstacle(const Update& update) const;
  int update_verified(const Update& update, Split& split, LaneCiphers& lanes);
  int update_split(const Update& update, Split& split, LaneCiphers& lanes);
  bool run_blocks(const Blocks& blocks, Split& split, LaneCiphers& lanes, uint8_t* iv);
  bool move_inner_on(const uint8_t* iv);
  size_t bytes_into_block() const;

  size_t held_ = 0;     // bytes that the inner context took in and did not give out
  bool known_ = true;   // whether `held_` is known: no call failed
  bool moved_ = false;  // the inner context's idea of the original IV is not the caller's
  uint8_t original_iv_[16] = {};
};

}  // namespace hoist::aes
