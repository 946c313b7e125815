#include "ops/aes/aead_cipher.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

#include <cstring>

namespace hoist::aes {
namespace {

void append(uint8_t* kept, uint16_t& size, Bytes data, bool& known, size_t room) {
  if (data.size() > room - size) {
    known = false;
    return;
  }
  if (!data.empty()) std::memcpy(kept + size, data.data(), data.size());
  size = static_cast<uint16_t>(size + data.size());
}

// Whether EVP_Cipher() of nothing ends a message of ChaCha20-Poly1305, which shows in the tag: with
// OpenSSL 3.0.22 it does, up to 3.0.20 it did nothing.
bool nothing_ends_chacha(const CipherFunctions& functions) {
  const uint8_t zeros[32] = {};
  uint8_t byte = 0;
  uint8_t tag[kTag] = {};
  size_t written = 0;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, kTag),
                         OSSL_PARAM_construct_end()};
  Cipher cipher(functions);
  ERR_set_mark();
  const bool asked = cipher && cipher.start(true, Bytes(zeros), Bytes(zeros).first(12)) &&
                     functions.cipher(cipher.get(), &byte, &written, 1, nullptr, 0) == 1 &&
                     functions.get_ctx_params(cipher.get(), params) == 1;
  ERR_pop_to_mark();
  return asked && std::memcmp(tag, zeros, kTag) != 0;
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
  if (shadow_) shadow_ = Cipher();
}

void AeadCipher::lose_message() {
  is_lost_ = true;
  if (shadow_) shadow_ = Cipher();
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

int AeadCipher::final(uint8_t* out, size_t* written, size_t room) {
  if (taken_over_) return final_taken(out, written, room);
  const int done = functions_.final(inner(), out, written, room);
  beginning_.known = false;
  if (done == 1 && encrypting_) has_tag_ = false;
  return done;
}

int AeadCipher::cipher(const Update& update) {
  // Nothing at all ends a message of GCM.
  const bool is_empty_chacha = algorithm_.mode == Mode::chacha20_poly1305 && update.size == 0;
  if (is_empty_chacha) {
    static const bool ends = nothing_ends_chacha(functions_);
    if (!ends) {
      return functions_.cipher(inner(), update.out, update.written, update.room, update.in, 0);
    }
  }
  if (!taken_over_) {
    const int done =
        functions_.cipher(inner(), update.out, update.written, update.room, update.in, update.size);
    beginning_.known = false;
    if (done == 1 && encrypting_ && update.in == nullptr) has_tag_ = false;
    return done;
  }
  if (update.in == nullptr) return final_taken(update.out, update.written, update.room);
  return is_empty_chacha ? close_taken(update) : update_taken(update);
}

bool AeadCipher::give_inner_tag(const uint8_t* tag, size_t size) {
  if (size == 0) return true;
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG,
                                                                 const_cast<uint8_t*>(tag), size),
                               OSSL_PARAM_construct_end()};
  return functions_.set_ctx_params(inner(), params) == 1;
}

}  // namespace hoist::aes
