#include "ops/aes/xts_cipher.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/proverr.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/caller_memory.h"
#include "ops/aes/accounting.h"
#include "ops/aes/caller_memory.h"
#include "ops/aes/gf128.h"

namespace hoist::aes {
namespace {

constexpr size_t kLargestUnit = kBlock << 20;
constexpr size_t kMinimum = 8 * kBlock;

}  // namespace

int XtsCipher::start(bool encrypting, Bytes key, Bytes iv, Params params) {
  const int done = inner_start(encrypting, key, iv, params);
  encrypting_ = encrypting;
  if (key.data() != nullptr) {
    encrypt_tweak_ = Cipher();
    decrypt_tweak_ = Cipher();
    key_.set(done == 1 ? key : Bytes());
  }
  return done;
}

const char* XtsCipher::obstacle(const Update& update) const {
  if (key_.empty() || update.size < kMinimum || update.size > kLargestUnit ||
      update.in == nullptr || update.out == nullptr || update.room < update.size) {
    return "for the default provider to refuse";
  }
  if (update.in != update.out && overlap(update.in, update.size, update.out, update.size)) {
    return "overlapping buffers";
  }
  return nullptr;
}

bool XtsCipher::prepare_tweak_ciphers() {
  if (encrypt_tweak_ && decrypt_tweak_) return true;
  const CipherFunctions& ecb = default_functions(Mode::ecb, algorithm_.key_bits);
  if (!ecb.complete()) return false;
  const Bytes second_key = key_.bytes().subspan(key_.bytes().size() / 2);
  Cipher encrypt(ecb);
  Cipher decrypt(ecb);
  if (!encrypt.start(true, second_key, {}) || !decrypt.start(false, second_key, {}) ||
      !encrypt.set_padding(false) || !decrypt.set_padding(false)) {
    return false;
  }
  encrypt_tweak_ = std::move(encrypt);
  decrypt_tweak_ = std::move(decrypt);
  return true;
}

int XtsCipher::update_large(const Update& update) {
  take_watched_faults(update.in, update.out, update.size);
  const LargeCall call(is_configured_);
  const char* reason = call.obstacle() != nullptr ? call.obstacle() : obstacle(update);
  Split split = plan_split(update.size, kBlock, lane_bytes_);
  LaneCiphers lanes;
  if (reason == nullptr) {
    duplicate_for_lanes(inner_, split, lanes);
    if (split.lanes == 0 || !prepare_tweak_ciphers()) reason = "no memory";
  }
  if (reason != nullptr) {
    count_passed(reason);
    return inner_update(update);
  }
  const uint64_t begin = now_if_counting();
  const int done = is_drawn_for_verification() ? update_verified(update, split, lanes)
                                               : update_split(update, split, lanes);
  if (begin != 0) count_call(Cores::several, update.size, now_if_counting() - begin);
  return done;
}

int XtsCipher::update_verified(const Update& update, Split& split, LaneCiphers& lanes) {
  const auto expected = second_output(update.size);
  if (expected == nullptr) {
    count_passed("verify: left out (no memory)");
    return update_split(update, split, lanes);
  }
  size_t length = 0;
  const int wanted = inner_update({expected.get(), &length, update.size, update.in, update.size});
  const int done = update_split(update, split, lanes);
  const bool same =
      done == wanted && (done != 1 || std::memcmp(update.out, expected.get(), length) == 0);
  report_verified(same, algorithm_.name);
  if (!same) {
    std::memcpy(update.out, expected.get(), length);
    *update.written = length;
  }
  OPENSSL_cleanse(expected.get(), update.size);
  return same ? done : wanted;
}

int XtsCipher::update_split(const Update& update, Split& split, LaneCiphers& lanes) {
  touch_pages(update.in, update.out, update.size, split.lanes);
  // The first block shows whether the default provider takes the call: there may be no key or IV.
  size_t produced = 0;
  const int done = inner_update({update.out, &produced, update.room, update.in, kBlock});
  if (done != 1) return done;
  const Update rest = {update.out + kBlock, nullptr, update.room - kBlock, update.in + kBlock,
                       update.size - kBlock};
  if (!run_rest(rest, split, lanes)) {
    ERR_raise(ERR_LIB_PROV, PROV_R_CIPHER_OPERATION_FAILED);
    return 0;
  }
  *update.written = update.size;
  return 1;
}

// What follows the unit's first block.
bool XtsCipher::run_rest(const Update& rest, Split& split, LaneCiphers& lanes) {
  const size_t lanes_made = split.lanes;
  // An incomplete last block is encrypted together with the one before it (ciphertext stealing).
  split = plan_split(rest.size / kBlock * kBlock, kBlock, lane_bytes_);
  split.lanes = std::min(split.lanes, lanes_made);
  uint8_t tweaks[kMaxChunks][kBlock];
  uint8_t ivs[kMaxChunks][kBlock];
  uint8_t iv[kBlock];
  if (inner_octets(OSSL_CIPHER_PARAM_UPDATED_IV, iv) != kBlock ||
      !encrypt_tweak_.update(tweaks[0], iv, kBlock)) {
    return false;
  }
  Gf128 tweak = multiply(load_tweak(tweaks[0]), power_of_x(1));
  const Gf128 step = power_of_x(split.chunk / kBlock);
  for (size_t i = 0; i < split.chunks; ++i, tweak = multiply(tweak, step)) {
    store_tweak(tweaks[i], tweak);
  }
  const bool placed = decrypt_tweak_.update(ivs[0], tweaks[0], split.chunks * kBlock);
  OPENSSL_cleanse(tweaks, sizeof tweaks);
  OPENSSL_cleanse(&tweak, sizeof tweak);
  if (!placed) return false;
  std::atomic<bool> good = true;
  for_each_chunk(split, [&](size_t lane, size_t i) {
    const size_t at = i * split.chunk;
    const size_t size = i + 1 < split.chunks ? split.chunk : rest.size - at;
    if (!lanes[lane].start(encrypting_, {}, Bytes(ivs[i])) ||
        !lanes[lane].update(rest.out + at, rest.in + at, size)) {
      good = false;
    }
  });
  return good;
}

}  // namespace hoist::aes
