// What a process that uses one GPU alone does to the first one of a machine with several: a program
// of its own, since no other test may have used that.
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

bool thread_has_context() {
  void* context = nullptr;
  EXPECT_EQ(driver("cuCtxGetCurrent", &context), 0);
  return context != nullptr;
}

TEST(SecondDevice, UseOfItMakesNoContextOnTheFirst) {
  const Result<Device*> second = find_device("cuda:1");
  if (!second) GTEST_SKIP() << second.error().message;
  const auto use = [&] {
    const bool had_context = thread_has_context();
    Stream stream = Stream::create(**second).value();
    const Buffer buffer = Buffer::allocate(stream, 1 << 20).value();
    std::vector<std::byte> bytes(buffer.size(), std::byte{7});
    ASSERT_TRUE((*second)->copy(buffer.data(), bytes.data(), bytes.size(), {}));
    ASSERT_TRUE((*second)->fill(buffer.data(), std::byte{9}, 1000, {}));
    ASSERT_TRUE((*second)->copy(bytes.data(), buffer.data(), bytes.size(), {}));
    ASSERT_TRUE(stream.synchronize());
    EXPECT_EQ(bytes[999], std::byte{9});
    EXPECT_EQ(bytes[1000], std::byte{7});
    EXPECT_EQ(thread_has_context(), had_context);
  };
  EXPECT_FALSE(thread_has_context());
  use();
  std::thread(use).join();
  EXPECT_TRUE(has_context(1));
  EXPECT_FALSE(has_context(0));

  // A thread that has chosen the first one has it afterwards, too.
  Device& first = **find_device("cuda:0");
  const Stream stream = Stream::create(first).value();
  const Buffer here = Buffer::allocate(stream, 1 << 20).value();
  EXPECT_TRUE(has_context(0));
  use();
  ASSERT_TRUE(first.fill(here.data(), std::byte{1}, here.size(), {}));
}

}  // namespace
}  // namespace hoist::device
