#include "codec/crc32.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

namespace hoist::codec {
namespace {

// Bit by bit, from the definition.
uint32_t slow_crc32(uint32_t crc, std::span<const unsigned char> data) {
  crc = ~crc;
  for (const unsigned char byte : data) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

uint32_t slow_adler32(uint32_t adler, std::span<const unsigned char> data) {
  uint32_t a = adler & 0xffff;
  uint32_t b = adler >> 16;
  for (const unsigned char byte : data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

std::vector<unsigned char> random_bytes(size_t size, std::mt19937& random) {
  std::vector<unsigned char> bytes(size);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<unsigned char>(random()); });
  return bytes;
}

TEST(Crc32, KnownAnswer) {
  for (const Crc32Kernel& kernel : crc32_kernels()) {
    EXPECT_EQ(kernel.run(0, "123456789", 9), 0xcbf43926u) << kernel.name;
  }
  EXPECT_EQ(adler32(1, "Wikipedia", 9), 0x11e60398u);
}

TEST(Crc32, EverySizeAroundTheVectors) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const std::vector<unsigned char> bytes = random_bytes(2000, random);
  for (size_t size = 0; size < 1200; ++size) {
    const size_t start = random() % 64;
    const uint32_t before = size % 3 == 0 ? 0 : static_cast<uint32_t>(random());
    const std::span<const unsigned char> part = std::span(bytes).subspan(start, size);
    for (const Crc32Kernel& kernel : crc32_kernels()) {
      ASSERT_EQ(kernel.run(before, part.data(), size), slow_crc32(before, part))
          << kernel.name << " size " << size;
    }
    ASSERT_EQ(adler32(1, part.data(), size), slow_adler32(1, part)) << size;
  }
}

TEST(Crc32, PiecesMakeTheWhole) {
  std::mt19937 random(7);
  const std::vector<unsigned char> bytes = random_bytes(300000, random);
  for (const Crc32Kernel& kernel : crc32_kernels()) {
    uint32_t crc = 0;
    for (size_t at = 0; at < bytes.size();) {
      const size_t size = std::min<size_t>(random() % 9000, bytes.size() - at);
      crc = kernel.run(crc, bytes.data() + at, size);
      at += size;
    }
    EXPECT_EQ(crc, slow_crc32(0, bytes)) << kernel.name;
  }
}

}  // namespace
}  // namespace hoist::codec
