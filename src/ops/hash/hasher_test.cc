// Every algorithm against published vectors, and against itself with its input cut into pieces; the
// plain sums against their definitions.
#include "ops/hash/hasher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

namespace hoist::hash {
namespace {

const uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

Digest digest_of(DigestKind kind, std::string_view text) {
  Hasher hasher(kind);
  hasher.update(bytes_of(text), text.size());
  return hasher.finish();
}

struct Vector {
  Algorithm algorithm;
  size_t bytes;
  std::string text;
  const char* hex;
};

const std::string kTwoBlocks256 = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
const std::string kTwoBlocks512 =
    "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
    "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";

TEST(Hasher, PublishedVectors) {
  const Vector vectors[] = {
      // RFC 1321, appendix A.5.
      {Algorithm::md5, 16, "", "d41d8cd98f00b204e9800998ecf8427e"},
      {Algorithm::md5, 16, "abc", "900150983cd24fb0d6963f7d28e17f72"},
      {Algorithm::md5, 16,
       "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
       "57edf4a22be3c955ac49da2e2107b67a"},
      // FIPS 180-4, examples published by NIST (csrc.nist.gov, "Example Values").
      {Algorithm::sha1, 20, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
      {Algorithm::sha1, 20, kTwoBlocks256, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
      {Algorithm::sha224, 28, "abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
      {Algorithm::sha224, 28, kTwoBlocks256,
       "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525"},
      {Algorithm::sha256, 32, "abc",
       "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {Algorithm::sha256, 32, kTwoBlocks256,
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {Algorithm::sha256, 32, std::string(1000000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
      {Algorithm::sha384, 48, "abc",
       "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded163"
       "1a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"},
      {Algorithm::sha384, 48, kTwoBlocks512,
       "09330c33f71147e83d192fc782cd1b4753111b173b3b05d2"
       "2fa08086e3b0f712fcc7c71a557e2db966c3e9fa91746039"},
      {Algorithm::sha512, 64, "abc",
       "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
       "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
      {Algorithm::sha512, 64, kTwoBlocks512,
       "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
       "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"},
      // RFC 7693, appendix A.
      {Algorithm::blake2b, 64, "abc",
       "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
       "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"},
      // GB/T 32905-2016, appendix A (draft-sca-cfrg-sm3-02, appendix A.1).
      {Algorithm::sm3, 32, "abc",
       "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"},
      {Algorithm::sm3, 32, "abcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcd",
       "debe9ff92275b8a138604889c18e5a4d6fdb70e5387e5765293dcba39c0c5732"}};
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(info(vector.algorithm).tag);
    EXPECT_EQ(digest_of({vector.algorithm, vector.bytes}, vector.text).hex(), vector.hex);
  }
}

TEST(Hasher, PiecesGiveTheSameDigest) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (size_t i = 0; i <= static_cast<size_t>(Algorithm::sm3); ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    if (algorithm == Algorithm::crc && !PosixCrc::available()) continue;
    const DigestKind kind{algorithm, info(algorithm).digest_bytes};
    for (const size_t size : {0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 256, 257, 5000}) {
      std::string text(size, '\0');
      for (char& c : text) c = static_cast<char>(random());
      Hasher hasher(kind);
      for (size_t at = 0; at < size;) {
        const size_t piece = std::min<size_t>(size - at, random() % 200);
        hasher.update(bytes_of(text) + at, piece);
        at += piece;
      }
      EXPECT_EQ(hasher.finish().hex(), digest_of(kind, text).hex())
          << info(algorithm).tag << " of " << size << " bytes";
    }
  }
}

// POSIX.1-2017, cksum: the polynomial division bit by bit.
uint32_t slow_posix_crc(std::string_view text) {
  uint32_t crc = 0;
  const auto add = [&](uint8_t byte) {
    crc ^= static_cast<uint32_t>(byte) << 24;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 0x80000000 ? crc << 1 ^ 0x04C11DB7 : crc << 1;
  };
  for (const char c : text) add(static_cast<uint8_t>(c));
  for (size_t length = text.size(); length > 0; length >>= 8) add(static_cast<uint8_t>(length));
  return ~crc;
}

TEST(Hasher, PlainSumsFollowTheirDefinitions) {
  std::mt19937 random(7);
  for (const size_t size : {0, 1, 2, 15, 16, 17, 255, 256, 257, 4096, 70000}) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random() | 0x80);
    uint32_t bsd = 0;
    uint64_t total = 0;
    for (const char c : text) {
      bsd = (bsd >> 1) + ((bsd & 1) << 15);
      bsd = (bsd + static_cast<uint8_t>(c)) & 0xffff;
      total += static_cast<uint8_t>(c);
    }
    const uint64_t once = total % 65536 + total / 65536;
    EXPECT_EQ(digest_of({Algorithm::bsd, 2}, text).number(), bsd) << size;
    EXPECT_EQ(digest_of({Algorithm::sysv, 2}, text).number(), once % 65536 + once / 65536) << size;
    if (PosixCrc::available()) {
      EXPECT_EQ(digest_of({Algorithm::crc, 4}, text).number(), slow_posix_crc(text)) << size;
    }
  }
}

TEST(Digest, StartsWith) {
  const Digest whole = digest_of({Algorithm::md5, 16}, "abc");
  Digest prefix;
  EXPECT_FALSE(whole.starts_with(prefix));
  prefix.size = 2;
  prefix.bytes[0] = 0x90;
  prefix.bytes[1] = 0x01;
  EXPECT_TRUE(whole.starts_with(prefix));
  EXPECT_FALSE(prefix.starts_with(whole));
  prefix.bytes[1] = 0x02;
  EXPECT_FALSE(whole.starts_with(prefix));
  EXPECT_TRUE(whole.starts_with(whole));
}

}  // namespace
}  // namespace hoist::hash
