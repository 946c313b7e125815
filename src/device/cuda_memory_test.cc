#include "device/cuda_memory.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "device/cuda_plugin.h"

namespace hoist::device {
namespace {

class CudaMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (Status available = cuda_available(); !available) GTEST_SKIP() << available.error().message;
  }
};

std::vector<std::byte> random_bytes(size_t size) {
  std::mt19937_64 random(7);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST_F(CudaMemory, BytesGoThereAndBack) {
  for (const size_t size : {size_t{1}, size_t{4095}, size_t{1} << 20}) {
    const std::vector<std::byte> sent = random_bytes(size);
    Result<CudaBuffer> buffer = CudaBuffer::copy_of(sent);
    ASSERT_TRUE(buffer) << buffer.error().message;
    std::vector<std::byte> received(size);
    ASSERT_TRUE(buffer->download(received));
    EXPECT_EQ(received, sent);
  }
}

TEST_F(CudaMemory, RangesOutsideAreRefused) {
  Result<CudaBuffer> buffer = CudaBuffer::allocate(100);
  ASSERT_TRUE(buffer);
  std::vector<std::byte> bytes(60);
  EXPECT_TRUE(buffer->upload(bytes, 40));
  EXPECT_EQ(buffer->upload(bytes, 41).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(buffer->download(bytes, SIZE_MAX).error().code, ErrorCode::invalid_argument);
}

TEST_F(CudaMemory, MoreThanThereIsIsExhausted) {
  const Result<CudaBuffer> buffer = CudaBuffer::allocate(size_t{1} << 50);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().code, ErrorCode::exhausted);
  // What was answered is not held against the work that follows.
  const Status waited = cuda_synchronize();
  EXPECT_TRUE(waited) << waited.error().message;
}

TEST_F(CudaMemory, FillTakesTime) {
  Result<CudaBuffer> buffer = CudaBuffer::allocate(64 << 20);
  Result<CudaTimer> timer = CudaTimer::create();
  ASSERT_TRUE(buffer && timer);
  ASSERT_TRUE(timer->start());
  ASSERT_TRUE(buffer->fill(std::byte{0xa5}));
  const Result<double> seconds = timer->stop();
  ASSERT_TRUE(seconds) << seconds.error().message;
  EXPECT_GT(*seconds, 0);
  std::byte last{};
  ASSERT_TRUE(buffer->download({&last, 1}, buffer->size() - 1));
  EXPECT_EQ(last, std::byte{0xa5});
}

}  // namespace
}  // namespace hoist::device
