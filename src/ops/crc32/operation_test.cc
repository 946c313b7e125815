#include "ops/crc32/operation.h"

#include <gtest/gtest.h>

#include "device/test_devices.h"

namespace hoist::crc32 {
namespace {

class OperationTest : public device::OnDevices {};

TEST_P(OperationTest, BothComputeTheSame) {
  const placement::Operation described = operation();
  for (const uint64_t bytes : {0, 1, 15, 16, 1000, 1 << 20, (3 << 20) + 5}) {
    const Result<placement::Run> run = prepare_on(device(), bytes);
    ASSERT_TRUE(run) << run.error().message;
    for (size_t i = 0; i < described.implementations.size(); ++i) {
      for (int again = 0; again < 2; ++again) {
        const Status done = (*run)(i);
        EXPECT_TRUE(done) << bytes << " " << i << " " << done.error().message;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, OperationTest, device::kTestDevices, device::device_name);

}  // namespace
}  // namespace hoist::crc32
