#include "ops/aes/chacha_message.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

namespace hoist::aes {
namespace {

constexpr size_t kChachaBlock = 64;
constexpr size_t kPolyBlock = 16;
constexpr size_t kIv = 16;
// What is hashed while the next stretch is encrypted: several times what handing out work costs,
// and small enough for the second-level caches.
constexpr size_t kStretch = 1 << 20;

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

bool ChachaMessage::split_text(const Text& text, size_t threshold) {
  Split plan = plan_split(text.size, kChachaBlock, threshold);
  LaneCiphers lanes;
  duplicate_for_lanes(cipher_, plan, lanes);
  if (plan.lanes < 2) return hash_and_crypt(text);
  const size_t stretch = std::min(kStretch, plan.chunk * plan.chunks);
  const size_t stretches = (text.size + stretch - 1) / stretch;
  const auto size_of = [&](size_t i) { return std::min(stretch, text.size - i * stretch); };
  const uint8_t* const ciphertext = text.encrypting ? text.out : text.in;
  std::atomic<bool> good = true;
  // Step i encrypts stretch i and hashes the one before it, or decrypts the one before it and
  // hashes stretch i: in place, a stretch must be hashed before it is decrypted.
  for (size_t i = 0; i <= stretches && good; ++i) {
    const size_t none = stretches;
    const size_t before = i == 0 ? none : i - 1;
    const size_t crypted = text.encrypting ? i : before;
    const size_t hashed = text.encrypting ? before : i;
    Split split;
    if (crypted != none) split = plan_split(size_of(crypted), kChachaBlock, threshold);
    const bool hashes = hashed != none;
    // Chunk 0 is the hash, which takes longest, where there is one.
    Split tasks = split;
    tasks.chunks = split.chunks + (hashes ? 1 : 0);
    tasks.lanes = std::min(plan.lanes, tasks.chunks);
    for_each_chunk(tasks, [&](size_t lane, size_t task) {
      if (hashes && task == 0) {
        if (!mac_.update(ciphertext + hashed * stretch, size_of(hashed))) good = false;
        return;
      }
      const size_t chunk = task - (hashes ? 1 : 0);
      const size_t at = crypted * stretch + chunk * split.chunk;
      const Text piece = {text.encrypting, text.out + at, text.in + at, split.size_of(chunk),
                          text.offset + at};
      if (!crypt(lanes[lane], piece)) good = false;
    });
  }
  return good;
}

bool ChachaMessage::update(bool encrypting, uint8_t* out, const uint8_t* in, size_t size,
                           size_t threshold, bool may_split) {
  const Text text = {encrypting, out, in, size, text_size_};
  text_size_ += size;
  if (!close_additional()) return false;
  return may_split && size >= threshold / 2 ? split_text(text, threshold) : hash_and_crypt(text);
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
