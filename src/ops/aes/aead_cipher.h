// AES-GCM and ChaCha20-Poly1305. A message that sees no large update is the default provider's. At
// the first large one that is worth it, be it that it can be split, be it that one core is faster
// our way, we take the message over, for the whole of its life: the inner context is
// given 16 bytes of the update, so that it takes or refuses it, and changes its state, as it would
// with all of it; the rest, and what follows, goes to an AeadMessage.
//
// At the end the inner context, whose idea of the message is a short one, is made to finish (or to
// refuse) that short message: decryption gives it the short message's tag where the real tag is
// right, and a wrong one where it is not. So its states, and what it says, are the default
// provider's.
//
// Taking over needs what came before. That much is kept here: a little additional data, a little
// ciphertext. A message that began with more than that stays with the default provider.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ops/aes/aead_message.h"
#include "ops/aes/context.h"
#include "ops/aes/locked_memory.h"
#include "ops/aes/split.h"

namespace hoist::aes {

class AeadCipher : public Context {
 public:
  AeadCipher(const Algorithm& algorithm, size_t threshold) : Context(algorithm, threshold) {}
  AeadCipher(const AeadCipher& other);
  ~AeadCipher();

  // Whether a copy is one: false where memory ran out.
  bool valid() const { return Context::valid() && !copy_failed_; }

  int start(bool encrypting, Bytes key, Bytes iv, Params params);
  int update(const Update& update) {
    if (taken_over_) [[unlikely]]
      return update_taken(update);
    if (update.size >= threshold_ && update.out != nullptr) [[unlikely]] {
      return update_large(update);
    }
    return update_whole(update);
  }
  int final(uint8_t* out, size_t* written, size_t room);
  int cipher(const Update& update);
  int get_params(OSSL_PARAM* params);
  int set_params(Params params);

 private:
  // What the inner context has seen of this message, as long as that is little.
  struct Beginning {
    static constexpr size_t kRoom = 512;

    bool known = false;
    uint16_t additional_size = 0;
    uint16_t ciphertext_size = 0;
    uint8_t additional[kRoom];
    uint8_t ciphertext[kRoom];

    void start() {
      known = true;
      additional_size = ciphertext_size = 0;
    }
    bool is_empty() const { return additional_size == 0 && ciphertext_size == 0; }
    void add_additional(Bytes data);
    void add_ciphertext(Bytes data);
  };

  int update_whole(const Update& update);
  int update_large(const Update& update);
  int begin_ours(const Update& update, size_t lane_bytes);
  int update_taken(const Update& update);
  int refuse();
  int add_late(const Update& update);
  int close_taken(const Update& update);
  int update_message(const Update& update, size_t lane_bytes);
  // Runs do_it(), the answer to `update`; where this message is verified, the default provider does
  // the same, and its answer wins.
  template <typename DoIt>
  int verified(const Update& update, DoIt do_it);
  const char* obstacle(const Update& update) const;
  bool pays(size_t lanes) const;
  bool take_over();
  int final_taken(uint8_t* out, size_t* written, size_t room);
  int finish(uint8_t* out, size_t* written, size_t room);
  bool shadow_agrees(int done);
  bool give_inner_tag(const uint8_t* tag, size_t size);
  size_t iv_size() const;
  void note_params(Params params);
  void note_disturbance(size_t iv_size_before);
  void keep_tag_for_decryption();
  void give_up_message();
  void lose_message();

  LockedKey key_;
  uint8_t nonce_[12] = {};  // ChaCha20-Poly1305 does not tell it
  bool has_nonce_ = false;
  Beginning beginning_;

  bool taken_over_ = false;
  bool is_spoilt_ = false;  // a tag was refused; no other is taken, and none made
  // We cannot go on as the default provider would, and the inner context, which is still at the
  // message's beginning, must not: it would use key stream again. All is refused until the next IV.
  bool is_lost_ = false;
  bool copy_failed_ = false;
  std::unique_ptr<AeadMessage> message_;  // null: none was taken over with this key
  uint8_t inner_tag_[kTag] = {};          // of what the inner context has seen
  // --verify: a context of the default provider that is given the same.
  Cipher shadow_;
  // What decryption compares with.
  uint8_t wanted_tag_[kTag] = {};
  size_t wanted_tag_size_ = 0;
  // The tag of an encrypted message that we took over; the inner context holds another.
  uint8_t tag_[kTag] = {};
  bool has_tag_ = false;
  bool inner_lacks_tag_ = false;
};

}  // namespace hoist::aes
