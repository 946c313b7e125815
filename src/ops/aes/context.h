// What all contexts of the provider have in common: the default provider's context that every call
// is handed to ("inner"), and access to its parameters.
#pragma once

#include <openssl/params.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ops/aes/algorithms.h"
#include "ops/aes/default_provider.h"

namespace hoist::aes {

using Params = const OSSL_PARAM*;

// The caller's arguments to an update.
struct Update {
  uint8_t* out;
  size_t* written;
  size_t room;
  const uint8_t* in;
  size_t size;
};

class Context {
 public:
  Context(const Algorithm& algorithm, size_t threshold)
      : functions_(default_functions(algorithm)),
        threshold_(threshold != 0 ? threshold : break_even(algorithm.mode).update),
        lane_bytes_(threshold != 0 ? (threshold + 1) / 2 : break_even(algorithm.mode).lane),
        is_configured_(threshold != 0),
        inner_(functions_),
        algorithm_(algorithm) {}
  Context(const Context& other)
      : functions_(other.functions_),
        threshold_(other.threshold_),
        lane_bytes_(other.lane_bytes_),
        is_configured_(other.is_configured_),
        inner_(other.inner_.duplicate()),
        algorithm_(other.algorithm_),
        encrypting_(other.encrypting_),
        tls_(other.tls_) {}
  Context& operator=(const Context&) = delete;

  // Whether there was memory for it.
  bool valid() const { return static_cast<bool>(inner_); }
  void* inner() const { return inner_.get(); }

 protected:
  ~Context() = default;

  int inner_start(bool encrypting, Bytes key, Bytes iv, Params params) {
    const auto init = encrypting ? functions_.encrypt_init : functions_.decrypt_init;
    return init(inner(), key.data(), key.size(), iv.data(), iv.size(), params);
  }
  int inner_update(const Update& update) {
    return functions_.update(inner(), update.out, update.written, update.room, update.in,
                             update.size);
  }
  // Reads an octet string, 16 bytes at most unless `room` says otherwise; 0 where there is none.
  size_t inner_octets(const char* name, uint8_t* value, size_t room = 16) const;
  // Records that ciphers of TLS records are in use: those calls are all the default provider's.
  void watch_for_tls(Params params);

  const CipherFunctions& functions_;
  const size_t threshold_;
  const size_t lane_bytes_;
  const bool is_configured_;  // the threshold is the user's
  Cipher inner_;
  const Algorithm& algorithm_;
  bool encrypting_ = false;
  bool tls_ = false;
};

// Memory for a second result, to compare with; null where there is none.
std::unique_ptr<uint8_t[]> second_output(size_t size);

}  // namespace hoist::aes
