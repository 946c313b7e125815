// Launches that need no GPU: what is refused, and the CPU device's way. With a GPU: a function of
// the plug-in, on a stream, and in a child after fork().
#include "device/kernel.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/fork_testing.h"
#include "device/buffer.h"
#include "device/cuda_device.h"

namespace hoist::device {
namespace {

constinit const Kernel<void*, const void*, size_t> copy("hoist_cuda_copy", "a copy");
constinit const Kernel<int> nothing("hoist_cuda_no_such_kernel", "nothing at all");

// Says that it is a GPU.
class ClaimedGpu : public CudaDevice {
 public:
  ClaimedGpu() : CudaDevice(claimed(), kNoCalls) {}
  Status status() const override {
    if (is_lost) return fail(ErrorCode::unavailable, "lost (test)");
    return {};
  }
  bool is_lost = false;

 private:
  static constexpr CudaCalls kNoCalls = {};
  static DeviceProperties claimed() {
    DeviceProperties properties;
    properties.kind = DeviceKind::cuda;
    return properties;
  }
};

TEST(Kernel, TheCpuDeviceHasNone) {
  const Status launched = nothing.launch(cpu_device(), {}, 1);
  EXPECT_EQ(launched.error().code, ErrorCode::unsupported);
  EXPECT_EQ(launched.error().message, "nothing at all: cpu is no CUDA device");
}

TEST(Kernel, TheCpuDeviceRunsTheHostsFunctionInTheStreamsOrder) {
  const Stream stream = Stream::create(cpu_device()).value();
  std::vector<int> order;
  const Status called = cpu_device().call(stream.handle(), [&] { order.push_back(1); });
  ASSERT_TRUE(called);
  ASSERT_TRUE(nothing.launch_or_run(
      stream, [&] { order.push_back(2); }, 7));
  ASSERT_TRUE(cpu_device().synchronize(stream.handle()));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Kernel, WithoutAStreamTheHostsFunctionIsDoneAtOnce) {
  const std::thread::id here = std::this_thread::get_id();
  std::thread::id there;
  ASSERT_TRUE(run_on_host(cpu_device(), {}, [&] { there = std::this_thread::get_id(); }));
  EXPECT_EQ(there, here);
}

TEST(Kernel, ALostDeviceGivesItsReason) {
  ClaimedGpu gpu;
  gpu.is_lost = true;
  const Status launched = nothing.launch(gpu, {}, 1);
  EXPECT_EQ(launched.error().message, "lost (test)");
}

TEST(Kernel, WithoutThePlugInItsReasonIsGiven) {
  const Status available = cuda_available();
  if (available) GTEST_SKIP() << "there is a GPU";
  ClaimedGpu gpu;
  const Status launched = nothing.launch(gpu, {}, 1);
  EXPECT_EQ(launched.error().code, available.error().code);
  EXPECT_EQ(launched.error().message, available.error().message);
}

class KernelGpu : public testing::Test {
 protected:
  void SetUp() override {
    const Result<Device*> found = cuda_device();
    if (!found) GTEST_SKIP() << found.error().message;
    device_ = *found;
  }
  Device* device_ = nullptr;
};

TEST_F(KernelGpu, WorkIsDoneOnTheStream) {
  const Stream stream = Stream::create(*device_).value();
  const std::vector<std::byte> bytes(4096, std::byte{0x5a});
  const Buffer from = Buffer::copy_of(*device_, bytes).value();
  const Buffer to = Buffer::allocate(*device_, bytes.size()).value();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(device_->fill(to.data(), std::byte{1}, to.size(), stream.handle()));
    const Status launched = copy.launch(stream, to.data(), from.data(), bytes.size());
    ASSERT_TRUE(launched) << launched.error().message;
    ASSERT_TRUE(device_->synchronize(stream.handle()));
    std::vector<std::byte> back(bytes.size());
    ASSERT_TRUE(to.download(back));
    EXPECT_EQ(back, bytes);
  }
}

TEST_F(KernelGpu, AFunctionThatIsMissingIsNamed) {
  const Stream stream = Stream::create(*device_).value();
  const Status launched = nothing.launch(stream, 1);
  EXPECT_EQ(launched.error().code, ErrorCode::internal);
  EXPECT_EQ(launched.error().message, "libhoist_cuda.so has no hoist_cuda_no_such_kernel");
}

// The function was found before fork(): what is kept of it is not used.
TEST_F(KernelGpu, AChildIsRefused) {
  const Stream stream = Stream::create(*device_).value();
  const std::vector<std::byte> bytes(64, std::byte{1});
  const Buffer buffer = Buffer::copy_of(*device_, bytes).value();
  const Buffer other = Buffer::allocate(*device_, bytes.size()).value();
  const auto launch = [&] {
    return copy.launch(stream, other.data(), buffer.data(), bytes.size());
  };
  ASSERT_TRUE(launch());
  EXPECT_TRUE(in_child([&] {
    const Status launched = launch();
    return !launched && launched.error().code == ErrorCode::unavailable;
  }));
  EXPECT_TRUE(launch());
  EXPECT_TRUE(device_->synchronize(stream.handle()));
}

}  // namespace
}  // namespace hoist::device
