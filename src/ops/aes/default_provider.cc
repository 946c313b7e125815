#include "ops/aes/default_provider.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

namespace hoist::aes {
namespace {

// Never freed: contexts and worker threads may outlive the last use of our provider, and OpenSSL's
// own clean-up at exit must find nothing of ours half gone.
OSSL_PROVIDER* default_provider() {
  static OSSL_PROVIDER* const provider = [] {
    OSSL_LIB_CTX* const context = OSSL_LIB_CTX_new();
    return context != nullptr ? OSSL_PROVIDER_load(context, "default") : nullptr;
  }();
  return provider;
}

const OSSL_ALGORITHM* find(int operation, std::string_view name) {
  OSSL_PROVIDER* const provider = default_provider();
  if (provider == nullptr) return nullptr;
  int no_cache = 0;
  const OSSL_ALGORITHM* algorithm = OSSL_PROVIDER_query_operation(provider, operation, &no_cache);
  if (algorithm == nullptr || no_cache != 0) return nullptr;
  for (; algorithm->algorithm_names != nullptr; ++algorithm) {
    const std::string_view names = algorithm->algorithm_names;
    if (names.substr(0, names.find(':')) == name) return algorithm;
  }
  return nullptr;
}

}  // namespace

bool CipherFunctions::complete() const {
  return newctx != nullptr && encrypt_init != nullptr && decrypt_init != nullptr &&
         update != nullptr && final != nullptr && cipher != nullptr && freectx != nullptr &&
         dupctx != nullptr && get_params != nullptr && get_ctx_params != nullptr &&
         set_ctx_params != nullptr && gettable_params != nullptr &&
         gettable_ctx_params != nullptr && settable_ctx_params != nullptr;
}

bool MacFunctions::complete() const {
  return newctx != nullptr && dupctx != nullptr && freectx != nullptr && init != nullptr &&
         update != nullptr && final != nullptr;
}

CipherFunctions find_default_cipher(std::string_view name) {
  CipherFunctions functions;
  const OSSL_ALGORITHM* const algorithm = find(OSSL_OP_CIPHER, name);
  if (algorithm == nullptr) return functions;
  functions.names = algorithm->algorithm_names;
  functions.provider = OSSL_PROVIDER_get0_provider_ctx(default_provider());
  for (const OSSL_DISPATCH* entry = algorithm->implementation; entry->function_id != 0; ++entry) {
    switch (entry->function_id) {
      case OSSL_FUNC_CIPHER_NEWCTX:
        functions.newctx = OSSL_FUNC_cipher_newctx(entry);
        break;
      case OSSL_FUNC_CIPHER_ENCRYPT_INIT:
        functions.encrypt_init = OSSL_FUNC_cipher_encrypt_init(entry);
        break;
      case OSSL_FUNC_CIPHER_DECRYPT_INIT:
        functions.decrypt_init = OSSL_FUNC_cipher_decrypt_init(entry);
        break;
      case OSSL_FUNC_CIPHER_UPDATE:
        functions.update = OSSL_FUNC_cipher_update(entry);
        break;
      case OSSL_FUNC_CIPHER_FINAL:
        functions.final = OSSL_FUNC_cipher_final(entry);
        break;
      case OSSL_FUNC_CIPHER_CIPHER:
        functions.cipher = OSSL_FUNC_cipher_cipher(entry);
        break;
      case OSSL_FUNC_CIPHER_FREECTX:
        functions.freectx = OSSL_FUNC_cipher_freectx(entry);
        break;
      case OSSL_FUNC_CIPHER_DUPCTX:
        functions.dupctx = OSSL_FUNC_cipher_dupctx(entry);
        break;
      case OSSL_FUNC_CIPHER_GET_PARAMS:
        functions.get_params = OSSL_FUNC_cipher_get_params(entry);
        break;
      case OSSL_FUNC_CIPHER_GET_CTX_PARAMS:
        functions.get_ctx_params = OSSL_FUNC_cipher_get_ctx_params(entry);
        break;
      case OSSL_FUNC_CIPHER_SET_CTX_PARAMS:
        functions.set_ctx_params = OSSL_FUNC_cipher_set_ctx_params(entry);
        break;
      case OSSL_FUNC_CIPHER_GETTABLE_PARAMS:
        functions.gettable_params = OSSL_FUNC_cipher_gettable_params(entry);
        break;
      case OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS:
        functions.gettable_ctx_params = OSSL_FUNC_cipher_gettable_ctx_params(entry);
        break;
      case OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS:
        functions.settable_ctx_params = OSSL_FUNC_cipher_settable_ctx_params(entry);
        break;
    }
  }
  return functions;
}

MacFunctions find_default_mac(std::string_view name) {
  MacFunctions functions;
  const OSSL_ALGORITHM* const algorithm = find(OSSL_OP_MAC, name);
  if (algorithm == nullptr) return functions;
  functions.provider = OSSL_PROVIDER_get0_provider_ctx(default_provider());
  for (const OSSL_DISPATCH* entry = algorithm->implementation; entry->function_id != 0; ++entry) {
    switch (entry->function_id) {
      case OSSL_FUNC_MAC_NEWCTX:
        functions.newctx = OSSL_FUNC_mac_newctx(entry);
        break;
      case OSSL_FUNC_MAC_DUPCTX:
        functions.dupctx = OSSL_FUNC_mac_dupctx(entry);
        break;
      case OSSL_FUNC_MAC_FREECTX:
        functions.freectx = OSSL_FUNC_mac_freectx(entry);
        break;
      case OSSL_FUNC_MAC_INIT:
        functions.init = OSSL_FUNC_mac_init(entry);
        break;
      case OSSL_FUNC_MAC_UPDATE:
        functions.update = OSSL_FUNC_mac_update(entry);
        break;
      case OSSL_FUNC_MAC_FINAL:
        functions.final = OSSL_FUNC_mac_final(entry);
        break;
    }
  }
  return functions;
}

bool Cipher::start(bool encrypting, Bytes key, Bytes iv) {
  const auto init = encrypting ? functions_->encrypt_init : functions_->decrypt_init;
  return context_ != nullptr &&
         init(context_, key.data(), key.size(), iv.data(), iv.size(), nullptr) == 1;
}

bool Cipher::set_padding(bool padding) {
  unsigned int value = padding ? 1 : 0;
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_PADDING, &value),
                               OSSL_PARAM_construct_end()};
  return functions_->set_ctx_params(context_, params) == 1;
}

bool Cipher::update(uint8_t* out, const uint8_t* in, size_t size) {
  size_t written = 0;
  return functions_->update(context_, out, &written, size, in, size) == 1 && written == size;
}

Mac Mac::duplicate() const {
  Mac copy;
  copy.functions_ = functions_;
  if (context_ != nullptr) copy.context_ = functions_->dupctx(context_);
  return copy;
}

bool Mac::start(Bytes key) {
  return context_ != nullptr && functions_->init(context_, key.data(), key.size(), nullptr) == 1;
}

bool Mac::update(const uint8_t* data, size_t size) {
  return functions_->update(context_, data, size) == 1;
}

bool Mac::finish(uint8_t* tag) {
  size_t written = 0;
  return functions_->final(context_, tag, &written, 16) == 1 && written == 16;
}

}  // namespace hoist::aes
