// Published vectors through the provider: NIST SP 800-38A, appendix F (ECB, CBC, CTR); IEEE 1619,
// annex B (XTS); the GCM specification's own (McGrew and Viega, appendix B); RFC 8439.
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
const std::string kKey128 = "2b7e151628aed2a6abf7158809cf4f3c";
const std::string kKey192 = "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b";
const std::string kKey256 = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";

// 0 to 255, twice.
const std::string kNumbers = [] {
  const char* const digits = "0123456789abcdef";
  std::string hex;
  for (int i = 0; i < 512; ++i) {
    hex += digits[i / 16 % 16];
    hex += digits[i % 16];
  }
  return hex;
}();

const Vector kVectors[] = {
    {"AES-128-ECB", kKey128, "", "", kText,
     "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf43b1cd7f598ece23881b00e3"
     "ed0306887b0c785e27e8ad3f8223207104725dd4",
     ""},
    {"AES-192-ECB", kKey192, "", "", kText,
     "bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eefef7afd2270e2e60adce0ba2f"
     "ace6444e9a4b41ba738d6c72fb16691603c18e0e",
     ""},
    {"AES-256-ECB", kKey256, "", "", kText,
     "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870b6ed21b99ca6f4f9f153e7b1"
     "beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
     ""},
    {"AES-128-CBC", kKey128, "000102030405060708090a0b0c0d0e0f", "", kText,
     "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b273bed6b8e3c1743b7116e69e"
     "222295163ff1caa1681fac09120eca307586e1a7",
     ""},
    {"AES-192-CBC", kKey192, "000102030405060708090a0b0c0d0e0f", "", kText,
     "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a571b242012fb7ae07fa9baac"
     "3df102e008b0e27988598881d920a9e64f5615cd",
     ""},
    {"AES-256-CBC", kKey256, "000102030405060708090a0b0c0d0e0f", "", kText,
     "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d39f23369a9d9bacfa530e263"
     "04231461b2eb05e2c39be9fcda6c19078c6a9d1b",
     ""},
    {"AES-128-CTR", kKey128, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "", kText,
     "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff5ae4df3edbd5d35e5b4f0902"
     "0db03eab1e031dda2fbe03d1792170a0f3009cee",
     ""},
    {"AES-192-CTR", kKey192, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "", kText,
     "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e941e36b26bd1ebc670d1bd1d66"
     "5620abf74f78a7f6d29809585a97daec58c6b050",
     ""},
    {"AES-256-CTR", kKey256, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "", kText,
     "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c52b0930daa23de94ce87017ba"
     "2d84988ddfc9c58db67aada613c2dd08457941a6",
     ""},
    // Vectors 2 and 3; the keys of vector 1 are equal, which OpenSSL refuses.
    {"AES-128-XTS", "1111111111111111111111111111111122222222222222222222222222222222",
     "33333333330000000000000000000000", "",
     "4444444444444444444444444444444444444444444444444444444444444444",
     "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0", ""},
    {"AES-128-XTS", "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f022222222222222222222222222222222",
     "33333333330000000000000000000000", "",
     "4444444444444444444444444444444444444444444444444444444444444444",
     "af85336b597afc1a900b2eb21ec949d292df4c047e0b21532186a5971a227a89", ""},
    // Vectors 15 to 18: ciphertext stealing.
    {"AES-128-XTS", "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
     "9a785634120000000000000000000000", "", "000102030405060708090a0b0c0d0e0f10",
     "6c1625db4671522d3d7599601de7ca09ed", ""},
    {"AES-128-XTS", "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
     "9a785634120000000000000000000000", "", "000102030405060708090a0b0c0d0e0f1011",
     "d069444b7a7e0cab09e24447d24deb1fedbf", ""},
    {"AES-128-XTS", "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
     "9a785634120000000000000000000000", "", "000102030405060708090a0b0c0d0e0f101112",
     "e5df1351c0544ba1350b3363cd8ef4beedbf9d", ""},
    {"AES-128-XTS", "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
     "9a785634120000000000000000000000", "", "000102030405060708090a0b0c0d0e0f10111213",
     "9d84c813f719aa2c7be3f66171c7c5c2edbf9dac", ""},
    // Vector 10.
    {"AES-256-XTS",
     "2718281828459045235360287471352662497757247093699959574966967627314159265358979323846264"
     "3383279502884197169399375105820974944592",
     "ff000000000000000000000000000000", "", kNumbers,
     "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b5d31e276f8fe4a8d66b317f9"
     "ac683f44680a86ac35adfc3345befecb4bb188fd5776926c49a3095eb108fd1098baec70aaa66999a72a82f2"
     "7d848b21d4a741b0c5cd4d5fff9dac89aeba122961d03a757123e9870f8acf1000020887891429ca2a3e7a7d"
     "7df7b10355165c8b9a6d0a7de8b062c4500dc4cd120c0f7418dae3d0b5781c34803fa75421c790dfe1de1834"
     "f280d7667b327f6c8cd7557e12ac3a0f93ec05c52e0493ef31a12d3d9260f79a289d6a379bc70c50841473d1"
     "a8cc81ec583e9645e07b8d9670655ba5bbcfecc6dc3966380ad8fecb17b6ba02469a020a84e18e8f84252070"
     "c13e9f1f289be54fbc481457778f616015e1327a02b140f1505eb309326d68378f8374595c849d84f4c333ec"
     "4423885143cb47bd71c5edae9be69a2ffeceb1bec9de244fbe15992b11b77c040f12bd8f6a975a44a0f90c29"
     "a9abc3d4d893927284c58754cce294529f8614dcd2aba991925fedc4ae74ffac6e333b93eb4aff0479da9a41"
     "0e4450e0dd7ae4c6e2910900575da401fc07059f645e8b7e9bfdef33943054ff84011493c27b3429eaedb4ed"
     "5376441a77ed43851ad77f16f541dfd269d50d6a5f14fb0aab1cbb4c1550be97f7ab4066193c4caa773dad38"
     "014bd2092fa755c824bb5e54c4f36ffda9fcea70b9c6e693e148c151",
     ""},
    // Test cases 3 to 6, 9 to 12, 15 to 18.
    {"AES-128-GCM", "feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888", "",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e24"
     "49a6b525b16aedf5aa0de657ba637b391aafd255",
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5a"
     "ac84aa051ba30b396a0aac973d58e091473f5985",
     "4d5c2af327cd64a62cf35abd2ba6fab4"},
    {"AES-128-GCM", "feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e24"
     "49a6b525b16aedf5aa0de657ba637b39",
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5a"
     "ac84aa051ba30b396a0aac973d58e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {"AES-128-GCM", "feffe9928665731c6d6a8f9467308308", "cafebabefacedbad",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e24"
     "49a6b525b16aedf5aa0de657ba637b39",
     "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544"
     "d4896b424989b5e1ebac0f07c23f4598",
     "3612d2e79e3b0785561be14aaca2fccb"},
    {"AES-128-GCM", "feffe9928665731c6d6a8f9467308308",
     "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e242"
     "9a6b525416aedbf5a0de6a57a637b39b",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e24"
     "49a6b525b16aedf5aa0de657ba637b39",
     "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90ccdcb281"
     "d48c7c6fd62875d2aca417034c34aee5",
     "619cc5aefffe0bfa462af43c1699d050"},
    {"AES-192-GCM", "feffe9928665731c6d6a8f9467308308feffe9928665731c", "cafebabefacedbaddecaf888",
     "",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e24"
     "49a6b525b16aedf5aa0de657ba637b391aafd255",
     "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18"
     "c84a3f4718e2448b2fe324d9ccda2710acade256",
     "9924a7c8587336bfb118024db8674a14"},
    {"AES-192-GCM", "feffe9928665731c6d6a8f9467308308feffe9928665731c", "cafebabefacedbaddecaf888",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e24"
     "49a6b525b16aedf5aa0de657ba637b39",
     "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18"
     "c84a3f4718e2448b2fe324d9ccda2710",
     "2519498e80f1478f37ba55bd6d27618c"},
    {"AES-192-GCM", "feffe9928665731c6d6a8f9467308308feffe9928665731c", "cafebabefacedbad",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e24"
     "49a6b525b16aedf5aa0de657ba637b39",
     "0f10f599ae14a154ed24b36e25324db8c566632ef2bbb34f8347280fc4507057fddc29df9a471f75c66541d4"
     "d4dad1c9e93a19a58e8b473fa0f062f7",
     "65dcc57fcf623a24094fcca40d3533f8"},
    {"AES-192-GCM", "feffe9928665731c6d6a8f9467308308feffe9928665731c",
     "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e242"
     "9a6b525416aedbf5a0de6a57a637b39b",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e24"
     "49a6b525b16aedf5aa0de657ba637b39",
     "d27e88681ce3243c4830165a8fdcf9ff1de9a1d8e6b447ef6ef7b79828666e4581e79012af34ddd9e2f03758"
     "9b292db3e67c036745fa22e7e9b7373b",
     "dcf566ff291c25bbb8568fc3d376a6d9"},
    {"AES-256-GCM", "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "cafebabefacedbaddecaf888", "",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e24"
     "49a6b525b16aedf5aa0de657ba637b391aafd255",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b10"
     "56828838c5f61e6393ba7a0abcc9f662898015ad",
     "b094dac5d93471bdec1a502270e3cc6c"},
    {"AES-256-GCM", "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e24"
     "49a6b525b16aedf5aa0de657ba637b39",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b10"
     "56828838c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
    {"AES-256-GCM", "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "cafebabefacedbad", "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e24"
     "49a6b525b16aedf5aa0de657ba637b39",
     "c3762df1ca787d32ae47c13bf19844cbaf1ae14d0b976afac52ff7d79bba9de0feb582d33934a4f0954cc236"
     "3bc73f7862ac430e64abe499f47c9b1f",
     "3a337dbf46a792c45e454913fe2ea8f2"},
    {"AES-256-GCM", "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e242"
     "9a6b525416aedbf5a0de6a57a637b39b",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e24"
     "49a6b525b16aedf5aa0de657ba637b39",
     "5a8def2f0c9e53f1f75d7853659e2a20eeb2b22aafde6419a058ab4f6f746bf40fc0c3b780f244452da3ebf1"
     "c5d82cdea2418997200ef82e44ae7e3f",
     "a44a8266ee1c8eb0c8b5d4cf5ae9f19a"},
    // RFC 8439, 2.8.2.
    {"ChaCha20-Poly1305", "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
     "070000004041424344454647", "50515253c0c1c2c3c4c5c6c7",
     "4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a204966"
     "204920636f756c64206f6666657220796f75206f6e6c79206f6e652074697020666f72207468652066757475"
     "72652c2073756e73637265656e20776f756c642062652069742e",
     "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69"
     "da92728b1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad67594"
     "5585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b6116",
     "1ae10b594f09e26a7e902ecbd0600691"},
    // RFC 8439, A.5.
    {"ChaCha20-Poly1305", "1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0",
     "000000000102030405060708", "f33388860000000000004e91",
     "496e7465726e65742d4472616674732061726520647261667420646f63756d656e74732076616c696420666f"
     "722061206d6178696d756d206f6620736978206d6f6e74687320616e64206d61792062652075706461746564"
     "2c207265706c616365642c206f72206f62736f6c65746564206279206f7468657220646f63756d656e747320"
     "617420616e792074696d652e20497420697320696e617070726f70726961746520746f2075736520496e7465"
     "726e65742d447261667473206173207265666572656e6365206d6174657269616c206f7220746f2063697465"
     "207468656d206f74686572207468616e206173202fe2809c776f726b20696e2070726f67726573732e2fe280"
     "9d",
     "64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb24c6cfc18755d43eea09ee94e"
     "382d26b0bdb7b73c321b0100d4f03b7f355894cf332f830e710b97ce98c8a84abd0b948114ad176e008d33bd"
     "60f982b1ff37c8559797a06ef4f0ef61c186324e2b3506383606907b6a7c02b0f9f6157b53c867e4b9166c76"
     "7b804d46a59b5216cde7a4e99040c5a40433225ee282a1b0a06c523eaf4534d7f83fa1155b0047718cbc546a"
     "0d072b04b3564eea1b422273f548271a0bb2316053fa76991955ebd63159434ecebb4e466dae5a1073a67276"
     "27097a1049e617d91d361094fa68f0ff77987130305beaba2eda04df997b714d6c6f2c29a6ad5cb4022b0270"
     "9b",
     "eead9d67890cbb22392336fea1851f38"},
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
  size_t iv_size = iv.size();
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_IVLEN, &iv_size),
                               OSSL_PARAM_construct_end()};
  EXPECT_EQ(
      EVP_CipherInit_ex2(state.get(), cipher.get(), key.data(), iv.empty() ? nullptr : iv.data(),
                         encrypting, vector.tag.empty() ? nullptr : params),
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
