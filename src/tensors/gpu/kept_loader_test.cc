#include "tensors/gpu/kept_loader.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "base/test_seed.h"
#include "device/device.h"
#include "tensors/gpu/load_testing.h"

namespace hoist::tensors {
namespace {

TEST(KeptLoader, OneIsKeptAndThoseThatOverlapAreDifferent) {
  device::Device& device = device::cpu_device();
  const auto borrowed = [&] { return &*KeptLoader(device); };
  GpuModelLoader* const first = borrowed();
  EXPECT_EQ(borrowed(), first);
  {
    const KeptLoader one(device);
    const KeptLoader other(device);
    EXPECT_EQ(&*one, first);
    EXPECT_NE(&*other, first);
  }
  EXPECT_NE(borrowed(), nullptr);
}

#if !defined(__SANITIZE_THREAD__)  // whose runtime starts no threads in a child
// The parent's has threads that a child has not.
TEST(KeptLoader, AChildHasItsOwn) {
  std::mt19937_64 random(test_seed());
  HoloFileTest test(random);
  for (int i = 0; i < 4; ++i) test.add(DType::bf16, {1000, 1100});
  test.write({});
  const HoloTensorReader file = HoloTensorReader::open(test.path()).value();
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
  EXPECT_TRUE((*held)->load(file));
}
#endif

}  // namespace
}  // namespace hoist::tensors
