#include "device/cuda_memory.h"

#include <gtest/gtest.h>

#include "device/cuda_plugin.h"

namespace hoist::device {
namespace {

TEST(CudaMemory, FillTakesTime) {
  if (Status available = cuda_available(); !available) GTEST_SKIP() << available.error().message;
  Result<Buffer> buffer = allocate_on_cuda(64 << 20);
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

TEST(CudaMemory, WhatWasAnsweredIsNotHeldAgainstTheNext) {
  if (Status available = cuda_available(); !available) GTEST_SKIP() << available.error().message;
  EXPECT_EQ(allocate_on_cuda(size_t{1} << 50).error().code, ErrorCode::exhausted);
  const Status waited = cuda_synchronize();
  EXPECT_TRUE(waited) << waited.error().message;
}

}  // namespace
}  // namespace hoist::device
