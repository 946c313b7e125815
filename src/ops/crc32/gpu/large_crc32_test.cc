// The kernel on each device against the check values, zlib, and a plain loop for CRC-32C.
#include "ops/crc32/gpu/large_crc32.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "device/test_devices.h"
#include "px/built_in/interpreted.h"

namespace hoist::crc32 {
namespace {

uint32_t plainly(Polynomial polynomial, uint32_t crc, std::span<const std::byte> data) {
  if (polynomial == Polynomial::ieee) {
    return static_cast<uint32_t>(
        ::crc32_z(crc, reinterpret_cast<const Bytef*>(data.data()), data.size()));
  }
  crc = ~crc;
  for (const std::byte byte : data) {
    crc ^= static_cast<uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

class LargeCrc32Test : public device::OnDevices {
 protected:
  uint32_t on_device(Polynomial polynomial, uint32_t crc, std::span<const std::byte> data) {
    // What lies behind must not count.
    std::vector<std::byte> padded(data.begin(), data.end());
    padded.resize(data.size() + 64, std::byte{0xee});
    const device::Buffer memory = *device::Buffer::copy_of(device(), padded);
    Result<device::Buffer> result = device::Buffer::allocate(device(), 16);
    EXPECT_TRUE(result);
    EXPECT_TRUE(result->fill(std::byte{0xa5}));
    Result<device::Stream> stream = device::Stream::create(device());
    EXPECT_TRUE(stream);
    const Status done =
        large_crc32(*stream, polynomial, memory.view<const std::byte>().subspan(0, data.size()),
                    crc, result->view<uint32_t>().subspan(0, 1));
    EXPECT_TRUE(done) << done.error().message;
    const Status finished = stream->synchronize();
    EXPECT_TRUE(finished) << finished.error().message;
    uint32_t words[2] = {};
    EXPECT_TRUE(result->download(std::as_writable_bytes(std::span(words))));
    EXPECT_EQ(words[1], 0xa5a5a5a5U);
    return words[0];
  }
};

constexpr Polynomial kBoth[] = {Polynomial::ieee, Polynomial::castagnoli};

TEST_P(LargeCrc32Test, HasTheCheckValues) {
  const auto digits = std::as_bytes(std::span(std::string_view("123456789")));
  EXPECT_EQ(on_device(Polynomial::ieee, 0, digits), 0xcbf43926U);
  EXPECT_EQ(on_device(Polynomial::castagnoli, 0, digits), 0xe3069283U);
  // RFC 3720, B.4: 32 zeros, 32 bytes of ones.
  EXPECT_EQ(on_device(Polynomial::castagnoli, 0, std::vector<std::byte>(32)), 0x8a9136aaU);
  EXPECT_EQ(on_device(Polynomial::castagnoli, 0, std::vector<std::byte>(32, std::byte{0xff})),
            0x62a8ab43U);
}

TEST_P(LargeCrc32Test, IsThePlainLoops) {
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{127}, size_t{2048},
        size_t{2047}, size_t{32768}, size_t{32767}, size_t{32769}, size_t{65536}, size_t{100003},
        size_t{1234567}, (size_t{1} << 24) + 17}) {
    const std::vector<std::byte> data = device::random_bytes(size, size + 1);
    for (const Polynomial polynomial : kBoth) {
      ASSERT_EQ(on_device(polynomial, 0, data), plainly(polynomial, 0, data)) << size;
    }
  }
}

TEST_P(LargeCrc32Test, GoesOnFromWhatPrecedes) {
  const std::vector<std::byte> data = device::random_bytes(300001);
  const std::span all(data);
  for (const Polynomial polynomial : kBoth) {
    uint32_t crc = 0;
    for (const auto& part : {all.first(5), all.subspan(5, 131072), all.subspan(131077)}) {
      crc = on_device(polynomial, crc, part);
    }
    EXPECT_EQ(crc, plainly(polynomial, 0, all));
  }
}

TEST_P(LargeCrc32Test, OfZerosAndOnes) {
  for (const std::byte value : {std::byte{0}, std::byte{0xff}}) {
    const std::vector<std::byte> data(777777, value);
    for (const Polynomial polynomial : kBoth) {
      EXPECT_EQ(on_device(polynomial, 0, data), plainly(polynomial, 0, data));
    }
  }
}

TEST_P(LargeCrc32Test, RefusesWhatIsNotAligned) {
  Result<device::Stream> stream = device::Stream::create(device());
  ASSERT_TRUE(stream);
  Result<device::Buffer> memory = device::Buffer::allocate(device(), 256);
  ASSERT_TRUE(memory);
  const auto result = memory->view<uint32_t>();
  const auto data = memory->view<std::byte>();
  const Status status =
      large_crc32(*stream, Polynomial::ieee, data.subspan(8, 16), 0, result.subspan(60, 1));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(
      large_crc32(*stream, Polynomial::ieee, data.subspan(0, 16), 0, result.subspan(60, 2)));
}

// Small enough for the interpreter, which checks every access.
TEST(InterpretedCrc32, IsThePlainLoops) {
  std::vector<std::byte> data = device::random_bytes(70001);
  for (const Polynomial polynomial : kBoth) {
    uint32_t result = 0;
    const ir::Argument arguments[] = {
        ir::Argument::array(data.data(), data.size() / 4),
        ir::Argument::array(data.data(), data.size()),
        ir::Argument::array(&result, 1),
        ir::Argument::scalar(0),
        ir::Argument::scalar(polynomial == Polynomial::castagnoli ? 1 : 0),
        ir::Argument::scalar(2)};
    const Status done = px::run_interpreted(HOIST_SOURCE_DIR "/src/ops/crc32/gpu/crc32.px", "crc32",
                                            {{2, 1, 1}, {512, 1, 1}}, arguments);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(result, plainly(polynomial, 0, data));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, LargeCrc32Test, device::kTestDevices, device::device_name);

}  // namespace
}  // namespace hoist::crc32
