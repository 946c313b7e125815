// Which contexts a process has after it used devices, and which of them its threads have current: a
// program of its own, since no other test may have used the first device.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <thread>
#include <vector>

#include "device/buffer.h"
#include "device/device.h"
#include "device/stream.h"

namespace hoist::device {
namespace {

template <typename... Arguments>
int driver(const char* name, Arguments... arguments) {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto call = reinterpret_cast<int (*)(Arguments...)>(
      library != nullptr ? ::dlsym(library, name) : nullptr);
  return call != nullptr ? call(arguments...) : -1;
}

bool has_context(int device) {
  unsigned flags = 0;
  int active = -1;
  EXPECT_EQ(driver("cuDevicePrimaryCtxGetState", device, &flags, &active), 0);
  return active != 0;
}

void* context_of_thread() {
  void* context = nullptr;
  EXPECT_EQ(driver("cuCtxGetCurrent", &context), 0);
  return context;
}

// Whatever calls for a device may do; the thread's context must be what it was.
void use(Device& device) {
  void* const before = context_of_thread();
  Stream stream = Stream::create(device).value();
  const Buffer buffer = Buffer::allocate(stream, 1 << 20).value();
  std::vector<std::byte> bytes(buffer.size(), std::byte{7});
  ASSERT_TRUE(device.copy(buffer.data(), bytes.data(), bytes.size(), {}));
  ASSERT_TRUE(device.fill(buffer.data(), std::byte{9}, 1000, {}));
  ASSERT_TRUE(device.copy(bytes.data(), buffer.data(), bytes.size(), {}));
  ASSERT_TRUE(stream.synchronize());
  EXPECT_EQ(bytes[999], std::byte{9});
  EXPECT_EQ(bytes[1000], std::byte{7});
  EXPECT_EQ(context_of_thread(), before);
}

// The first test: it wants no context anywhere.
TEST(Contexts, UseOfTheSecondDeviceMakesNoneOnTheFirst) {
  const Result<Device*> second = find_device("cuda:1");
  if (!second) GTEST_SKIP() << second.error().message;
  EXPECT_EQ(context_of_thread(), nullptr);
  EXPECT_EQ((*second)->memory().error().code, ErrorCode::unavailable);
  EXPECT_FALSE(has_context(1));
  use(**second);
  EXPECT_GT((*second)->memory().value().total, 0U);
  EXPECT_EQ((*find_device("cuda:0"))->memory().error().code, ErrorCode::unavailable);
  std::thread([&] { use(**second); }).join();
  EXPECT_TRUE(has_context(1));
  EXPECT_FALSE(has_context(0));
}

TEST(Contexts, AThreadThatHasNoneHasNoneAfterwards) {
  const Result<Device*> first = find_device("cuda:0");
  if (!first) GTEST_SKIP() << first.error().message;
  std::thread([&] {
    use(**first);
    EXPECT_EQ(context_of_thread(), nullptr);
  }).join();
  EXPECT_TRUE(has_context(0));
}

TEST(Contexts, AThreadKeepsItsOwn) {
  const Result<Device*> first = find_device("cuda:0");
  if (!first) GTEST_SKIP() << first.error().message;
  const Result<Device*> second = find_device("cuda:1");
  void* own = nullptr;
  ASSERT_EQ(driver("cuCtxCreate_v2", &own, 0U, 0), 0);
  ASSERT_EQ(context_of_thread(), own);
  // What one thread makes others use, who have no such context.
  const Stream stream = Stream::create(**first).value();
  const Buffer buffer = Buffer::allocate(stream, 1 << 20).value();
  use(**first);
  if (second) use(**second);
  std::thread([&] {
    EXPECT_TRUE((*first)->fill(buffer.data(), std::byte{1}, buffer.size(), stream.handle()));
  }).join();
  EXPECT_TRUE((*first)->synchronize(stream.handle()));
  EXPECT_EQ(context_of_thread(), own);
  EXPECT_EQ(driver("cuCtxDestroy_v2", own), 0);
}

}  // namespace
}  // namespace hoist::device
