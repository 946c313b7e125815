#include "ops/hash/hasher.h"

#include <algorithm>
#include <type_traits>

namespace hoist::hash {
namespace {

void store_number(uint32_t number, Digest& digest) {
  for (size_t i = 0; i < digest.size; ++i) {
    digest.bytes[i] = static_cast<uint8_t>(number >> (8 * (digest.size - 1 - i)));
  }
}

}  // namespace

bool Digest::starts_with(const Digest& prefix) const {
  return prefix.size > 0 && prefix.size <= size &&
         std::equal(prefix.bytes.begin(), prefix.bytes.begin() + prefix.size, bytes.begin());
}

std::string Digest::hex() const {
  std::string text;
  append_hex(text);
  return text;
}

void Digest::append_hex(std::string& text) const {
  static constexpr char kDigits[] = "0123456789abcdef";
  char digits[2 * kMaxDigestBytes];
  for (size_t i = 0; i < size; ++i) {
    digits[2 * i] = kDigits[bytes[i] >> 4];
    digits[2 * i + 1] = kDigits[bytes[i] & 15];
  }
  text.append(digits, 2 * size);
}

uint32_t Digest::number() const {
  uint32_t number = 0;
  for (size_t i = 0; i < size; ++i) number = number << 8 | bytes[i];
  return number;
}

Hasher::Hasher(DigestKind kind) : digest_bytes_(kind.bytes) {
  switch (kind.algorithm) {
    case Algorithm::bsd:
      state_.emplace<BsdSum>();
      break;
    case Algorithm::sysv:
      state_.emplace<SysvSum>();
      break;
    case Algorithm::crc:
      state_.emplace<PosixCrc>();
      break;
    case Algorithm::md5:
      MD5_Init(&state_.emplace<MD5_CTX>());
      break;
    case Algorithm::sha1:
      SHA1_Init(&state_.emplace<SHA_CTX>());
      break;
    case Algorithm::sha224:
      SHA224_Init(&state_.emplace<SHA256_CTX>());
      break;
    case Algorithm::sha256:
      SHA256_Init(&state_.emplace<SHA256_CTX>());
      break;
    case Algorithm::sha384:
      SHA384_Init(&state_.emplace<SHA512_CTX>());
      break;
    case Algorithm::sha512:
      SHA512_Init(&state_.emplace<SHA512_CTX>());
      break;
    case Algorithm::blake2b:
      state_.emplace<Blake2b>(digest_bytes_);
      break;
    case Algorithm::sm3:
      state_.emplace<Sm3>();
      break;
  }
}

void Hasher::update(const uint8_t* data, size_t size) {
  std::visit(
      [&](auto& state) {
        using State = std::decay_t<decltype(state)>;
        if constexpr (std::is_same_v<State, MD5_CTX>) {
          MD5_Update(&state, data, size);
        } else if constexpr (std::is_same_v<State, SHA_CTX>) {
          SHA1_Update(&state, data, size);
        } else if constexpr (std::is_same_v<State, SHA256_CTX>) {
          SHA256_Update(&state, data, size);
        } else if constexpr (std::is_same_v<State, SHA512_CTX>) {
          SHA512_Update(&state, data, size);
        } else {
          state.update(data, size);
        }
      },
      state_);
}

Digest Hasher::finish() {
  Digest digest;
  digest.size = digest_bytes_;
  std::visit(
      [&](auto& state) {
        using State = std::decay_t<decltype(state)>;
        if constexpr (std::is_same_v<State, MD5_CTX>) {
          MD5_Final(digest.bytes.data(), &state);
        } else if constexpr (std::is_same_v<State, SHA_CTX>) {
          SHA1_Final(digest.bytes.data(), &state);
        } else if constexpr (std::is_same_v<State, SHA256_CTX>) {
          SHA256_Final(digest.bytes.data(), &state);
        } else if constexpr (std::is_same_v<State, SHA512_CTX>) {
          SHA512_Final(digest.bytes.data(), &state);
        } else if constexpr (std::is_same_v<State, Blake2b> || std::is_same_v<State, Sm3>) {
          state.finish(digest.bytes.data());
        } else {
          store_number(state.finish(), digest);
        }
      },
      state_);
  return digest;
}

}  // namespace hoist::hash
