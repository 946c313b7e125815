#include "ops/aes/context.h"

#include <openssl/core_names.h>

#include <new>

namespace hoist::aes {

size_t Context::inner_octets(const char* name, uint8_t* value, size_t room) const {
  OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(name, value, room),
                         OSSL_PARAM_construct_end()};
  if (functions_.get_ctx_params(inner(), params) != 1 || !OSSL_PARAM_modified(params)) return 0;
  return params[0].return_size;
}

void Context::watch_for_tls(Params params) {
  if (params == nullptr) return;
  for (const char* name :
       {OSSL_CIPHER_PARAM_TLS_VERSION, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD,
        OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED, OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV,
        OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN}) {
    if (OSSL_PARAM_locate_const(params, name) != nullptr) tls_ = true;
  }
}

std::unique_ptr<uint8_t[]> second_output(size_t size) {
  return std::unique_ptr<uint8_t[]>(new (std::nothrow) uint8_t[size]);
}

}  // namespace hoist::aes
