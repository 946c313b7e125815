#include "ops/gemm/spread.h"

#include <gtest/gtest.h>

#include "device/test_devices.h"
#include "ops/gemm/check.h"
#include "ops/gemm/gemm_testing.h"

namespace hoist::gemm {
namespace {

TEST(Split, PartsTogetherAreTheCall) {
  int several = 0;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    Problem problem = ProblemMaker(seed, seed % 2 == 0 ? 6 : 150).make();
    if (problem.call.routine == HOIST_BLAS_TRSM && seed % 2 != 0) continue;  // not exact
    Problem expected = problem;
    expected.point();
    run_reference(expected.call);
    const std::vector<hoist_blas_call> parts = split(problem.call, 1 + seed % 4);
    several += parts.size() > 1;
    ASSERT_LE(parts.size(), 1 + seed % 4);
    for (const hoist_blas_call& part : parts) run_reference(part);
    ASSERT_EQ(problem.c, expected.c) << "seed " << seed << ", routine " << problem.call.routine;
  }
  EXPECT_GT(several, 200);
}

TEST(Split, PartsOfABatchTogetherAreTheBatch) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    BatchMaker::Batch batch = BatchMaker(seed, 6, 20).make();
    BatchMaker::Batch expected = batch;
    expected.point(batch);
    run_reference(expected.call);
    for (const hoist_blas_call& part : split(batch.call, 1 + seed % 4)) run_reference(part);
    ASSERT_EQ(batch.memory[2], expected.memory[2]) << "seed " << seed;
  }
}

// A device with its own transfer.
struct Site {
  explicit Site(device::Device& at) : device(at), pool(at), transfer(pool) {}
  Place place() { return {&device, &transfer, nullptr}; }
  device::Device& device;
  device::PinnedPool pool;
  device::Transfer transfer;
};

class Spread : public device::OnDevices {};
INSTANTIATE_TEST_SUITE_P(Gemm, Spread, device::kTestDevices, device::device_name);

// Where there are two GPUs, on both; else on one and on the CPU's.
TEST_P(Spread, EqualsReferenceInAllOfTheMemory) {
  const Result<device::Device*> other = device::cuda_device(1);
  Site first(device());
  Site second(other ? **other : device());
  const Place places[] = {first.place(), second.place()};
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Problem problem = ProblemMaker(seed, 140).make();
    if (problem.call.routine == HOIST_BLAS_TRSM) continue;  // not exact
    Problem expected = problem;
    expected.point();
    run_reference(expected.call);
    const Status done = run_spread(problem.call, places, /*panel_bytes=*/1 + seed * 371 % 65536);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(problem.c, expected.c) << "seed " << seed << ", routine " << problem.call.routine;
  }
}

TEST(SpreadFailure, OfOneDeviceLeavesTheResultAsItWas) {
  int failures = 0;
  for (int operations = 0; operations < 200; ++operations) {
    Problem problem = ProblemMaker(static_cast<uint64_t>(operations) + 1, 40).make();
    const std::vector<std::byte> before = problem.c;
    const bool is_read = make_plan(problem.call).operands[2].is_read;
    device::FailingDevice device(operations);
    Site good(device::cpu_device());
    Site bad(device);
    Place places[] = {good.place(), bad.place()};
    if (operations % 2 == 0) std::swap(places[0], places[1]);
    if (run_spread(problem.call, places, /*panel_bytes=*/256)) continue;
    ++failures;
    if (!is_read) continue;
    ASSERT_EQ(problem.c, before) << "operations " << operations;
  }
  EXPECT_GT(failures, 20);
}

}  // namespace
}  // namespace hoist::gemm
