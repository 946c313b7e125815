// What a stranger may send to hoistd, and what it computes whatever the offsets are.
#include "ops/hash/gpu/served_sha256.h"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/test_seed.h"
#include "device/buffer.h"
#include "device/stream.h"
#include "device/test_devices.h"
#include "ops/hash/gpu/sha256_request.h"

namespace hoist::hash {
namespace {

using device::remote::ServedCall;
using device::remote::ServedMemory;
using Bytes = std::vector<std::byte>;

constexpr size_t kData = 1 << 16;
constexpr size_t kMessages = 500;

class ServedSha256Test : public device::OnDevices {
 protected:
  void SetUp() override {
    device::OnDevices::SetUp();
    if (IsSkipped()) return;
    random_.seed(test_seed());
    bytes_ = device::random_bytes(kData, random_());
    data_ = *device::Buffer::copy_of(device(), bytes_);
  }

  // The digests of messages of at most `longest` bytes, of which each that reaches behind the data
  // ends there; a guard behind them is as it was.
  Bytes digests_of(const std::vector<uint64_t>& offsets, uint64_t longest) {
    const size_t size = offsets.size() / 2 * kSha256DigestBytes;
    const auto places = *device::Buffer::copy_of(device(), std::as_bytes(std::span(offsets)));
    auto made = *device::Buffer::allocate(device(), size + kSha256DigestBytes);
    EXPECT_TRUE(made.fill(std::byte{0xa5}));
    auto stream = *device::Stream::create(device());
    const std::vector<ServedMemory> memory = {
        {static_cast<std::byte*>(data_.data()), kData, false},
        {static_cast<std::byte*>(places.data()), offsets.size() * 8, false},
        {static_cast<std::byte*>(made.data()), size, false}};
    const std::vector<uint64_t> arguments = {offsets.size() / 2, longest};
    const ServedCall call = {device(), stream.handle(), memory, arguments};
    const ServedSha256 served;
    const Status valid = served.validate(call);
    EXPECT_TRUE(valid) << valid.error().message;
    EXPECT_TRUE(served.run(call));
    EXPECT_TRUE(stream.synchronize());
    Bytes all(size + kSha256DigestBytes);
    EXPECT_TRUE(made.download(all));
    EXPECT_EQ(Bytes(all.end() - kSha256DigestBytes, all.end()),
              Bytes(kSha256DigestBytes, std::byte{0xa5}));
    all.resize(size);
    return all;
  }

  void expect_digests(const std::vector<uint64_t>& offsets, uint64_t longest) {
    const Bytes got = digests_of(offsets, longest);
    for (size_t i = 0; i < offsets.size() / 2; ++i) {
      const uint64_t begin = std::min<uint64_t>(offsets[2 * i], kData);
      const uint64_t end = std::min<uint64_t>(offsets[2 * i + 1], kData);
      const uint64_t size = std::min(end > begin ? end - begin : 0, longest);
      Bytes expected(kSha256DigestBytes);
      SHA256(reinterpret_cast<const uint8_t*>(bytes_.data()) + begin, size,
             reinterpret_cast<uint8_t*>(expected.data()));
      const auto at = got.begin() + static_cast<ptrdiff_t>(i * kSha256DigestBytes);
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), at))
          << "message " << i << ": [" << offsets[2 * i] << ", " << offsets[2 * i + 1] << ")";
    }
  }

  std::mt19937_64 random_;
  Bytes bytes_;
  device::Buffer data_;
};

TEST_P(ServedSha256Test, HashesMessagesThatLieApart) {
  std::vector<uint64_t> offsets;
  for (size_t i = 0; i < kMessages; ++i) {
    const uint64_t begin = random_() % kData;
    offsets.insert(offsets.end(), {begin, begin + random_() % std::min(kData - begin, kData / 16)});
  }
  expect_digests(offsets, kData / 16);
  expect_digests({}, 1);
}

TEST_P(ServedSha256Test, NoOffsetReachesOutsideTheData) {
  constexpr uint64_t kTop = uint64_t{1} << 63;
  const uint64_t edges[] = {0,         1,    15,       16,       kData - 1,      kData,
                            kData + 1, kTop, kTop - 1, kTop + 5, UINT64_MAX - 1, UINT64_MAX};
  std::vector<uint64_t> offsets;
  for (const uint64_t begin : edges) {
    for (const uint64_t end : edges) offsets.insert(offsets.end(), {begin, end});
  }
  for (size_t i = 0; i < kMessages; ++i) {
    offsets.insert(offsets.end(), {random_() >> random_() % 64, random_() >> random_() % 64});
  }
  for (const uint64_t longest : {uint64_t{0}, uint64_t{1}, uint64_t{63}, uint64_t{kData}}) {
    expect_digests(offsets, longest);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ServedSha256Test, device::kTestDevices, device::device_name);

class Request : public testing::Test {
 protected:
  struct Sizes {
    uint64_t data = 4096;
    uint64_t offsets = 320;
    uint64_t digests = 640;
  };
  // By default 20 messages of at most 256 bytes; the ranges lie behind one another.
  bool is_valid(std::vector<uint64_t> arguments, Sizes sizes, int64_t shift_of_digests = 0,
                uint64_t shift_of_all = 0) {
    std::byte* const data = memory_ + shift_of_all;
    std::byte* const offsets = data + 4096;
    const std::vector<ServedMemory> memory = {
        {data, sizes.data, false},
        {offsets, sizes.offsets, false},
        {offsets + 1024 + shift_of_digests, sizes.digests, false}};
    return ServedSha256().validate({device::cpu_device(), {}, memory, arguments}).has_value();
  }
  alignas(16) std::byte memory_[64] = {};  // named, never touched
};

TEST_F(Request, SizesMustFitTheCount) {
  EXPECT_TRUE(is_valid({20, 256}, {}));
  EXPECT_TRUE(is_valid({0, 0}, {4096, 0, 0}));
  EXPECT_FALSE(is_valid({21, 256}, {}));
  EXPECT_FALSE(is_valid({20, 256}, {.data = 4095}));
  EXPECT_FALSE(is_valid({20, 256}, {.offsets = 328}));
  EXPECT_FALSE(is_valid({20, 256}, {.digests = 608}));
  // 2^60 + 20 messages have 320 bytes of offsets, modulo 2^64; as many of 2^59 digests.
  EXPECT_FALSE(is_valid({(uint64_t{1} << 60) + 20, 0}, {}));
  EXPECT_FALSE(is_valid({(uint64_t{1} << 59) + 20, 0}, {}));
}

TEST_F(Request, TheWorkIsBounded) {
  EXPECT_FALSE(is_valid({20, 4097}, {}));  // longer than the data
  EXPECT_FALSE(is_valid({20, UINT64_MAX}, {}));
  const uint64_t most = kSha256MostMessages;
  const uint64_t longest = kSha256MostBytes / most;
  const Sizes sizes = {2 * longest, most * kSha256OffsetBytes, most * kSha256DigestBytes};
  const auto far = static_cast<int64_t>(sizes.data + sizes.offsets);
  EXPECT_TRUE(is_valid({most, longest}, sizes, far));
  EXPECT_FALSE(is_valid({most, longest + 1}, sizes, far));
  EXPECT_FALSE(is_valid({most + 1, 1},
                        {4096, (most + 1) * kSha256OffsetBytes, (most + 1) * kSha256DigestBytes},
                        far));
}

TEST_F(Request, ItHasThreeRangesAndTwoNumbers) {
  EXPECT_FALSE(is_valid({20}, {}));
  EXPECT_FALSE(is_valid({20, 256, 0}, {}));
  const std::vector<uint64_t> arguments = {0, 0};
  EXPECT_FALSE(ServedSha256().validate({device::cpu_device(), {}, {}, arguments}).has_value());
}

TEST_F(Request, RangesMustBeApartAndAligned) {
  EXPECT_FALSE(is_valid({20, 256}, {}, 8));
  EXPECT_FALSE(is_valid({20, 256}, {}, 0, 8));
  EXPECT_FALSE(is_valid({20, 256}, {}, -1024));       // on the offsets
  EXPECT_FALSE(is_valid({20, 256}, {}, -1024 - 16));  // and on the data's end
  EXPECT_TRUE(is_valid({20, 256}, {}, -1024 + 320));
}

}  // namespace
}  // namespace hoist::hash
