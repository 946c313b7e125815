// Two EVP contexts, one of the default provider and one of ours, that are given the same calls.
// Every call's return value, output, length and error reason must be the same.
#pragma once

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ops/aes/provider_testing.h"

namespace hoist::aes {

class Lockstep {
 public:
  Lockstep(OSSL_LIB_CTX* library, const std::string& name) {
    const char* const properties[] = {"provider=default", "provider=hoist"};
    for (size_t i = 0; i < 2; ++i) {
      ciphers_[i].reset(EVP_CIPHER_fetch(library, name.c_str(), properties[i]));
      states_[i].reset(EVP_CIPHER_CTX_new());
    }
  }
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  // Null: not given.
  int start(int encrypting, const uint8_t* key, const uint8_t* iv) {
    const bool first = !std::exchange(started_, true);
    history_ += " " + std::to_string(encrypting) + (key != nullptr ? " key" : "") +
                (iv != nullptr ? " iv:" : ":");
    return both("start", [&](size_t i) {
      return EVP_CipherInit_ex2(states_[i].get(), first ? ciphers_[i].get() : nullptr, key, iv,
                                encrypting, nullptr);
    });
  }

  // Parameters that are refused, and neither key nor IV.
  int start_with_iv_size(size_t size) {
    return both("start with a size", [&](size_t i) {
      const OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_IVLEN, &size),
                                   OSSL_PARAM_construct_end()};
      return EVP_CipherInit_ex2(states_[i].get(), nullptr, nullptr, nullptr, -1, params);
    });
  }

  int update_without_input(int size) {
    std::array<std::array<uint8_t, 64>, 2> out = {};
    std::array<int, 2> length = {-1, -1};
    const int done = both("update without input", [&](size_t i) {
      return EVP_CipherUpdate(states_[i].get(), out[i].data(), &length[i], nullptr, size);
    });
    EXPECT_EQ(length[0], length[1]);
    EXPECT_EQ(out[0], out[1]);
    return done;
  }

  // Gives what came out. In place: the data lie where the output goes, or `lower` bytes behind.
  std::vector<uint8_t> update(const std::vector<uint8_t>& data, bool in_place, size_t shift,
                              size_t lower = 0) {
    std::array<std::vector<uint8_t>, 2> out;
    std::array<int, 2> length = {-1, -1};
    std::vector<uint8_t> shifted(shift + lower, 0x55);
    shifted.insert(shifted.end(), data.begin(), data.end());
    history_ += " " + std::to_string(data.size()) + (in_place ? " in place:" : ":");
    const int done = both("update", [&](size_t i) {
      out[i].assign(shifted.size() + 2 * EVP_MAX_BLOCK_LENGTH, 0xaa);
      if (in_place) std::copy(shifted.begin(), shifted.end(), out[i].begin());
      const uint8_t* const in = (in_place ? out[i] : shifted).data() + shift + lower;
      return EVP_CipherUpdate(states_[i].get(), out[i].data() + shift, &length[i], in,
                              static_cast<int>(data.size()));
    });
    if (done != 1) return {};
    EXPECT_EQ(length[0], length[1]);
    const auto end = out[0].begin() + static_cast<ptrdiff_t>(shift) + length[0];
    EXPECT_TRUE(std::equal(out[0].begin(), end, out[1].begin())) << history_;
    return {out[0].begin() + static_cast<ptrdiff_t>(shift), end};
  }

  int additional(const std::vector<uint8_t>& data) {
    std::array<int, 2> length = {-1, -1};
    const int done = both("additional", [&](size_t i) {
      return EVP_CipherUpdate(states_[i].get(), nullptr, &length[i], data.data(),
                              static_cast<int>(data.size()));
    });
    EXPECT_EQ(length[0], length[1]);
    return done;
  }

  int final(std::vector<uint8_t>* output = nullptr) {
    std::array<std::array<uint8_t, 64>, 2> out = {};
    std::array<int, 2> length = {-1, -1};
    const int done = both("final", [&](size_t i) {
      return EVP_CipherFinal_ex(states_[i].get(), out[i].data(), &length[i]);
    });
    if (done != 1) return done;
    EXPECT_EQ(length[0], length[1]);
    EXPECT_EQ(out[0], out[1]);
    if (output != nullptr) output->assign(out[0].begin(), out[0].begin() + length[0]);
    return done;
  }

  // EVP_Cipher(), the provider's one-shot function. No data: the end of an AEAD message, or, where
  // `is_given`, an address with no bytes.
  int cipher(const std::vector<uint8_t>& data, bool is_given = false) {
    static constexpr uint8_t kByte = 0;
    const uint8_t* const in = data.empty() && is_given ? &kByte : data.data();
    std::array<std::vector<uint8_t>, 2> out;
    const int done = both("cipher", [&](size_t i) {
      out[i].assign(data.size() + 64, 0xaa);
      return EVP_Cipher(states_[i].get(), out[i].data(), in, static_cast<unsigned>(data.size()));
    });
    EXPECT_TRUE(done <= 0 || out[0] == out[1]);
    return done;
  }

  int control(int type, int argument, void* pointer) {
    return both("control", [&](size_t i) {
      return EVP_CIPHER_CTX_ctrl(states_[i].get(), type, argument, pointer);
    });
  }

  int set_padding(int padding) {
    return both("padding",
                [&](size_t i) { return EVP_CIPHER_CTX_set_padding(states_[i].get(), padding); });
  }

  // Before a message has ended there is no tag: what OpenSSL then gives is what lay there.
  int get_tag(size_t size, std::vector<uint8_t>* tag = nullptr, bool has_ended = true) {
    std::array<std::array<uint8_t, 16>, 2> tags = {};
    const int done = both("tag", [&](size_t i) {
      return EVP_CIPHER_CTX_ctrl(states_[i].get(), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(size),
                                 tags[i].data());
    });
    if (done == 1) {
      if (has_ended) {
        EXPECT_EQ(tags[0], tags[1]) << history_;
      }
      if (tag != nullptr) tag->assign(tags[0].begin(), tags[0].begin() + size);
    }
    return done;
  }

  // Everything that can be asked.
  void compare_params() {
    std::array<std::array<std::array<uint8_t, 16>, 2>, 2> ivs = {};
    std::array<std::array<size_t, 4>, 2> numbers = {};
    std::array<unsigned, 2> positions = {};
    std::array<unsigned, 2> paddings = {};
    for (const char* name : {OSSL_CIPHER_PARAM_IV, OSSL_CIPHER_PARAM_UPDATED_IV}) {
      const size_t which = name == std::string(OSSL_CIPHER_PARAM_IV) ? 0 : 1;
      both(name, [&](size_t i) {
        OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(name, ivs[i][which].data(), 16),
                               OSSL_PARAM_construct_end()};
        return EVP_CIPHER_CTX_get_params(states_[i].get(), params);
      });
    }
    both("params", [&](size_t i) {
      OSSL_PARAM params[] = {
          OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_IVLEN, &numbers[i][0]),
          OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_KEYLEN, &numbers[i][1]),
          OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN, &numbers[i][2]),
          OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD, &numbers[i][3]),
          OSSL_PARAM_construct_end()};
      return EVP_CIPHER_CTX_get_params(states_[i].get(), params);
    });
    both("block params", [&](size_t i) {
      OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_NUM, &positions[i]),
                             OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_PADDING, &paddings[i]),
                             OSSL_PARAM_construct_end()};
      return EVP_CIPHER_CTX_get_params(states_[i].get(), params);
    });
    EXPECT_EQ(ivs[0], ivs[1]);
    EXPECT_EQ(numbers[0], numbers[1]);
    EXPECT_EQ(positions[0], positions[1]);
    EXPECT_EQ(paddings[0], paddings[1]);
  }

  // Goes on with copies; false where the default provider has none.
  bool duplicate() {
    std::array<CipherState, 2> copies;
    const int done = both("duplicate", [&](size_t i) {
      copies[i].reset(EVP_CIPHER_CTX_new());
      return EVP_CIPHER_CTX_copy(copies[i].get(), states_[i].get());
    });
    if (done == 1) states_.swap(copies);
    return done == 1;
  }

  bool failed() const { return ::testing::Test::HasFailure(); }

 private:
  // Calls call(0) for the default provider and call(1) for ours, and gives what both answer.
  template <typename Call>
  int both(const char* what, Call call) {
    std::array<int, 2> answers;
    std::array<int, 2> reasons;
    for (size_t i = 0; i < 2; ++i) {
      ERR_clear_error();
      answers[i] = call(i);
      reasons[i] = ERR_GET_REASON(ERR_peek_error());
    }
    EXPECT_EQ(answers[0], answers[1]) << what << " after" << history_;
    EXPECT_EQ(reasons[0], reasons[1]) << what << " after" << history_;
    history_ += std::string(" ") + what + "=" + std::to_string(answers[0]);
    return answers[0];
  }

  std::array<CipherHandle, 2> ciphers_;
  std::array<CipherState, 2> states_;
  bool started_ = false;
  std::string history_;  // the calls until now, and their answers
};

}  // namespace hoist::aes
