// The OpenSSL 3 provider `hoist`: AES in ECB, CBC, CTR, XTS and GCM mode, and ChaCha20-Poly1305,
// with large calls split over the cores. docs/reference/provider.md is its manual.
//
// Parameters of its section in openssl.cnf:
//   threshold = BYTES   the smallest update that is split; without it each mode has its own,
//                       measured one
#pragma once

#include <openssl/core.h>

namespace hoist::aes {

// What the library exports as OSSL_provider_init (provider-base(7)); a program that links the
// provider gives it to OSSL_PROVIDER_add_builtin().
int initialise_provider(const OSSL_CORE_HANDLE* core, const OSSL_DISPATCH* core_functions,
                        const OSSL_DISPATCH** functions, void** context);

}  // namespace hoist::aes
