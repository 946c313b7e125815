// One interface over all algorithms: bytes in, a digest out.
//
//   Hasher hasher({Algorithm::sha256, 32});
//   hasher.update(data, size);
//   Digest digest = hasher.finish();
#pragma once

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/md5.h>
#include <openssl/sha.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "ops/hash/algorithm.h"
#include "ops/hash/blake2b.h"
#include "ops/hash/plain_sum.h"
#include "ops/hash/sm3.h"

namespace hoist::hash {

struct DigestKind {
  Algorithm algorithm = Algorithm::md5;
  size_t bytes = 16;
  bool operator==(const DigestKind&) const = default;
};

struct Digest {
  std::array<uint8_t, kMaxDigestBytes> bytes{};
  size_t size = 0;

  // Whether the first bytes of this digest are `prefix`, which is not empty.
  bool starts_with(const Digest& prefix) const;
  // Lower-case hexadecimal.
  std::string hex() const;
  void append_hex(std::string& text) const;
  // The number that bsd, sysv and crc give, which a digest holds big-endian.
  uint32_t number() const;
};

class Hasher {
 public:
  explicit Hasher(DigestKind kind);
  void update(const uint8_t* data, size_t size);
  // The object is used up.
  Digest finish();

 private:
  size_t digest_bytes_;
  // OpenSSL's low-level calls rather than EVP: those need neither providers nor configuration,
  // which would dominate the run time of a small file. SHA-224 and SHA-384 share their longer
  // relative's context, which knows the digest's length.
  std::variant<BsdSum, SysvSum, PosixCrc, MD5_CTX, SHA_CTX, SHA256_CTX, SHA512_CTX, Blake2b, Sm3>
      state_;
};

}  // namespace hoist::hash
