// Published vectors through the provider: NIST SP 800-38A (ECB, CBC, CTR), the GCM specification's
// own (McGrew and Viega, test case 16), IEEE 1619 (XTS, vector 2), RFC 8439 (2.8.2).
#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <string>
#include <vector>

#include "ops/aes/provider_testing.h"

namespace hoist::aes {
namespace {

using Data = std::vector<uint8_t>;

Data bytes(const std::string& hex) {
  Data result;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    result.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return result;
}

struct Vector {
  const char* cipher;
  std::string key;
  std::string iv;
  std::string additional;
  std::string text;
  std::string ciphertext;
  std::string tag;
};

const std::string kText =
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
const std::string kKey256 = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";

const Vector kVectors[] = {
    {"AES-256-ECB", kKey256, "", "", kText,
     "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870"
     "b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
     ""},
    {"AES-256-CBC", kKey256, "000102030405060708090a0b0c0d0e0f", "", kText,
     "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
     "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
     ""},
    {"AES-256-CTR", kKey256, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "", kText,
     "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
     "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
     ""},
    {"AES-128-XTS", "1111111111111111111111111111111122222222222222222222222222222222",
     "33333333330000000000000000000000", "",
     "4444444444444444444444444444444444444444444444444444444444444444",
     "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0", ""},
    {"AES-256-GCM", "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449"
     "a6b525b16aedf5aa0de657ba637b39",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056"
     "828838c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
    {"ChaCha20-Poly1305", "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
     "070000004041424344454647", "50515253c0c1c2c3c4c5c6c7",
     "4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a20496620"
     "4920636f756c64206f6666657220796f75206f6e6c79206f6e652074697020666f7220746865206675747572"
     "652c2073756e73637265656e20776f756c642062652069742e",
     "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da"
     "92728b1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad6759455"
     "85808b4831d7bc3ff4def08e4b7a9de576d26586cec64b6116",
     "1ae10b594f09e26a7e902ecbd0600691"},
};

class KnownAnswerTest : public ::testing::TestWithParam<Vector> {};

Data crypt(OSSL_LIB_CTX* library, const Vector& vector, bool encrypting, const Data& in,
           Data& tag) {
  const CipherHandle cipher(EVP_CIPHER_fetch(library, vector.cipher, "provider=hoist"));
  const CipherState state(EVP_CIPHER_CTX_new());
  const Data key = bytes(vector.key);
  const Data iv = bytes(vector.iv);
  const Data additional = bytes(vector.additional);
  Data out(in.size() + 32);
  int length = 0;
  int rest = 0;
  EXPECT_EQ(EVP_CipherInit_ex2(state.get(), cipher.get(), key.data(),
                               iv.empty() ? nullptr : iv.data(), encrypting, nullptr),
            1);
  EVP_CIPHER_CTX_set_padding(state.get(), 0);
  if (!additional.empty()) {
    EVP_CipherUpdate(state.get(), nullptr, &length, additional.data(),
                     static_cast<int>(additional.size()));
  }
  EXPECT_EQ(
      EVP_CipherUpdate(state.get(), out.data(), &length, in.data(), static_cast<int>(in.size())),
      1);
  if (!encrypting && !tag.empty()) {
    EVP_CIPHER_CTX_ctrl(state.get(), EVP_CTRL_AEAD_SET_TAG, 16, tag.data());
  }
  EXPECT_EQ(EVP_CipherFinal_ex(state.get(), out.data() + length, &rest), 1);
  if (encrypting && !vector.tag.empty()) {
    tag.resize(16);
    EVP_CIPHER_CTX_ctrl(state.get(), EVP_CTRL_AEAD_GET_TAG, 16, tag.data());
  }
  out.resize(static_cast<size_t>(length) + static_cast<size_t>(rest));
  return out;
}

// Once as short as they are, once split at every chance.
TEST_P(KnownAnswerTest, BothWays) {
  const Vector& vector = GetParam();
  for (const size_t threshold : {size_t{1} << 20, size_t{1}}) {
    const TestingContext context(threshold);
    Data tag;
    EXPECT_EQ(crypt(context.get(), vector, true, bytes(vector.text), tag),
              bytes(vector.ciphertext));
    EXPECT_EQ(tag, bytes(vector.tag));
    EXPECT_EQ(crypt(context.get(), vector, false, bytes(vector.ciphertext), tag),
              bytes(vector.text));
  }
}

INSTANTIATE_TEST_SUITE_P(All, KnownAnswerTest, ::testing::ValuesIn(kVectors));

}  // namespace
}  // namespace hoist::aes
