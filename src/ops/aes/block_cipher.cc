#include "ops/aes/block_cipher.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/proverr.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/caller_memory.h"
#include "ops/aes/accounting.h"
#include "ops/aes/caller_memory.h"
#include "ops/aes/counter.h"
#include "ops/aes/gf128.h"

namespace hoist::aes {
namespace {

constexpr size_t kMinimum = 8 * kBlock;

}  // namespace

int BlockCipher::start(bool encrypting, Bytes key, Bytes iv, Params params) {
  watch_for_tls(params);
  // Without a new IV, CBC starts from the original one.
  if (moved_ && iv.data() == nullptr && algorithm_.mode == Mode::cbc) iv = original_iv_;
  if (iv.size() == kBlock && iv.data() != original_iv_) moved_ = false;
  const int done = inner_start(encrypting, key, iv, params);
  held_ = 0;
  known_ = done == 1;
  encrypting_ = encrypting;
  return done;
}

int BlockCipher::final(uint8_t* out, size_t* written, size_t room) {
  const int done = functions_.final(inner(), out, written, room);
  if (done == 1) {
    held_ = 0;
  } else {
    known_ = false;
  }
  return done;
}

int BlockCipher::cipher(const Update& update) {
  return functions_.cipher(inner(), update.out, update.written, update.room, update.in,
                           update.size);
}

int BlockCipher::get_params(OSSL_PARAM* params) {
  const int done = functions_.get_ctx_params(inner(), params);
  if (done != 1 || !moved_) return done;
  if (OSSL_PARAM* const iv = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_IV)) {
    const auto set = iv->data_type == OSSL_PARAM_OCTET_PTR ? OSSL_PARAM_set_octet_ptr
                                                           : OSSL_PARAM_set_octet_string;
    return set(iv, original_iv_, sizeof original_iv_);
  }
  return done;
}

int BlockCipher::set_params(Params params) {
  watch_for_tls(params);
  return functions_.set_ctx_params(inner(), params);
}

const char* BlockCipher::obstacle(const Update& update) const {
  if (algorithm_.mode == Mode::cbc && encrypting_) return "CBC encryption is serial";
  if (tls_) return "TLS records";
  if (!known_ || update.size < kMinimum) return "state not known";
  if (update.in == nullptr || update.out == nullptr) return "no buffer";
  if (update.room < update.size + (algorithm_.mode == Mode::ctr ? 0 : kBlock)) {
    return "little room for the output";
  }
  const bool in_place = update.in == update.out && held_ == 0;
  if (!in_place && overlap(update.in, update.size, update.out, update.size + held_)) {
    return "overlapping buffers";
  }
  return nullptr;
}

int BlockCipher::update_large(const Update& update) {
  take_watched_faults(update.in, update.out, update.size);
  const LargeCall call(is_configured_);
  const char* reason = call.obstacle() != nullptr ? call.obstacle() : obstacle(update);
  Split split = plan_split(update.size, kBlock, lane_bytes_);
  LaneCiphers lanes;
  if (reason == nullptr) {
    duplicate_for_lanes(inner_, split, lanes);
    if (split.lanes == 0) reason = "no memory";
  }
  if (reason != nullptr) {
    count_passed(reason);
    return update_whole(update);
  }
  const uint64_t begin = now_if_counting();
  const int done = is_drawn_for_verification() ? update_verified(update, split, lanes)
                                               : update_split(update, split, lanes);
  if (begin != 0) count_call(Cores::several, update.size, now_if_counting() - begin);
  return done;
}

// The default provider does the call on a copy; on a difference its result and its copy stay.
int BlockCipher::update_verified(const Update& update, Split& split, LaneCiphers& lanes) {
  const auto expected = second_output(update.room);
  Cipher reference = inner_.duplicate();
  if (expected == nullptr || !reference) {
    count_passed("verify: left out (no memory)");
    return update_split(update, split, lanes);
  }
  size_t length = 0;
  const int wanted = functions_.update(reference.get(), expected.get(), &length, update.room,
                                       update.in, update.size);
  const size_t held_before = held_;
  const int done = update_split(update, split, lanes);
  const bool same =
      done == wanted && (done != 1 || (*update.written == length &&
                                       std::memcmp(update.out, expected.get(), length) == 0));
  report_verified(same, algorithm_.name);
  if (!same) {
    inner_ = std::move(reference);
    std::memcpy(update.out, expected.get(), length);
    *update.written = length;
    held_ = held_before + update.size - length;
    known_ = wanted == 1;
  }
  OPENSSL_cleanse(expected.get(), update.room);
  return same ? done : wanted;
}

// How many bytes of an incomplete block the inner context has.
size_t BlockCipher::bytes_into_block() const {
  if (algorithm_.mode != Mode::ctr) return held_ % kBlock;
  unsigned int position = 0;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_NUM, &position),
                         OSSL_PARAM_construct_end()};
  return functions_.get_ctx_params(inner(), params) == 1 ? position % kBlock : 0;
}

int BlockCipher::update_split(const Update& update, Split& split, LaneCiphers& lanes) {
  touch_pages(update.in, update.out, update.size, split.lanes);
  const size_t held_before = held_;
  // The head completes the inner context's block.
  size_t fed = kBlock - bytes_into_block();
  size_t produced = 0;
  int done = inner_update({update.out, &produced, update.room, update.in, fed});
  size_t pending = held_before + fed - produced;
  if (done == 1 && pending == kBlock && held_before != 0) {
    // A block that may be the last one, and padded, is held back; not all of it is in this input.
    // The next block releases it, and is all in this input.
    size_t more = 0;
    done = inner_update(
        {update.out + produced, &more, update.room - produced, update.in + fed, kBlock});
    fed += kBlock;
    produced += more;
    pending = held_before + fed - produced;
  }
  if (done != 1) {
    known_ = false;
    return done;
  }
  const uint8_t* const in = update.in + fed - pending;
  uint8_t* const out = update.out + produced;
  const size_t left = update.size - fed + pending;
  const Blocks middle = {out, in, (left - kBlock) / kBlock * kBlock};
  uint8_t iv[kBlock];
  const bool has_iv = algorithm_.mode != Mode::ecb;
  const bool ready = !has_iv || inner_octets(OSSL_CIPHER_PARAM_UPDATED_IV, iv) == kBlock;
  size_t last = 0;
  if (!ready || !run_blocks(middle, split, lanes, iv) || !move_inner_on(has_iv ? iv : nullptr) ||
      inner_update({out + middle.size, &last, update.room - produced - middle.size,
                    in + middle.size, left - middle.size}) != 1) {
    known_ = false;
    ERR_raise(ERR_LIB_PROV, PROV_R_CIPHER_OPERATION_FAILED);
    return 0;
  }
  *update.written = produced + middle.size + last;
  held_ = held_before + update.size - *update.written;
  return 1;
}

// `iv` becomes the one for what follows.
bool BlockCipher::run_blocks(const Blocks& blocks, Split& split, LaneCiphers& lanes, uint8_t* iv) {
  const size_t lanes_made = split.lanes;
  split = plan_split(blocks.size, kBlock, lane_bytes_);
  split.lanes = std::min(split.lanes, lanes_made);
  for (size_t i = 0; i < split.lanes; ++i) {
    if (!lanes[i].set_padding(false)) return false;
  }
  // Decryption in place overwrites what the next chunk needs.
  uint8_t ivs[kMaxChunks + 1][kBlock];
  for (size_t i = 0; algorithm_.mode != Mode::ecb && i <= split.chunks; ++i) {
    const size_t at = std::min(i * split.chunk, blocks.size);
    if (algorithm_.mode == Mode::cbc && at > 0) {
      std::memcpy(ivs[i], blocks.in + at - kBlock, kBlock);
    } else {
      std::memcpy(ivs[i], iv, kBlock);
      if (algorithm_.mode == Mode::ctr) add_to_counter(ivs[i], at / kBlock);
    }
  }
  std::atomic<bool> good = true;
  for_each_chunk(split, [&](size_t lane, size_t i) {
    const size_t at = i * split.chunk;
    const Bytes own_iv = algorithm_.mode == Mode::ecb ? Bytes() : Bytes(ivs[i]);
    if (!lanes[lane].start(encrypting_, {}, own_iv) ||
        !lanes[lane].update(blocks.out + at, blocks.in + at, split.size_of(i))) {
      good = false;
    }
  });
  std::memcpy(iv, ivs[split.chunks], kBlock);
  return good;
}

bool BlockCipher::move_inner_on(const uint8_t* iv) {
  if (iv != nullptr && !moved_) {
    if (inner_octets(OSSL_CIPHER_PARAM_IV, original_iv_) != kBlock) return false;
    moved_ = true;
  }
  return inner_start(encrypting_, {}, Bytes(iv, iv != nullptr ? kBlock : 0), nullptr) == 1;
}

}  // namespace hoist::aes
