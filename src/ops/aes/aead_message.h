// One message of an AEAD cipher, from the moment on at which we take it over from the default
// provider: encryption and authentication split over the cores.
#pragma once

#include <openssl/crypto.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ops/aes/default_provider.h"

namespace hoist::aes {

constexpr size_t kTag = 16;
// As `lane_bytes`: on the calling thread alone.
constexpr size_t kOneLane = SIZE_MAX;

// The message until now: all of its additional data and ciphertext.
struct MessageStart {
  Bytes key;
  Bytes iv;
  Bytes additional;
  Bytes ciphertext;
};

class AeadMessage {
 public:
  virtual ~AeadMessage() = default;

  // False where memory ran out. What was known of the key may be used again where `same_key`.
  virtual bool begin(const MessageStart& start, bool same_key) = 0;
  // In place or between buffers that do not overlap. A thread is started for each `lane_bytes`
  // beyond the first ones. False: an error (limits of the mode).
  virtual bool update(bool encrypting, uint8_t* out, const uint8_t* in, size_t size,
                      size_t lane_bytes) = 0;
  // The tag of what was given until now; the message may go on.
  virtual bool tag(uint8_t* tag) = 0;
  // Additional data after text. False: the mode has no such thing.
  virtual bool late_additional(const uint8_t* data, size_t size) = 0;
  // Null where memory ran out.
  virtual std::unique_ptr<AeadMessage> duplicate() const = 0;
};

}  // namespace hoist::aes
