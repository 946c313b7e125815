// The GPU's XXH3-64 against the CPU's, for every length that has its own formula and beyond.
#include "tensors/gpu/checksum_gpu.h"

#include <gtest/gtest.h>

#include <random>

#include "base/checksum.h"
#include "base/test_seed.h"
#include "device/cuda_memory.h"
#include "device/cuda_plugin.h"

namespace hoist::tensors {
namespace {

TEST(ChecksumGpuTest, AgreesWithTheCpu) {
  if (Status available = device::cuda_available(); !available) {
    GTEST_SKIP() << available.error().message;
  }
  std::mt19937_64 random(test_seed());
  std::vector<uint64_t> sizes;
  for (uint64_t size = 0; size <= 300; ++size) sizes.push_back(size);
  for (const uint64_t border : {1024, 2048, 8192, 65536, 1 << 20}) {
    for (const int64_t off : {-65, -64, -1, 0, 1, 63, 64, 65}) sizes.push_back(border + off);
  }
  for (int i = 0; i < 50; ++i) sizes.push_back(random() % 3000000);

  device::Device& device = *device::cuda_device().value();
  device::PinnedPool pool(device);
  auto stream = device::Stream::create(device).value();
  std::vector<std::byte> bytes(4000000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  const auto on_device = device::Buffer::copy_of(device, bytes).value();
  std::vector<DevicePiece> pieces;
  std::vector<size_t> numbers;
  std::vector<bool> wrong(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const uint64_t at = i % 3 == 0 ? random() % 1000000 : random() % 1000000 / 64 * 64;
    uint64_t checksum = xxh3_64(bytes.data() + at, sizes[i]);
    numbers.push_back(i);
    if (i % 7 == 3) {
      checksum ^= uint64_t{1} << random() % 64;
      wrong[i] = true;
    }
    pieces.push_back({on_device.view<const std::byte>().data + at, sizes[i], checksum});
  }
  ChecksumGpu checks = ChecksumGpu::create(pool, pieces.size()).value();
  ASSERT_TRUE(checks.check(numbers, pieces, stream));
  ASSERT_TRUE(checks.collect(stream) && stream.synchronize());
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(checks.is_wrong(i), wrong[i]) << sizes[i] << " bytes";
  }
}

}  // namespace
}  // namespace hoist::tensors
