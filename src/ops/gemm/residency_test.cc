#include "ops/gemm/residency.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "device/test_devices.h"
#include "ops/gemm/gemm_testing.h"
#include "ops/gemm/run.h"

namespace hoist::gemm {
namespace {

TEST(KeptRanges, KnowWhatIsInThem) {
  KeptRanges ranges;
  std::vector<std::byte> memory(1000);
  const std::byte* const at = memory.data();
  EXPECT_EQ(ranges.content(at, 1), 0U);
  EXPECT_EQ(ranges.keep(nullptr, 8), EINVAL);
  EXPECT_EQ(ranges.keep(at, 0), EINVAL);
  EXPECT_EQ(ranges.keep(at, SIZE_MAX), EINVAL);
  EXPECT_EQ(ranges.keep(at + 100, 100), 0);
  EXPECT_EQ(ranges.keep(at + 200, 100), 0);  // beside it, not in it
  for (const size_t first : {100, 150, 50, 199, 0}) {
    EXPECT_EQ(ranges.keep(at + first, first == 0 ? 500 : 60), EINVAL) << first;
  }
  EXPECT_NE(ranges.content(at + 100, 100), 0U);
  EXPECT_NE(ranges.content(at + 199, 1), 0U);
  EXPECT_EQ(ranges.content(at + 199, 2), 0U);  // one range holds all of it, or none
  EXPECT_EQ(ranges.content(at + 99, 2), 0U);
  EXPECT_EQ(ranges.content(at + 300, 1), 0U);
  EXPECT_NE(ranges.content(at + 100, 1), ranges.content(at + 200, 1));
}

TEST(KeptRanges, GetANewContentWithEveryChange) {
  KeptRanges ranges;
  std::vector<std::byte> memory(1000);
  const std::byte* const at = memory.data();
  ASSERT_EQ(ranges.keep(at + 100, 100), 0);
  ASSERT_EQ(ranges.keep(at + 300, 100), 0);
  const uint64_t first = ranges.content(at + 100, 1);
  const uint64_t second = ranges.content(at + 300, 1);
  EXPECT_EQ(ranges.dirty(at, 100), ENOENT);
  EXPECT_EQ(ranges.dirty(at + 200, 100), ENOENT);
  EXPECT_EQ(ranges.dirty(nullptr, 1), EINVAL);
  EXPECT_EQ(ranges.content(at + 100, 1), first);
  EXPECT_EQ(ranges.dirty(at + 199, 2), 0);
  EXPECT_NE(ranges.content(at + 100, 1), first);
  EXPECT_EQ(ranges.content(at + 300, 1), second);
  EXPECT_EQ(ranges.dirty(at, 1000), 0);
  EXPECT_NE(ranges.content(at + 300, 1), second);
  EXPECT_EQ(ranges.release(at + 150), ENOENT);
  EXPECT_EQ(ranges.release(at + 100), 0);
  EXPECT_EQ(ranges.release(at + 100), ENOENT);
  EXPECT_EQ(ranges.content(at + 100, 1), 0U);
  ASSERT_EQ(ranges.keep(at + 100, 100), 0);  // not what it was
  EXPECT_NE(ranges.content(at + 100, 1), first);
}

class Resident : public device::OnDevices {};
INSTANTIATE_TEST_SUITE_P(Gemm, Resident, device::kTestDevices, device::device_name);

// Every routine and cut, with A and B kept: the copy is used, whole, whatever the memory holds now.
TEST_P(Resident, CopiesStandForTheMatrices) {
  device::PinnedPool pool(device());
  device::Transfer transfer(pool);
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    KeptRanges ranges;
    ResidentMatrices resident(ranges);
    Problem problem = ProblemMaker(seed, seed % 2 == 0 ? 6 : 40).make();
    if (problem.call.routine == HOIST_BLAS_TRSM && seed % 2 != 0) continue;  // not exact
    Problem expected = problem;
    expected.point();
    const uint64_t panel = 1 + seed * 37 % 4096;
    ASSERT_EQ(ranges.keep(problem.a.data(), problem.a.size()), 0);
    if (!problem.b.empty()) {
      ASSERT_EQ(ranges.keep(problem.b.data(), problem.b.size()), 0);
    }
    for (int round = 0; round < 3; ++round) {
      run_reference(expected.call);
      ASSERT_TRUE(run(problem.call, device(), transfer, panel, &resident));
      ASSERT_EQ(problem.c, expected.c) << "seed " << seed << ", round " << round;
      // The promise is broken: nothing of this may be seen.
      for (std::byte& byte : problem.a) byte ^= std::byte{0x10};
    }
    if (seed % 3 != 0) continue;
    problem.a = expected.a;
    ASSERT_EQ(ranges.dirty(problem.a.data(), problem.a.size()), 0);
    const double factor = 2;
    put(problem.a.data(), problem.call.type, factor, 0);
    put(expected.a.data(), problem.call.type, factor, 0);
    run_reference(expected.call);
    ASSERT_TRUE(run(problem.call, device(), transfer, panel, &resident));
    if (problem.call.routine == HOIST_BLAS_TRSM) continue;
    ASSERT_EQ(problem.c, expected.c) << "seed " << seed;
  }
}

TEST(ResidentMatrices, GoWithTheirRangeOrWhenToldTo) {
  KeptRanges ranges;
  ResidentMatrices resident(ranges);
  device::Device& device = device::cpu_device();
  std::vector<double> memory(64);
  const Operand operand = {
      .data = reinterpret_cast<std::byte*>(memory.data()), .rows = 8, .columns = 8, .leading = 8};
  EXPECT_EQ(resident.find(device, operand, 8).buffer, nullptr);
  EXPECT_FALSE(resident.drop());
  const auto take = [&] {
    const ResidentMatrices::Copy copy = resident.find(device, operand, 8);
    EXPECT_NE(copy.buffer, nullptr);
    EXPECT_FALSE(copy.is_there);
    resident.add(operand, 8, copy);
    EXPECT_TRUE(resident.find(device, operand, 8).is_there);
    return std::weak_ptr<device::Buffer>(copy.buffer);
  };
  ASSERT_EQ(ranges.keep(memory.data(), 512), 0);
  std::weak_ptr<device::Buffer> buffer = take();
  EXPECT_TRUE(resident.drop());
  EXPECT_TRUE(buffer.expired());
  buffer = take();
  resident.prune();
  EXPECT_FALSE(buffer.expired());
  hoist_blas_call call = {};
  call.routine = HOIST_BLAS_GEMM;
  call.type = 'd';
  call.m = call.n = call.k = call.ldc = 8;
  call.c = memory.data();
  ranges.written_by(call, /*is_ours=*/true);
  resident.prune();
  EXPECT_TRUE(buffer.expired());
  buffer = take();
  ASSERT_EQ(ranges.release(memory.data()), 0);
  resident.prune();
  EXPECT_TRUE(buffer.expired());
}

}  // namespace
}  // namespace hoist::gemm
