#include "ops/aes/context.h"

#include <openssl/core_names.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <string_view>

namespace hoist::aes {
namespace {

constexpr char kTlsPrefix[] = "tls";
constexpr const char* kTlsNames[] = {OSSL_CIPHER_PARAM_TLS_VERSION, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD,
                                     OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED,
                                     OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV,
                                     OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN};
static_assert(std::all_of(std::begin(kTlsNames), std::end(kTlsNames),
                          [](std::string_view name) { return name.substr(0, 3) == kTlsPrefix; }));

}  // namespace

size_t Context::inner_octets(const char* name, uint8_t* value, size_t room) const {
  OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(name, value, room),
                         OSSL_PARAM_construct_end()};
  if (functions_.get_ctx_params(inner(), params) != 1 || !OSSL_PARAM_modified(params)) return 0;
  return params[0].return_size;
}

void Context::watch_for_tls(Params params) {
  if (params == nullptr || tls_) return;
  for (; params->key != nullptr; ++params) {
    // Asked at every message, and nearly always something else.
    if (std::strncmp(params->key, kTlsPrefix, std::size(kTlsPrefix) - 1) != 0) continue;
    for (const char* name : kTlsNames) {
      if (std::strcmp(params->key, name) == 0) tls_ = true;
    }
  }
}

std::unique_ptr<uint8_t[]> second_output(size_t size) {
  return std::unique_ptr<uint8_t[]>(new (std::nothrow) uint8_t[size]);
}

}  // namespace hoist::aes
