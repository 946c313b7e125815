#include "ops/aes/gcm_message.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>

#include "base/caller_memory.h"
#include "ops/aes/algorithms.h"
#include "ops/aes/counter.h"

namespace hoist::aes {
namespace {

// 2^39 - 256 bits (SP 800-38D, 5.2.1.1).
constexpr uint64_t kLongestText = (uint64_t{1} << 36) - 32;
constexpr size_t kUsualIv = 12;
// Without vector AES, so much goes through the cipher and through GHASH at a time, to be in a near
// cache for the second of them.
constexpr size_t kStep = 32 << 10;

// `data`, filled up with zeros to whole blocks.
void hash_padded(const GhashKey& key, Gf128& sum, Bytes data) {
  const size_t whole = data.size() / kBlock;
  ghash(key, sum, data.data(), whole);
  if (data.size() % kBlock == 0) return;
  uint8_t last[kBlock] = {};
  std::memcpy(last, data.data() + whole * kBlock, data.size() % kBlock);
  ghash(key, sum, last, 1);
}

void hash_lengths(const GhashKey& key, Gf128& sum, uint64_t first_bytes, uint64_t second_bytes) {
  uint8_t lengths[kBlock];
  store_block(lengths, {second_bytes * 8, first_bytes * 8});
  ghash(key, sum, lengths, 1);
}

}  // namespace

GcmMessage::GcmMessage(size_t key_bits) : ctr_(default_functions(Mode::ctr, key_bits)) {}

bool GcmMessage::set_key(Bytes key) {
  if (!cipher_) cipher_ = Cipher(ctr_);
  if (!secrets_) secrets_ = Locked<Secrets>::make();
  const uint8_t zero[kBlock] = {};
  uint8_t h[kBlock];
  if (!cipher_ || !secrets_ || !cipher_.start(true, key, Bytes(zero)) ||
      !cipher_.update(h, zero, kBlock)) {
    return false;
  }
  secrets_->key.derive(load_block(h));
  OPENSSL_cleanse(h, sizeof h);
  if (has_vaes_gcm()) secrets_->aes.expand(key);
  return true;
}

// SP 800-38D, 7.1, step 2.
bool GcmMessage::set_iv(Bytes iv) {
  uint8_t j0[kBlock] = {};
  if (iv.size() == kUsualIv) {
    std::memcpy(j0, iv.data(), kUsualIv);
    j0[kBlock - 1] = 1;
  } else {
    Gf128 sum;
    hash_padded(secrets_->key, sum, iv);
    hash_lengths(secrets_->key, sum, 0, iv.size());
    store_block(j0, sum);
  }
  const uint8_t zero[kBlock] = {};
  if (!cipher_.start(true, {}, Bytes(j0)) || !cipher_.update(secrets_->tag_mask, zero, kBlock)) {
    return false;
  }
  std::memcpy(first_counter_, j0, kBlock);
  add_to_gcm_counter(first_counter_, 1);
  return true;
}

bool GcmMessage::begin(const MessageStart& start, bool same_key) {
  if (!(same_key && secrets_) && !set_key(start.key)) return false;
  if (!set_iv(start.iv)) return false;
  secrets_->sum = {};
  hash_padded(secrets_->key, secrets_->sum, start.additional);
  additional_size_ = start.additional.size();
  text_size_ = start.ciphertext.size();
  const size_t whole = text_size_ / kBlock;
  ghash(secrets_->key, secrets_->sum, start.ciphertext.data(), whole);
  if (text_size_ % kBlock != 0) {
    std::memcpy(secrets_->incomplete, start.ciphertext.data() + whole * kBlock,
                text_size_ % kBlock);
  }
  return true;
}

void GcmMessage::counter_of(uint64_t block, uint8_t* counter) const {
  std::memcpy(counter, first_counter_, kBlock);
  add_to_gcm_counter(counter, static_cast<uint32_t>(block));
}

// The counter's last 32 bits wrap without a carry; CTR mode carries on. So there the text is cut.
bool GcmMessage::crypt(Cipher& cipher, uint8_t* out, const uint8_t* in, size_t size,
                       uint64_t block) const {
  while (size > 0) {
    uint8_t counter[kBlock];
    counter_of(block, counter);
    const uint64_t until_wrap = (uint64_t{1} << 32) - low_gcm_counter(counter);
    const size_t piece = std::min<uint64_t>(size, until_wrap * kBlock);
    if (!cipher.start(true, {}, Bytes(counter)) || !cipher.update(out, in, piece)) return false;
    out += piece;
    in += piece;
    size -= piece;
    block += piece / kBlock;
  }
  return true;
}

// Whole blocks. What is left by vector AES is less than a group of them.
bool GcmMessage::hash_and_crypt(Cipher& cipher, const Text& text, Gf128& sum) const {
  if (!has_vaes_gcm()) return hash_and_crypt_in_steps(cipher, text, sum);
  const size_t size = text.size / kGcmGroup * kGcmGroup;
  uint8_t counter[kBlock];
  counter_of(text.block, counter);
  vaes_gcm(secrets_->aes, secrets_->key, {text.encrypting, text.out, text.in, size, counter, &sum});
  const Text rest = {text.encrypting, text.out + size, text.in + size, text.size - size,
                     text.block + size / kBlock};
  return hash_and_crypt_in_steps(cipher, rest, sum);
}

// The cipher goes first where it may: it waits for the memory while it computes, and GHASH finds
// the data in the cache.
bool GcmMessage::hash_and_crypt_in_steps(Cipher& cipher, const Text& text, Gf128& sum) const {
  const bool hash_first = !text.encrypting && overlap(text.in, text.size, text.out, text.size);
  const uint8_t* const ciphertext = text.encrypting ? text.out : text.in;
  for (size_t at = 0; at < text.size; at += kStep) {
    const size_t size = std::min(kStep, text.size - at);
    if (hash_first) ghash(secrets_->key, sum, ciphertext + at, size / kBlock);
    if (!crypt(cipher, text.out + at, text.in + at, size, text.block + at / kBlock)) return false;
    if (!hash_first) ghash(secrets_->key, sum, ciphertext + at, size / kBlock);
  }
  return true;
}

bool GcmMessage::split_blocks(const Text& text, size_t lane_bytes) {
  Split split = plan_split(text.size, has_vaes_gcm() ? kGcmGroup : kBlock, lane_bytes);
  if (split.lanes < 2) return hash_and_crypt(cipher_, text, secrets_->sum);
  LaneCiphers lanes;
  duplicate_for_lanes(cipher_, split, lanes);
  if (split.lanes < 2) return hash_and_crypt(cipher_, text, secrets_->sum);
  std::array<Gf128, kMaxChunks> sums = {};
  std::atomic<bool> good = true;
  for_each_chunk(split, [&](size_t lane, size_t i) {
    const size_t at = i * split.chunk;
    const Text chunk = {text.encrypting, text.out + at, text.in + at, split.size_of(i),
                        text.block + at / kBlock};
    if (!hash_and_crypt(lanes[lane], chunk, sums[i])) good = false;
  });
  const Gf128 step = power(secrets_->key.h, split.chunk / kBlock);
  for (size_t i = 0; i < split.chunks; ++i) {
    const bool whole = split.size_of(i) == split.chunk;
    const Gf128 shift = whole ? step : power(secrets_->key.h, split.size_of(i) / kBlock);
    secrets_->sum = multiply(secrets_->sum, shift) ^ sums[i];
  }
  OPENSSL_cleanse(sums.data(), sizeof sums);
  return good;
}

// Bytes of a block that began, or that stays, incomplete; they move on the three arguments.
bool GcmMessage::add_incomplete(bool encrypting, uint8_t*& out, const uint8_t*& in, size_t& size) {
  const size_t there = text_size_ % kBlock;
  const size_t added = std::min(size, kBlock - there);
  uint8_t block[kBlock] = {};
  std::memcpy(block + there, in, added);
  if (!encrypting) std::memcpy(secrets_->incomplete + there, in, added);
  if (!crypt(cipher_, block, block, kBlock, text_size_ / kBlock)) return false;
  if (encrypting) std::memcpy(secrets_->incomplete + there, block + there, added);
  std::memcpy(out, block + there, added);
  if (there + added == kBlock) ghash(secrets_->key, secrets_->sum, secrets_->incomplete, 1);
  OPENSSL_cleanse(block, sizeof block);
  text_size_ += added;
  out += added;
  in += added;
  size -= added;
  return true;
}

bool GcmMessage::update(bool encrypting, uint8_t* out, const uint8_t* in, size_t size,
                        size_t lane_bytes) {
  if (size > kLongestText - text_size_) return false;
  if (text_size_ % kBlock != 0 && size > 0 && !add_incomplete(encrypting, out, in, size)) {
    return false;
  }
  const size_t whole = size / kBlock * kBlock;
  if (whole > 0) {
    const Text text = {encrypting, out, in, whole, text_size_ / kBlock};
    if (!split_blocks(text, lane_bytes)) return false;
    text_size_ += whole;
    out += whole;
    in += whole;
    size -= whole;
  }
  return size == 0 || add_incomplete(encrypting, out, in, size);
}

bool GcmMessage::tag(uint8_t* tag) {
  Gf128 sum = secrets_->sum;
  if (const size_t there = text_size_ % kBlock; there != 0) {
    hash_padded(secrets_->key, sum, Bytes(secrets_->incomplete, there));
  }
  hash_lengths(secrets_->key, sum, additional_size_, text_size_);
  store_block(tag, sum ^ load_block(secrets_->tag_mask));
  OPENSSL_cleanse(&sum, sizeof sum);
  return true;
}

std::unique_ptr<AeadMessage> GcmMessage::duplicate() const {
  std::unique_ptr<GcmMessage> copy(new (std::nothrow) GcmMessage(ctr_));
  if (copy == nullptr) return copy;
  copy->cipher_ = cipher_.duplicate();
  copy->secrets_ = Locked<Secrets>::make(*secrets_);
  if (!copy->cipher_ || !copy->secrets_) return nullptr;
  std::memcpy(copy->first_counter_, first_counter_, kBlock);
  copy->additional_size_ = additional_size_;
  copy->text_size_ = text_size_;
  return copy;
}

double gcm_gain_of_a_core() {
  static const double gain = [] {
    constexpr size_t kSample = 16 << 10;
    constexpr int kRepetitions = 4;
    const uint8_t key[32] = {1};
    const uint8_t iv[kUsualIv] = {1};
    const auto buffer = std::unique_ptr<uint8_t[]>(new (std::nothrow) uint8_t[kSample]());
    Cipher theirs(default_functions(Mode::gcm, 256));
    GcmMessage ours(256);
    if (buffer == nullptr || !theirs || !theirs.start(true, Bytes(key), Bytes(iv)) ||
        !ours.begin({Bytes(key), Bytes(iv), {}, {}}, false)) {
      return 0.0;
    }
    const auto fastest = [](auto work) {
      auto best = std::chrono::nanoseconds::max();
      for (int i = 0; i < kRepetitions; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
      }
      return static_cast<double>(std::max<int64_t>(best.count(), 1));
    };
    const double their_time =
        fastest([&] { (void)theirs.update(buffer.get(), buffer.get(), kSample); });
    const double our_time =
        fastest([&] { (void)ours.update(true, buffer.get(), buffer.get(), kSample, kOneLane); });
    return their_time / our_time;
  }();
  return gain;
}

}  // namespace hoist::aes
