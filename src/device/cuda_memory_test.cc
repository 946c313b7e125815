#include "device/cuda_memory.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "device/cuda_plugin.h"
#include "device/device.h"
#include "device/fence.h"
#include "device/pinned_pool.h"
#include "device/stream.h"

namespace hoist::device {
namespace {

TEST(CudaMemory, FillTakesTime) {
  if (Status available = cuda_available(); !available) GTEST_SKIP() << available.error().message;
  Result<Buffer> buffer = allocate_on_cuda(64 << 20);
  Result<Stream> stream = stream_on_cuda();
  ASSERT_TRUE(buffer && stream);
  Result<CudaTimer> timer = CudaTimer::create(*stream);
  ASSERT_TRUE(timer) << timer.error().message;
  ASSERT_TRUE(timer->start());
  ASSERT_TRUE(stream->fill(buffer->data(), std::byte{0xa5}, buffer->size()));
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
  Result<Stream> stream = stream_on_cuda();
  ASSERT_TRUE(stream) << stream.error().message;
  const Status waited = stream->synchronize();
  EXPECT_TRUE(waited) << waited.error().message;
}

TEST(CudaMemory, TellsWhatIsUsed) {
  if (Status available = cuda_available(); !available) GTEST_SKIP() << available.error().message;
  constexpr size_t kLarge = size_t{1} << 30;
  Device& device = **find_device("cuda:0");
  const Stream stream = Stream::create(device).value();
  const DeviceMemory before = device.memory().value();
  EXPECT_LE(before.used, before.total);
  // Without a stream the pool has no part in it.
  const Buffer large = Buffer::allocate(device, kLarge).value();
  const DeviceMemory after = device.memory().value();
  EXPECT_EQ(after.total, before.total);
  EXPECT_GE(after.used, kLarge);
}

// What other processes could have; they may take and give some meanwhile.
size_t free_memory() {
  const DeviceMemory memory = (*find_device("cuda:0"))->memory().value();
  return memory.total - memory.used;
}

TEST(CudaMemory, WhatThePoolKeepsIsGivenBack) {
  if (Status available = cuda_available(); !available) GTEST_SKIP() << available.error().message;
  constexpr size_t kLarge = size_t{1} << 30;
  Device& device = **find_device("cuda:0");
  PinnedPool pinned(device);
  Fences fences = Fences::create(pinned, 1).value();
  for (const bool with_its_stream : {false, true}) {
    SCOPED_TRACE(with_its_stream);
    std::optional<Stream> stream = Stream::create(device).value();
    { const Buffer large = Buffer::allocate(*stream, kLarge).value(); }
    // As a daemon's worker waits, which the runtime does not hear of.
    ASSERT_TRUE(fences.list[0].record(*stream));
    ASSERT_TRUE(fences.list[0].wait({}));
    if (with_its_stream) stream.reset();
    const size_t before = free_memory();
    ASSERT_TRUE(device.trim());
    EXPECT_GE(free_memory(), before + kLarge / 2);
  }
}

// Bytes that the pool which programs use by default keeps, by the driver.
uint64_t threshold_of_default_pool() {
  constexpr int kReleaseThreshold = 4;  // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD of cuda.h
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto find = reinterpret_cast<int (*)(void**, int)>(
      driver != nullptr ? ::dlsym(driver, "cuDeviceGetDefaultMemPool") : nullptr);
  const auto ask = reinterpret_cast<int (*)(void*, int, void*)>(
      driver != nullptr ? ::dlsym(driver, "cuMemPoolGetAttribute") : nullptr);
  void* pool = nullptr;
  uint64_t bytes = UINT64_MAX;
  EXPECT_TRUE(find != nullptr && ask != nullptr && find(&pool, 0) == 0 &&
              ask(pool, kReleaseThreshold, &bytes) == 0);
  return bytes;
}

TEST(CudaMemory, TheProgramsOwnPoolIsLeftAsItIs) {
  if (Status available = cuda_available(); !available) GTEST_SKIP() << available.error().message;
  Device& device = **find_device("cuda:0");
  Stream stream = Stream::create(device).value();
  { const Buffer buffer = Buffer::allocate(stream, 1 << 20).value(); }
  ASSERT_TRUE(stream.synchronize());
  EXPECT_EQ(threshold_of_default_pool(), 0);
}

}  // namespace
}  // namespace hoist::device
