#include "device/cuda_plugin.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hoist::device {
namespace {

// Each case in a process of its own: the plug-in is looked for once.
void expect_unavailable(const char* name, const char* value, const char* reason) {
  EXPECT_EXIT(
      {
        ::setenv(name, value, 1);
        const Result<void*> symbol = cuda_symbol("hoist_cuda_copy");
        const bool as_expected = !symbol && symbol.error().code == ErrorCode::unavailable &&
                                 symbol.error().message.find(reason) != std::string::npos;
        std::_Exit(as_expected ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(CudaPlugin, SwitchesTurnItOff) {
  expect_unavailable("HOIST", "off", "HOIST=off");
  expect_unavailable("HOIST_GPU", "OFF", "HOIST_GPU=off");
}

TEST(CudaPlugin, NoErrorIsASuccess) {
  EXPECT_TRUE(cuda_status(0, "nothing"));
  const Status failed = cuda_status(2, "allocate");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::exhausted);
  EXPECT_TRUE(failed.error().message.starts_with("allocate: "));
}

}  // namespace
}  // namespace hoist::device
