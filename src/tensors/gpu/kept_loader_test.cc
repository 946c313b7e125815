#include "tensors/gpu/kept_loader.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <span>
#include <stop_token>

#include "base/test_seed.h"
#include "device/device.h"
#include "tensors/gpu/load_testing.h"

namespace hoist::tensors {
namespace {

class KeptLoaderTest : public testing::Test {
 protected:
  KeptLoaderTest() {
    for (int i = 0; i < 4; ++i) test_.add(DType::bf16, {1000, 1100});
    test_.write({});
  }
  HoloTensorReader open() const { return HoloTensorReader::open(test_.path()).value(); }
  void expect_exact(const DeviceModel& model) const {
    ASSERT_EQ(model.tensors.size(), test_.contents().size());
    for (size_t i = 0; i < model.tensors.size(); ++i) {
      const device::Span<std::byte>& data = model.tensors[i].data;
      EXPECT_TRUE(std::ranges::equal(std::span(data.data, data.size), test_.contents()[i])) << i;
    }
  }

 private:
  std::mt19937_64 random_{test_seed()};
  HoloFileTest test_{random_};
};

TEST(KeptLoader, OneIsKeptAndThoseThatOverlapAreDifferent) {
  device::Device& device = device::cpu_device();
  const auto borrowed = [&] { return &*KeptLoader(device); };
  ModelLoader* const first = borrowed();
  EXPECT_EQ(borrowed(), first);
  ModelLoader* second = nullptr;
  {
    const KeptLoader one(device);
    const KeptLoader other(device);
    EXPECT_EQ(&*one, first);
    second = &*other;
    EXPECT_NE(second, first);
  }
  EXPECT_EQ(borrowed(), second);  // given back first
}

TEST_F(KeptLoaderTest, LoadsAfterOneThatFailed) {
  const HoloTensorReader file = open();
  std::stop_source stop;
  stop.request_stop();
  const KeptLoader loader(device::cpu_device());
  EXPECT_EQ(loader->load(file, {.stop = stop.get_token()}).error().code, ErrorCode::cancelled);
  EXPECT_EQ(loader->load(file, {.only = {{99}}}).error().code, ErrorCode::invalid_argument);
  const auto model = loader->load(file);
  ASSERT_TRUE(model);
  expect_exact(*model);
}

#if !defined(__SANITIZE_THREAD__)  // whose runtime starts no threads in a child
// The parent's has threads that a child has not.
TEST_F(KeptLoaderTest, AChildHasItsOwn) {
  const HoloTensorReader file = open();
  device::Device& device = device::cpu_device();
  ASSERT_TRUE(KeptLoader(device)->load(file));
  std::optional<KeptLoader> held(std::in_place, device);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    held.reset();
    const bool loads = KeptLoader(device)->load(file).has_value();
    ::_exit(loads ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const auto model = (*held)->load(file);
  ASSERT_TRUE(model);
  expect_exact(*model);
}
#endif

}  // namespace
}  // namespace hoist::tensors
