// Messages that are ours: taking them over, their text, their end.
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/proverr.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/caller_memory.h"
#include "ops/aes/accounting.h"
#include "ops/aes/aead_cipher.h"
#include "ops/aes/caller_memory.h"
#include "ops/aes/chacha_message.h"
#include "ops/aes/gcm_message.h"

namespace hoist::aes {
namespace {

constexpr size_t kHead = 16;  // what the inner context is given of the first large update
constexpr size_t kMinimum = 8 * kBlock;
constexpr size_t kLongestIv = 128;  // the default provider's limit for GCM

std::unique_ptr<AeadMessage> new_message(const Algorithm& algorithm) {
  if (algorithm.mode == Mode::gcm) {
    return std::unique_ptr<AeadMessage>(new (std::nothrow) GcmMessage(algorithm.key_bits));
  }
  return std::unique_ptr<AeadMessage>(new (std::nothrow) ChachaMessage);
}

}  // namespace

int AeadCipher::refuse() {
  ERR_raise(ERR_LIB_PROV, PROV_R_CIPHER_OPERATION_FAILED);
  return 0;
}

// Where the default provider is faster on one core than we are, it takes more of them; where it is
// slower, one is enough.
bool AeadCipher::pays(size_t lanes) const {
  constexpr double kClearly = 1.35;
  if (lanes == 0) return false;
  if (algorithm_.mode != Mode::gcm || (is_configured_ && lanes > 1)) return lanes > 1;
  return gcm_gain_of_a_core() * static_cast<double>(lanes) >= kClearly;
}

const char* AeadCipher::obstacle(const Update& update) const {
  if (tls_) return "TLS records";
  if (!beginning_.known) return "a long beginning in small pieces";
  if (beginning_.ciphertext_size + kHead > Beginning::kRoom) return "a long beginning";
  if (algorithm_.mode == Mode::gcm && !has_clmul()) return "no carry-less multiplication";
  if (algorithm_.mode == Mode::chacha20_poly1305 && !has_nonce_) return "no nonce";
  if (key_.empty() || update.in == nullptr || update.size < kMinimum || update.room < update.size) {
    return "for the default provider to refuse";
  }
  if (update.in != update.out && overlap(update.in, update.size, update.out, update.size)) {
    return "overlapping buffers";
  }
  return nullptr;
}

template <typename DoIt>
int AeadCipher::verified(const Update& update, DoIt do_it) {
  if (!shadow_) return do_it();
  const auto expected = second_output(update.size);
  if (expected == nullptr) {
    count_passed("verify: left out (no memory)");
    shadow_ = Cipher();
    return do_it();
  }
  size_t length = 0;
  const int wanted = functions_.update(shadow_.get(), expected.get(), &length, update.size,
                                       update.in, update.size);
  int done = do_it();
  const bool same =
      done == wanted && (done != 1 || (*update.written == length &&
                                       std::memcmp(update.out, expected.get(), length) == 0));
  if (!same) {
    report_verified(false, algorithm_.name);
    inner_ = std::move(shadow_);
    give_up_message();
    beginning_.known = false;
    std::memcpy(update.out, expected.get(), length);
    *update.written = length;
    done = wanted;
  }
  OPENSSL_cleanse(expected.get(), update.size);
  return done;
}

int AeadCipher::update_large(const Update& update) {
  const size_t most = std::clamp<size_t>(update.size / lane_bytes_, 1, usable_lanes());
  const char* reason = obstacle(update);
  if (reason == nullptr && !pays(most)) reason = "the default provider is faster";
  if (reason != nullptr) {
    count_passed(reason);
    return update_whole(update);
  }
  take_watched_faults(update.in, update.out, update.size);
  const LargeCall call(is_configured_);
  const size_t lanes = std::min(call.lanes(), most);
  if (!pays(lanes)) {
    count_passed(call.obstacle());
    return update_whole(update);
  }
  const uint64_t begin = now_if_counting();
  if (lanes > 1) touch_pages(update.in, update.out, update.size, lanes);
  if (is_drawn_for_verification()) shadow_ = inner_.duplicate();
  const int done =
      verified(update, [&] { return begin_ours(update, lanes > 1 ? lane_bytes_ : kOneLane); });
  if (!taken_over_) shadow_ = Cipher();
  if (begin != 0) {
    count_call(lanes > 1 ? Cores::several : Cores::one, update.size, now_if_counting() - begin);
  }
  return done;
}

int AeadCipher::begin_ours(const Update& update, size_t lane_bytes) {
  size_t produced = 0;
  if (!encrypting_) beginning_.add_ciphertext(Bytes(update.in, kHead));
  const int done = inner_update({update.out, &produced, update.room, update.in, kHead});
  if (done != 1) {
    beginning_.known = false;
    return done;
  }
  if (encrypting_) beginning_.add_ciphertext(Bytes(update.out, kHead));
  size_t more = 0;
  const Update rest = {update.out + kHead, &more, update.room - kHead, update.in + kHead,
                       update.size - kHead};
  taken_over_ = take_over();
  if (!taken_over_) count_passed("no memory");
  const int rest_done = taken_over_ ? update_message(rest, lane_bytes) : inner_update(rest);
  beginning_.known = false;
  *update.written = kHead + more;
  return rest_done;
}

bool AeadCipher::take_over() {
  uint8_t iv_bytes[kLongestIv];
  Bytes iv(nonce_);
  if (algorithm_.mode == Mode::gcm) {
    iv = Bytes(iv_bytes, inner_octets(OSSL_CIPHER_PARAM_IV, iv_bytes, sizeof iv_bytes));
    if (iv.empty()) return false;
  }
  const bool same_key = message_ != nullptr;
  if (!same_key) message_ = new_message(algorithm_);
  const MessageStart start = {key_.bytes(),
                              iv,
                              {beginning_.additional, beginning_.additional_size},
                              {beginning_.ciphertext, beginning_.ciphertext_size}};
  if (message_ == nullptr || !message_->begin(start, same_key) || !message_->tag(inner_tag_)) {
    message_.reset();
    return false;
  }
  return true;
}

int AeadCipher::update_message(const Update& update, size_t lane_bytes) {
  if (message_->update(encrypting_, update.out, update.in, update.size, lane_bytes)) {
    *update.written = update.size;
    return 1;
  }
  *update.written = 0;
  is_lost_ = true;  // not lose_message(): verified() needs the shadow
  return refuse();
}

// An update of a message that is ours.
int AeadCipher::update_taken(const Update& update) {
  if (update.size == 0) return inner_update(update);
  if (is_lost_) return refuse();
  if (update.in == nullptr) {  // ends the message
    if (final_taken(update.out, update.written, update.room) != 1) return refuse();
    if (algorithm_.mode == Mode::chacha20_poly1305) *update.written = update.size;
    return 1;
  }
  if (update.out == nullptr) return add_late(update);
  if (update.room < update.size) return inner_update(update);  // refuses it
  if (update.size < threshold_) {
    return verified(update, [&] { return update_message(update, kOneLane); });
  }
  take_watched_faults(update.in, update.out, update.size);
  const LargeCall call(is_configured_);
  const bool apart =
      update.in == update.out || !overlap(update.in, update.size, update.out, update.size);
  const bool splits = call.obstacle() == nullptr && apart && update.size >= 2 * lane_bytes_;
  if (splits) touch_pages(update.in, update.out, update.size, call.lanes());
  const uint64_t begin = now_if_counting();
  const int done =
      verified(update, [&] { return update_message(update, splits ? lane_bytes_ : kOneLane); });
  if (begin != 0) {
    count_call(splits ? Cores::several : Cores::one, update.size, now_if_counting() - begin);
  }
  return done;
}

// GCM's inner context refuses additional data after text, ChaCha20-Poly1305's takes it.
int AeadCipher::add_late(const Update& update) {
  if (shadow_) {
    size_t written = 0;
    functions_.update(shadow_.get(), nullptr, &written, update.room, update.in, update.size);
  }
  if (!message_->late_additional(update.in, update.size)) return inner_update(update);
  *update.written = update.size;
  return 1;
}

// EVP_Cipher() of no bytes: additional data, or text that ends it.
int AeadCipher::close_taken(const Update& update) {
  if (is_lost_) return refuse();
  if (shadow_) {
    functions_.cipher(shadow_.get(), update.out, update.written, update.room, update.in, 0);
  }
  *update.written = 0;
  const bool done = update.out == nullptr
                        ? message_->late_additional(update.in, 0)
                        : message_->update(encrypting_, update.out, update.in, 0, kOneLane);
  return done ? 1 : refuse();
}

int AeadCipher::final_taken(uint8_t* out, size_t* written, size_t room) {
  int done = finish(out, written, room);
  if (shadow_) {
    size_t ignored = 0;
    const int wanted = functions_.final(shadow_.get(), out, &ignored, room);
    const bool same = done == wanted && shadow_agrees(done);
    report_verified(same, algorithm_.name);
    if (!same) {
      inner_ = std::move(shadow_);
      taken_over_ = has_tag_ = false;
      done = wanted;
    }
  }
  if (is_lost_) return done;
  // GCM goes on after it has refused a tag: the text, not the authentication.
  if (done == 1 || algorithm_.mode != Mode::gcm || !taken_over_) {
    give_up_message();
  } else {
    is_spoilt_ = wanted_tag_size_ != 0;
  }
  return done;
}

// Whether the shadow has the same tag.
bool AeadCipher::shadow_agrees(int done) {
  if (done != 1 || !encrypting_) return true;
  uint8_t tag[kTag];
  OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, kTag),
                         OSSL_PARAM_construct_end()};
  return functions_.get_ctx_params(shadow_.get(), params) == 1 &&
         CRYPTO_memcmp(tag, tag_, kTag) == 0;
}

int AeadCipher::finish(uint8_t* out, size_t* written, size_t room) {
  uint8_t tag[kTag];
  if (is_lost_ || !message_->tag(tag)) {
    lose_message();
    return 0;
  }
  if (encrypting_) {
    // OpenSSL makes a tag that nobody accepts; ours would be a right one, for text that an attacker
    // chose a part of.
    if (is_spoilt_) return 0;
    const int done = functions_.final(inner(), out, written, room);
    if (done == 1) {
      std::memcpy(tag_, tag, kTag);
      has_tag_ = true;
    }
    return done;
  }
  // None was set: GCM refuses, ChaCha20-Poly1305 takes everything.
  if (wanted_tag_size_ == 0) return functions_.final(inner(), out, written, room);
  uint8_t wanted[kTag];
  std::memcpy(wanted, wanted_tag_, kTag);
  const size_t size = wanted_tag_size_;
  const bool right = CRYPTO_memcmp(tag, wanted, size) == 0 && !is_spoilt_;
  uint8_t answer[kTag];
  for (size_t i = 0; i < kTag; ++i) answer[i] = inner_tag_[i] ^ (right ? 0 : 0xff);
  if (!give_inner_tag(answer, size)) {
    lose_message();
    return 0;
  }
  const int done = functions_.final(inner(), out, written, room);
  give_inner_tag(wanted, size);
  return done;
}

}  // namespace hoist::aes
