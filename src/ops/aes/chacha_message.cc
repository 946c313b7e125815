#include "ops/aes/chacha_message.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>

namespace hoist::aes {
namespace {

constexpr size_t kChachaBlock = 64;
constexpr size_t kPolyBlock = 16;
constexpr size_t kIv = 16;

const CipherFunctions& chacha20() {
  static const CipherFunctions functions = find_default_cipher("ChaCha20");
  return functions;
}

const MacFunctions& poly1305() {
  static const MacFunctions functions = find_default_mac("POLY1305");
  return functions;
}

bool pad(Mac& mac, uint64_t size) {
  static constexpr uint8_t kZero[kPolyBlock] = {};
  const size_t over = size % kPolyBlock;
  return over == 0 || mac.update(kZero, kPolyBlock - over);
}

}  // namespace

void chacha_position(const uint8_t nonce[12], uint64_t offset, uint8_t iv[16]) {
  uint32_t first_word;
  std::memcpy(&first_word, nonce, sizeof first_word);
  const uint64_t block = 1 + offset / kChachaBlock;
  const uint32_t low = static_cast<uint32_t>(block);
  first_word += static_cast<uint32_t>(block >> 32);
  std::memcpy(iv, &low, sizeof low);
  std::memcpy(iv + 4, &first_word, sizeof first_word);
  std::memcpy(iv + 8, nonce + 4, 8);
}

bool ChachaMessage::begin(const MessageStart& start, bool same_key) {
  if (!chacha20().complete() || !poly1305().complete() || start.iv.size() != sizeof nonce_) {
    return false;
  }
  if (!cipher_) cipher_ = Cipher(chacha20());
  if (!mac_) mac_ = Mac(poly1305());
  if (!cipher_ || !mac_) return false;
  std::memcpy(nonce_, start.iv.data(), sizeof nonce_);
  // RFC 8439, 2.6: the one-time key is the beginning of block 0.
  uint8_t iv[kIv] = {};
  std::memcpy(iv + 4, nonce_, sizeof nonce_);
  uint8_t one_time_key[32] = {};
  const bool keyed = cipher_.start(true, same_key ? Bytes() : start.key, Bytes(iv)) &&
                     cipher_.update(one_time_key, one_time_key, sizeof one_time_key) &&
                     mac_.start(Bytes(one_time_key));
  OPENSSL_cleanse(one_time_key, sizeof one_time_key);
  additional_size_ = start.additional.size();
  text_size_ = start.ciphertext.size();
  additional_is_open_ = false;
  return keyed && mac_.update(start.additional.data(), start.additional.size()) &&
         pad(mac_, additional_size_) &&
         mac_.update(start.ciphertext.data(), start.ciphertext.size());
}

// The default provider takes additional data at any time, and pads it when text follows.
bool ChachaMessage::late_additional(const uint8_t* data, size_t size) {
  additional_size_ += size;
  additional_is_open_ = true;
  return mac_.update(data, size);
}

bool ChachaMessage::close_additional() {
  const bool was_open = std::exchange(additional_is_open_, false);
  return !was_open || pad(mac_, additional_size_);
}

bool ChachaMessage::crypt(Cipher& cipher, const Text& text) const {
  uint8_t iv[kIv];
  chacha_position(nonce_, text.offset, iv);
  uint8_t skipped[kChachaBlock] = {};
  const bool good = cipher.start(true, {}, Bytes(iv)) &&
                    cipher.update(skipped, skipped, text.offset % kChachaBlock) &&
                    cipher.update(text.out, text.in, text.size);
  OPENSSL_cleanse(skipped, sizeof skipped);
  return good;
}

bool ChachaMessage::hash_and_crypt(const Text& text) {
  return (text.encrypting || mac_.update(text.in, text.size)) && crypt(cipher_, text) &&
         (!text.encrypting || mac_.update(text.out, text.size));
}

bool ChachaMessage::crypt_chunk(Cipher& cipher, const Text& text, const Split& split,
                                size_t i) const {
  const size_t at = i * split.chunk;
  return crypt(cipher,
               {text.encrypting, text.out + at, text.in + at, split.size_of(i), text.offset + at});
}

// All lanes encrypt; the caller's hashes the next chunk whenever that is encrypted.
bool ChachaMessage::split_encryption(const Text& text, const Split& split, LaneCiphers& lanes) {
  std::array<std::atomic<int>, kMaxChunks> encrypted = {};
  std::atomic<size_t> next = 0;
  std::atomic<bool> good = true;
  const auto encrypt_next = [&](size_t lane) {
    const size_t i = next++;
    if (i >= split.chunks) return false;
    if (!crypt_chunk(lanes[lane], text, split, i)) good = false;
    encrypted[i] = 1;
    encrypted[i].notify_one();
    return true;
  };
  for_each_lane(split.lanes, [&](size_t lane) {
    if (lane != 0) {
      while (encrypt_next(lane)) continue;
      return;
    }
    for (size_t i = 0; i < split.chunks; ++i) {
      while (encrypted[i] == 0 && encrypt_next(lane)) continue;
      encrypted[i].wait(0);
      if (!mac_.update(text.out + i * split.chunk, split.size_of(i))) good = false;
    }
  });
  return good;
}

// The caller's lane hashes ahead of the others: in place, a chunk must be hashed before it is
// decrypted. It decrypts, too, where it is far enough ahead.
bool ChachaMessage::split_decryption(const Text& text, const Split& split, LaneCiphers& lanes) {
  std::atomic<size_t> hashed = 0;
  std::atomic<size_t> next = 0;
  std::atomic<bool> good = true;
  const auto decrypt = [&](size_t lane, size_t i) {
    if (!crypt_chunk(lanes[lane], text, split, i)) good = false;
  };
  const auto hash_next = [&] {
    const size_t i = hashed;
    if (!mac_.update(text.in + i * split.chunk, split.size_of(i))) good = false;
    hashed = i + 1;
    hashed.notify_all();
  };
  for_each_lane(split.lanes, [&](size_t lane) {
    if (lane != 0) {
      for (size_t i = next++; i < split.chunks; i = next++) {
        for (size_t until = hashed; until <= i; until = hashed) hashed.wait(until);
        decrypt(lane, i);
      }
      return;
    }
    while (hashed < split.chunks || next < split.chunks) {
      const size_t wanted = std::min(next + split.lanes, split.chunks);
      if (hashed < wanted) {
        hash_next();
        continue;
      }
      const size_t i = next++;
      while (hashed <= i && hashed < split.chunks) hash_next();
      if (i < split.chunks) decrypt(lane, i);
    }
  });
  return good;
}

bool ChachaMessage::update(bool encrypting, uint8_t* out, const uint8_t* in, size_t size,
                           size_t lane_bytes) {
  const Text text = {encrypting, out, in, size, text_size_};
  text_size_ += size;
  if (!close_additional()) return false;
  if (size == 0) return true;
  Split split = plan_split(size, kChachaBlock, lane_bytes);
  LaneCiphers lanes;
  if (split.lanes > 1) duplicate_for_lanes(cipher_, split, lanes);
  if (split.lanes < 2) return hash_and_crypt(text);
  return encrypting ? split_encryption(text, split, lanes) : split_decryption(text, split, lanes);
}

bool ChachaMessage::tag(uint8_t* tag) {
  Mac mac = mac_.duplicate();
  const uint64_t lengths[2] = {additional_size_, text_size_};
  return mac && (!additional_is_open_ || pad(mac, additional_size_)) && pad(mac, text_size_) &&
         mac.update(reinterpret_cast<const uint8_t*>(lengths), sizeof lengths) && mac.finish(tag);
}

std::unique_ptr<AeadMessage> ChachaMessage::duplicate() const {
  std::unique_ptr<ChachaMessage> copy(new (std::nothrow) ChachaMessage);
  if (copy == nullptr) return copy;
  copy->cipher_ = cipher_.duplicate();
  copy->mac_ = mac_.duplicate();
  if (!copy->cipher_ || !copy->mac_) return nullptr;
  std::memcpy(copy->nonce_, nonce_, sizeof nonce_);
  copy->additional_size_ = additional_size_;
  copy->text_size_ = text_size_;
  copy->additional_is_open_ = additional_is_open_;
  return copy;
}

}  // namespace hoist::aes
