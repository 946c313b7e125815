#include "ops/aes/aead_cipher.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/proverr.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "ops/aes/accounting.h"
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

void append(uint8_t* kept, uint16_t& size, Bytes data, bool& known, size_t room) {
  if (data.size() > room - size) {
    known = false;
    return;
  }
  if (!data.empty()) std::memcpy(kept + size, data.data(), data.size());
  size = static_cast<uint16_t>(size + data.size());
}

}  // namespace

void AeadCipher::Beginning::add_additional(Bytes data) {
  if (ciphertext_size > 0) known = false;
  if (known) append(additional, additional_size, data, known, kRoom);
}

void AeadCipher::Beginning::add_ciphertext(Bytes data) {
  if (known) append(ciphertext, ciphertext_size, data, known, kRoom);
}

AeadCipher::AeadCipher(const AeadCipher& other)
    : Context(other),
      key_(other.key_),
      has_nonce_(other.has_nonce_),
      beginning_(other.beginning_),
      taken_over_(other.taken_over_),
      is_spoilt_(other.is_spoilt_),
      is_lost_(other.is_lost_),
      wanted_tag_size_(other.wanted_tag_size_),
      has_tag_(other.has_tag_) {
  std::memcpy(nonce_, other.nonce_, sizeof nonce_);
  std::memcpy(inner_tag_, other.inner_tag_, sizeof inner_tag_);
  std::memcpy(wanted_tag_, other.wanted_tag_, sizeof wanted_tag_);
  std::memcpy(tag_, other.tag_, sizeof tag_);
  if (taken_over_) {
    message_ = other.message_->duplicate();
    if (other.shadow_) shadow_ = other.shadow_.duplicate();
    copy_failed_ = message_ == nullptr;
  }
}

// The tag of a message's beginning would authenticate that beginning.
AeadCipher::~AeadCipher() { OPENSSL_cleanse(inner_tag_, sizeof inner_tag_); }

int AeadCipher::start(bool encrypting, Bytes key, Bytes iv, Params params) {
  if (encrypting_ && !encrypting) keep_tag_for_decryption();
  const size_t iv_size_before = taken_over_ ? iv_size() : 0;
  const int done = inner_start(encrypting, key, iv, params);
  encrypting_ = encrypting;
  if (key.data() != nullptr) {
    key_.set(done == 1 ? key : Bytes());
    if (done == 1) message_.reset();  // and with it what followed from the old key
  }
  if (iv.data() != nullptr) {
    has_nonce_ = iv.size() == sizeof nonce_;
    if (has_nonce_) std::memcpy(nonce_, iv.data(), sizeof nonce_);
  }
  if (done == 1 && iv.data() != nullptr) {
    give_up_message();
    beginning_.start();
  } else if (done != 1 && taken_over_) {
    // Whether the key or the IV was taken nevertheless is not known.
    if (key.data() != nullptr || iv.data() != nullptr) lose_message();
  } else if (done != 1 || key.data() != nullptr) {
    // A key that comes after its IV starts the message; one in the middle of it makes it something
    // that the inner context alone knows.
    const bool fresh = beginning_.known && beginning_.is_empty() && !taken_over_;
    give_up_message();
    beginning_.known = done == 1 && fresh;
  } else if (shadow_) {
    const auto init = encrypting ? functions_.encrypt_init : functions_.decrypt_init;
    init(shadow_.get(), nullptr, 0, nullptr, 0, params);
  }
  if (inner_lacks_tag_ && !encrypting) {
    give_inner_tag(wanted_tag_, wanted_tag_size_);
    inner_lacks_tag_ = false;
  }
  watch_for_tls(params);
  if (done == 1) note_params(params);
  if (taken_over_) note_disturbance(iv_size_before);
  return done;
}

// Where the default provider is faster on one core than we are, it takes more of them, and a larger
// buffer to wake them all.
bool AeadCipher::gcm_pays(size_t size) const {
  constexpr double kClearly = 1.35;
  if (is_configured_) return true;
  const double gain = gcm_gain_of_a_core();
  return gain * static_cast<double>(usable_lanes()) >= kClearly &&
         (gain >= 1 || gain * static_cast<double>(size) >= 2.0 * static_cast<double>(threshold_));
}

// Decryption compares with the tag that the context holds, were it that of the last encryption.
void AeadCipher::keep_tag_for_decryption() {
  size_t size = 0;
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, wanted_tag_, kTag),
      OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN, &size),
      OSSL_PARAM_construct_end()};
  ERR_set_mark();
  const bool has_any = functions_.get_ctx_params(inner(), params) == 1;
  ERR_pop_to_mark();
  if (!has_any) return;
  wanted_tag_size_ = size;
  if (!has_tag_) return;
  std::memcpy(wanted_tag_, tag_, kTag);
  inner_lacks_tag_ = true;
  has_tag_ = false;
}

size_t AeadCipher::iv_size() const {
  size_t size = 0;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_IVLEN, &size),
                         OSSL_PARAM_construct_end()};
  return functions_.get_ctx_params(inner(), params) == 1 ? size : 0;
}

int AeadCipher::set_params(Params params) {
  const size_t iv_size_before = taken_over_ ? iv_size() : 0;
  const int done = functions_.set_ctx_params(inner(), params);
  watch_for_tls(params);
  if (shadow_) functions_.set_ctx_params(shadow_.get(), params);
  if (done == 1) {
    note_params(params);
  } else if (has_tag_ && algorithm_.mode == Mode::gcm) {
    // GCM refuses a tag for encryption after it has copied it over its own.
    const OSSL_PARAM* const tag = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_AEAD_TAG);
    if (tag != nullptr && tag->data != nullptr && tag->data_size <= kTag) {
      std::memcpy(tag_, tag->data, tag->data_size);
    }
  }
  if (taken_over_) note_disturbance(iv_size_before);
  return done;
}

// GCM drops its IV when it is told another length; what TLS sets begins a record.
void AeadCipher::note_disturbance(size_t iv_size_before) {
  if (tls_ || (algorithm_.mode == Mode::gcm && iv_size() != iv_size_before)) lose_message();
}

void AeadCipher::note_params(Params params) {
  if (params == nullptr) return;
  const OSSL_PARAM* const tag = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_AEAD_TAG);
  if (tag == nullptr || tag->data_size > kTag) return;
  wanted_tag_size_ = tag->data_size;
  if (tag->data == nullptr) return;
  std::memcpy(wanted_tag_, tag->data, tag->data_size);
  has_tag_ = false;
}

int AeadCipher::get_params(OSSL_PARAM* params) {
  watch_for_tls(params);
  if (tls_ && taken_over_) lose_message();
  const int done = functions_.get_ctx_params(inner(), params);
  if (done != 1 || !has_tag_) return done;
  OSSL_PARAM* const tag = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_AEAD_TAG);
  if (tag != nullptr && tag->data != nullptr && tag->data_size <= kTag) {
    std::memcpy(tag->data, tag_, tag->data_size);
  }
  return done;
}

void AeadCipher::give_up_message() {
  taken_over_ = false;
  is_spoilt_ = false;
  is_lost_ = false;
  shadow_ = Cipher();
}

void AeadCipher::lose_message() {
  is_lost_ = true;
  shadow_ = Cipher();
}

int AeadCipher::refuse() {
  ERR_raise(ERR_LIB_PROV, PROV_R_CIPHER_OPERATION_FAILED);
  return 0;
}

int AeadCipher::update_whole(const Update& update) {
  if (update.in == nullptr && update.size != 0) [[unlikely]] {  // ends the message
    beginning_.known = false;
    const int done = inner_update(update);
    if (done == 1 && encrypting_) has_tag_ = false;
    return done;
  }
  if (!beginning_.known) return inner_update(update);
  const Bytes in(update.in, update.in != nullptr ? update.size : 0);
  // Decryption in place overwrites the ciphertext.
  if (update.out != nullptr && !encrypting_) beginning_.add_ciphertext(in);
  const int done = inner_update(update);
  if (done != 1) {
    beginning_.known = false;
  } else if (update.out == nullptr) {
    beginning_.add_additional(in);
  } else if (encrypting_) {
    beginning_.add_ciphertext(Bytes(update.out, in.size()));
  }
  return done;
}

const char* AeadCipher::obstacle(const Update& update) const {
  if (tls_) return "TLS records";
  if (!beginning_.known) return "a long beginning in small pieces";
  if (beginning_.ciphertext_size + kHead > Beginning::kRoom) return "a long beginning";
  if (algorithm_.mode == Mode::gcm) {
    if (!has_clmul()) return "no carry-less multiplication";
    if (!gcm_pays(update.size)) return "the default provider's GCM is faster";
  }
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
  const LargeCall call(is_configured_);
  const char* const reason = call.obstacle() != nullptr ? call.obstacle() : obstacle(update);
  const uint64_t begin = now_if_counting();
  if (reason != nullptr) {
    count_passed(reason);
    const int done = update_whole(update);
    if (begin != 0) count_whole(update.size, now_if_counting() - begin);
    return done;
  }
  touch_pages(update.in, update.out, update.size);
  if (is_drawn_for_verification()) shadow_ = inner_.duplicate();
  const int done = verified(update, [&] { return begin_split(update); });
  if (!taken_over_) shadow_ = Cipher();
  if (begin != 0) count_split(update.size, now_if_counting() - begin);
  return done;
}

int AeadCipher::begin_split(const Update& update) {
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
  const int rest_done = taken_over_ ? update_message(rest, true) : inner_update(rest);
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

int AeadCipher::update_message(const Update& update, bool may_split) {
  if (message_->update(encrypting_, update.out, update.in, update.size, threshold_, may_split)) {
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
    return verified(update, [&] { return update_message(update, false); });
  }
  const LargeCall call(is_configured_);
  const bool apart =
      update.in == update.out || !overlap(update.in, update.size, update.out, update.size);
  const bool may_split = call.obstacle() == nullptr && apart;
  if (!may_split) count_passed(apart ? call.obstacle() : "overlapping buffers");
  touch_pages(update.in, update.out, update.size);
  const uint64_t begin = now_if_counting();
  const int done = verified(update, [&] { return update_message(update, may_split); });
  if (begin != 0) {
    (may_split ? count_split : count_whole)(update.size, now_if_counting() - begin);
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

int AeadCipher::final(uint8_t* out, size_t* written, size_t room) {
  if (taken_over_) return final_taken(out, written, room);
  const int done = functions_.final(inner(), out, written, room);
  beginning_.known = false;
  if (done == 1 && encrypting_) has_tag_ = false;
  return done;
}

int AeadCipher::cipher(const Update& update) {
  if (!taken_over_) {
    const int done =
        functions_.cipher(inner(), update.out, update.written, update.room, update.in, update.size);
    beginning_.known = false;
    if (done == 1 && encrypting_ && update.in == nullptr) has_tag_ = false;
    return done;
  }
  return update.in == nullptr ? final_taken(update.out, update.written, update.room)
                              : update_taken(update);
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

bool AeadCipher::give_inner_tag(const uint8_t* tag, size_t size) {
  if (size == 0) return true;
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG,
                                                                 const_cast<uint8_t*>(tag), size),
                               OSSL_PARAM_construct_end()};
  return functions_.set_ctx_params(inner(), params) == 1;
}

}  // namespace hoist::aes
