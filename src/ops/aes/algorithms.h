// The ciphers of the provider: each one's name, kind and break-even.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "ops/aes/default_provider.h"

namespace hoist::aes {

enum class Mode { ecb, cbc, ctr, xts, gcm, chacha20_poly1305 };

struct Algorithm {
  std::string_view name;  // the first of the default provider's names
  Mode mode;
  size_t key_bits;  // of the block cipher
};

inline constexpr std::array<Algorithm, 15> kAlgorithms = {{
    {"AES-256-ECB", Mode::ecb, 256},
    {"AES-192-ECB", Mode::ecb, 192},
    {"AES-128-ECB", Mode::ecb, 128},
    {"AES-256-CBC", Mode::cbc, 256},
    {"AES-192-CBC", Mode::cbc, 192},
    {"AES-128-CBC", Mode::cbc, 128},
    {"AES-256-CTR", Mode::ctr, 256},
    {"AES-192-CTR", Mode::ctr, 192},
    {"AES-128-CTR", Mode::ctr, 128},
    {"AES-256-XTS", Mode::xts, 256},
    {"AES-128-XTS", Mode::xts, 128},
    {"AES-256-GCM", Mode::gcm, 256},
    {"AES-192-GCM", Mode::gcm, 192},
    {"AES-128-GCM", Mode::gcm, 128},
    {"ChaCha20-Poly1305", Mode::chacha20_poly1305, 256},
}};

// Where the configuration names no threshold: from there on we were measured to be clearly faster
// than the default provider (docs/reference/provider.md).
struct BreakEven {
  size_t update;  // the smallest that is taken over
  size_t lane;    // of an update, that is worth a thread
};
BreakEven break_even(Mode mode);

// OpenSSL's own functions for an algorithm of ours, looked up once. Not complete() where its
// default provider lacks it.
const CipherFunctions& default_functions(const Algorithm& algorithm);
const CipherFunctions& default_functions(Mode mode, size_t key_bits);

}  // namespace hoist::aes
