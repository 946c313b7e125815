#include "px/compile/nvrtc.h"

#include <gtest/gtest.h>

#include "base/test_seed.h"
#include "px/compile/gpu_module.h"
#include "px/emit/cuda.h"
#include "px/random/kernels.h"

namespace hoist::px {
namespace {

// No GPU is needed to compile for one.
class NvrtcTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<std::string> version = nvrtc_version();
    if (!version) GTEST_SKIP() << version.error().message;
  }
};

TEST_F(NvrtcTest, TakesWhatIsEmitted) {
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t seed = test_seed() + i;
    const Code code = emit_cuda(random_module(seed, {.kernels = 4}), i % 2 == 1);
    const auto compiled = compile_cuda(code.text, "sm_90", cuda_options(256));
    ASSERT_TRUE(compiled) << "module " << seed << ": " << compiled.error().message;
  }
}

TEST_F(NvrtcTest, GivesPtxToo) {
  const auto ptx =
      compile_cuda("extern \"C\" __global__ void k() {}", "compute_90", cuda_options(256));
  ASSERT_TRUE(ptx) << ptx.error().message;
  const std::string_view text(reinterpret_cast<const char*>(ptx->data()), ptx->size());
  EXPECT_NE(text.find(".visible .entry k"), std::string_view::npos);
}

TEST_F(NvrtcTest, SaysWhatItDoesNotLike) {
  const auto refused = compile_cuda("int x = y;", "sm_90", cuda_options(256));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::internal);
  EXPECT_NE(refused.error().message.find("\"y\""), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace hoist::px
