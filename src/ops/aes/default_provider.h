// OpenSSL's own implementations, called without a detour: the functions that the default provider
// offers, from a private library context that no configuration, property query or provider of the
// host program reaches.
//
// Hoist's provider hands every call to these functions that it does not split, and splits the rest
// into calls of them. So results, error codes and the error queue are OpenSSL's own.
#pragma once

#include <openssl/core_dispatch.h>
#include <openssl/provider.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace hoist::aes {

using Bytes = std::span<const uint8_t>;

// provider-cipher(7). Null where the default provider lacks a function.
struct CipherFunctions {
  const char* names = nullptr;  // "AES-256-GCM:id-aes256-GCM:…"
  void* provider = nullptr;     // what newctx wants
  OSSL_FUNC_cipher_newctx_fn* newctx = nullptr;
  OSSL_FUNC_cipher_encrypt_init_fn* encrypt_init = nullptr;
  OSSL_FUNC_cipher_decrypt_init_fn* decrypt_init = nullptr;
  OSSL_FUNC_cipher_update_fn* update = nullptr;
  OSSL_FUNC_cipher_final_fn* final = nullptr;
  OSSL_FUNC_cipher_cipher_fn* cipher = nullptr;
  OSSL_FUNC_cipher_freectx_fn* freectx = nullptr;
  OSSL_FUNC_cipher_dupctx_fn* dupctx = nullptr;
  OSSL_FUNC_cipher_get_params_fn* get_params = nullptr;
  OSSL_FUNC_cipher_get_ctx_params_fn* get_ctx_params = nullptr;
  OSSL_FUNC_cipher_set_ctx_params_fn* set_ctx_params = nullptr;
  OSSL_FUNC_cipher_gettable_params_fn* gettable_params = nullptr;
  OSSL_FUNC_cipher_gettable_ctx_params_fn* gettable_ctx_params = nullptr;
  OSSL_FUNC_cipher_settable_ctx_params_fn* settable_ctx_params = nullptr;

  // What a provider cannot do without, and what we ask of contexts.
  bool complete() const;
};

// provider-mac(7).
struct MacFunctions {
  void* provider = nullptr;
  OSSL_FUNC_mac_newctx_fn* newctx = nullptr;
  OSSL_FUNC_mac_dupctx_fn* dupctx = nullptr;
  OSSL_FUNC_mac_freectx_fn* freectx = nullptr;
  OSSL_FUNC_mac_init_fn* init = nullptr;
  OSSL_FUNC_mac_update_fn* update = nullptr;
  OSSL_FUNC_mac_final_fn* final = nullptr;

  bool complete() const;
};

// `name` is the first of an algorithm's names. Not complete() where there is none.
CipherFunctions find_default_cipher(std::string_view name);
MacFunctions find_default_mac(std::string_view name);

// A context of the default provider. Keys in it are cleansed when it goes, by OpenSSL.
class Cipher {
 public:
  Cipher() = default;
  explicit Cipher(const CipherFunctions& functions)
      : functions_(&functions), context_(functions.newctx(functions.provider)) {}
  Cipher(const CipherFunctions& functions, void* context)
      : functions_(&functions), context_(context) {}
  Cipher(Cipher&& other) noexcept
      : functions_(other.functions_), context_(std::exchange(other.context_, nullptr)) {}
  Cipher& operator=(Cipher&& other) noexcept {
    std::swap(functions_, other.functions_);
    std::swap(context_, other.context_);
    return *this;
  }
  ~Cipher() {
    if (context_ != nullptr) functions_->freectx(context_);
  }

  // Null where memory ran out.
  explicit operator bool() const { return context_ != nullptr; }
  void* get() const { return context_; }
  void* release() { return std::exchange(context_, nullptr); }
  Cipher duplicate() const { return {*functions_, functions_->dupctx(context_)}; }

  // An empty key or iv is left as it is.
  bool start(bool encrypting, Bytes key, Bytes iv);
  bool set_padding(bool padding);
  // As many bytes as go in come out: stream modes, and block modes without padding.
  bool update(uint8_t* out, const uint8_t* in, size_t size);

 private:
  const CipherFunctions* functions_ = nullptr;
  void* context_ = nullptr;
};

class Mac {
 public:
  Mac() = default;
  explicit Mac(const MacFunctions& functions)
      : functions_(&functions), context_(functions.newctx(functions.provider)) {}
  Mac(Mac&& other) noexcept
      : functions_(other.functions_), context_(std::exchange(other.context_, nullptr)) {}
  Mac& operator=(Mac&& other) noexcept {
    std::swap(functions_, other.functions_);
    std::swap(context_, other.context_);
    return *this;
  }
  ~Mac() {
    if (context_ != nullptr) functions_->freectx(context_);
  }

  explicit operator bool() const { return context_ != nullptr; }
  Mac duplicate() const;
  bool start(Bytes key);
  bool update(const uint8_t* data, size_t size);
  // Writes 16 bytes, the length of every MAC that we use.
  bool finish(uint8_t* tag);

 private:
  const MacFunctions* functions_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace hoist::aes
