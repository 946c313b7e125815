// What `hoist tune` runs for px. Without a GPU there is nothing to compare.
#include "px/place/operation.h"

#include <gtest/gtest.h>

#include "device/device.h"
#include "px/compile/own_cache.h"

namespace hoist::px {
namespace {

constexpr placement::Shape kSmall = {uint64_t{1} << 20, 1};

TEST(Operation, IsMeasuredOnlyWhereThereIsAGpu) {
  if (device::cuda_device()) GTEST_SKIP() << "there is one";
  const placement::Operation px = operation("/nothing");
  for (size_t variant = 0; variant < px.variants.size(); ++variant) {
    const auto run = px.prepare(variant, kSmall, testing::TempDir());
    ASSERT_FALSE(run) << px.full_name(variant);
    EXPECT_EQ(run.error().code, ErrorCode::unavailable) << run.error().message;
  }
}

TEST(OperationGpu, RunsOnBoth) {
  if (!device::cuda_device()) GTEST_SKIP() << "no GPU";
  const placement::Operation px = operation("/nothing");
  for (size_t variant = 0; variant < 2; ++variant) {  // the third runs `hoist px`
    const auto run = px.prepare(variant, kSmall, testing::TempDir());
    ASSERT_TRUE(run) << run.error().message;
    for (size_t implementation = 0; implementation < 2; ++implementation) {
      const Status done = (*run)(implementation);
      EXPECT_TRUE(done) << done.error().message;
    }
  }
}

}  // namespace
}  // namespace hoist::px
