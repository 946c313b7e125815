// What surrounds the computation: estimates, the BLAS measured beside, the engine's entry points.
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "ops/gemm/estimate.h"
#include "ops/gemm/gemm_testing.h"
#include "ops/gemm/open_device.h"
#include "ops/gemm/operation.h"
#include "ops/gemm/program_blas.h"
#include "ops/gemm/session.h"
#include "ops/gemm/square_product.h"

namespace hoist::gemm {
namespace {

// Seconds of `fixed + rate · operations` at squares from 256 to 8192.
placement::MeasuredImplementation measured(const char* name, double fixed, double rate) {
  placement::MeasuredImplementation result = {.name = name, .points = {}};
  for (double extent = 256; extent <= 8192; extent *= 2) {
    result.points.push_back({.shape = {.bytes = square_bytes('d', extent), .items = 1},
                             .seconds = fixed + rate * std::pow(extent, 3)});
  }
  return result;
}

hoist_blas_call square(int64_t extent) {
  hoist_blas_call call = {};
  call.routine = HOIST_BLAS_GEMM;
  call.type = 'd';
  call.trans_a = call.trans_b = 'N';
  call.m = call.n = call.k = call.lda = call.ldb = call.ldc = extent;
  call.alpha[0] = 1;
  static double somewhere = 0;  // not read
  call.a = call.b = call.c = &somewhere;
  return call;
}

constexpr int kCpus = 16;

placement::Profile profile_of(std::vector<placement::MeasuredImplementation> implementations) {
  placement::MeasuredVariant variant;
  variant.name = variant_name('d');
  variant.implementations = std::move(implementations);
  placement::Profile profile;
  profile.variants = {variant};
  return profile;
}

TEST(Estimate, TakesAsManyDevicesAsAreAhead) {
  const auto profile = profile_of({measured("original", 1e-6, 2e-12), measured("cuda", 1e-3, 1e-13),
                                   measured("cuda-2", 4e-3, 0.5e-13)});
  const std::optional<Estimate> estimate = Estimate::make(profile, 'd', kCpus);
  ASSERT_TRUE(estimate);
  // 2e-12 n³ against 1e-3 + 1e-13 n³, and that against 4e-3 + 0.5e-13 n³: from 808 and 3915 on.
  EXPECT_EQ(estimate->devices(square(100), 8), 0);  // below what was measured
  EXPECT_EQ(estimate->devices(square(512), 8), 0);
  EXPECT_EQ(estimate->devices(square(1200), 8), 1);
  EXPECT_EQ(estimate->devices(square(2500), 8), 1);
  EXPECT_EQ(estimate->devices(square(8000), 8), 2);
  EXPECT_EQ(estimate->devices(square(8000), 1), 1);  // no more than there are
  EXPECT_EQ(estimate->devices(square(8000), 0), 0);
  EXPECT_TRUE(std::isinf(estimate->gpu_seconds(square(8000), 4)));
  // The best of those up to a number.
  const double by_two =
      estimate->original_seconds(square(8000)) - estimate->gpu_seconds(square(8000), 2);
  EXPECT_EQ(estimate->won_seconds(square(8000), 3), by_two);
  EXPECT_LT(estimate->won_seconds(square(8000), 1), by_two);
  EXPECT_GT(estimate->won_seconds(square(8000), 1), 0);
  EXPECT_LT(estimate->won_seconds(square(512), 3), 0);
  // Far beyond what was measured.
  EXPECT_NEAR(estimate->original_seconds(square(32768)), 2e-12 * std::pow(32768, 3), 0.5);
  // As many operations, but 64 times the bytes: that is counted against the GPU.
  hoist_blas_call flat = square(16000);
  flat.k = 100;
  EXPECT_GT(estimate->gpu_seconds(flat), 4 * estimate->gpu_seconds(square(2947)));
}

TEST(Estimate, FewerCpusThanWereMeasuredTakeLonger) {
  auto profile = profile_of({measured("original", 1e-6, 2e-12), measured("cuda", 1e-3, 1e-13)});
  profile.machine.cpus = 16;
  const auto with = [&](int cpus) { return Estimate::make(profile, 'd', cpus).value(); };
  const hoist_blas_call call = square(700);
  const double original = with(16).original_seconds(call);
  const double gpu = with(16).gpu_seconds(call);
  EXPECT_DOUBLE_EQ(with(64).original_seconds(call), original);
  EXPECT_DOUBLE_EQ(with(64).gpu_seconds(call), gpu);
  EXPECT_DOUBLE_EQ(with(8).original_seconds(call), 2 * original);
  EXPECT_DOUBLE_EQ(with(8).gpu_seconds(call), gpu);
  EXPECT_DOUBLE_EQ(with(2).original_seconds(call), 8 * original);
  EXPECT_DOUBLE_EQ(with(2).gpu_seconds(call), 4 * gpu);
  EXPECT_EQ(with(16).devices(call, 1), 0);  // the break-even of 808
  EXPECT_EQ(with(2).devices(call, 1), 1);
}

// Two are ahead of the CPU where one is not.
TEST(Estimate, MayNeedAllItsDevices) {
  const auto profile = profile_of({measured("original", 1e-6, 2e-12), measured("cuda", 1, 1e-13),
                                   measured("cuda-2", 4e-3, 0.5e-13)});
  const std::optional<Estimate> estimate = Estimate::make(profile, 'd', kCpus);
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->devices(square(4096), 2), 2);
  EXPECT_EQ(estimate->devices(square(4096), 1), 0);
}

TEST(Estimate, TakesNoMoreDevicesForNoise) {
  // Two devices seem to take 0.9 of one's time.
  placement::MeasuredImplementation one = measured("cuda", 1e-3, 1e-13);
  placement::MeasuredImplementation two = measured("cuda-2", 0.9e-3, 0.9e-13);
  for (const double noise : {0.02, 0.2}) {
    for (placement::MeasuredImplementation* gpu : {&one, &two}) {
      for (placement::Point& point : gpu->points) {
        point.noise = noise;
        point.runs = 5;
      }
    }
    const std::optional<Estimate> estimate =
        Estimate::make(profile_of({measured("original", 1e-6, 2e-12), one, two}), 'd', kCpus);
    ASSERT_TRUE(estimate);
    EXPECT_EQ(estimate->devices(square(4096), 8), noise < 0.1 ? 2 : 1);
  }
}

TEST(Estimate, OnABusyMachineTakesAGpuThatIsFarAhead) {
  placement::MeasuredImplementation original = measured("original", 1e-6, 2e-12);
  placement::MeasuredImplementation gpu = measured("cuda", 1e-3, 1e-13);
  for (placement::MeasuredImplementation* one : {&original, &gpu}) {
    for (placement::Point& point : one->points) {
      point.noise = 0.3;  // 15 %
      point.runs = 4;
    }
  }
  const std::optional<Estimate> estimate = Estimate::make(profile_of({original, gpu}), 'd', kCpus);
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->devices(square(860), 8), 0);  // 1.2 times as fast
  EXPECT_EQ(estimate->devices(square(4096), 8), 1);
}

TEST(Estimate, IsThereWhereBothWereMeasured) {
  EXPECT_FALSE(Estimate::make(profile_of({measured("original", 1, 1)}), 'd', kCpus));
  EXPECT_FALSE(Estimate::make(profile_of({measured("cuda", 1, 1)}), 'd', kCpus));
  EXPECT_FALSE(Estimate::make(profile_of({measured("original", 1, 1), {"cuda", {}}}), 'd', kCpus));
  EXPECT_FALSE(Estimate::make(profile_of({measured("original", 1, 1), measured("cuda-2", 1, 1)}),
                              'd', kCpus));
  EXPECT_FALSE(
      Estimate::make(profile_of({measured("original", 1, 1), measured("cuda", 1, 1)}), 's', kCpus));
  EXPECT_EQ(Estimate::of('q'), nullptr);
  EXPECT_EQ(Estimate::of('\0'), nullptr);
}

TEST(ProgramBlas, GivesTheReferencesResult) {
  const Result<const ProgramBlas*> blas = ProgramBlas::get();
  if (!blas) GTEST_SKIP() << blas.error().message;
  EXPECT_FALSE((*blas)->path().empty());
  int compared = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Problem problem = ProblemMaker(seed, 20).make();
    if (problem.call.routine != HOIST_BLAS_GEMM) {
      EXPECT_FALSE((*blas)->run(problem.call));
      continue;
    }
    Problem expected = problem;
    expected.point();
    run_reference(expected.call);
    const Status done = (*blas)->run(problem.call);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(problem.c, expected.c) << "seed " << seed;
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

TEST(SquareProduct, HasTheSameValuesEachTime) {
  for (const char type : {'s', 'd', 'c', 'z'}) {
    const SquareProduct first(type, 33);
    const SquareProduct second(type, 33);
    const size_t bytes = 33 * 33 * element_size(type);
    EXPECT_EQ(std::memcmp(first.call().a, second.call().a, bytes), 0);
    EXPECT_NE(std::memcmp(first.call().a, first.call().b, bytes), 0);
    EXPECT_EQ(first.result().size(), bytes);
  }
}

TEST(Operation, MeasuresSquaresOfEachType) {
  const placement::Operation measured = operation();
  ASSERT_EQ(measured.variants.size(), 4U);
  EXPECT_EQ(measured.full_name(1), variant_name('d'));
  EXPECT_EQ(measured.implementations[0].name, "original");
  EXPECT_EQ(measured.implementations[1].name, implementation_name(1));
  EXPECT_EQ(implementation_name(2), "cuda-2");
  if (gpu_count() == 0) {
    const auto run = measured.prepare(0, {1 << 20, 1}, "");
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, ErrorCode::unavailable);
  }
}

// Settings are read once in a process: death tests have one of their own.
TEST(EngineDeathTest, LeavesToTheOriginalWhatNoDeviceTakes) {
  const auto outcome = [](const char* where) {
    ::setenv("HOIST_GPU", where, 1);
    ::setenv("HOIST_SOCKET", "/nonexistent/hoistd.sock", 1);
    const SquareProduct product('d', 64);
    std::vector<std::byte> before;
    before = product.result();  // a copy, to compare with
    const bool is_done = hoist_gemm(&product.call(), &kReferenceOriginal);
    hoist_blas_call nothing = product.call();
    nothing.m = 0;
    const bool is_nothing_done = hoist_gemm(&nothing, &kReferenceOriginal);
    std::exit(!is_done && !is_nothing_done && product.result() == before ? 0 : 1);
  };
  for (const char* where : {"off", "auto", "require"}) {
    EXPECT_EXIT(outcome(where), testing::ExitedWithCode(0), "") << where;
  }
}

TEST(EngineDeathTest, OpensNothingThatIsSwitchedOff) {
  const auto outcome = [] {
    ::setenv("HOIST_GPU", "off", 1);
    const auto device = open_device(0, false, {});
    std::exit(!device && device.error().message == "HOIST_GPU=off" ? 0 : 1);
  };
  EXPECT_EXIT(outcome(), testing::ExitedWithCode(0), "");
}

TEST(EngineDeathTest, OtherDaemonsAreBesideTheFirst) {
  const auto outcome = [] {
    ::setenv("HOIST_GPU", "auto", 1);
    ::setenv("HOIST_SOCKET", "/nonexistent/hoistd.sock", 1);
    std::exit(!open_device(0, false, {}) && !open_device(1, false, {}) ? 0 : 1);
  };
  EXPECT_EXIT(outcome(), testing::ExitedWithCode(0), "");
}

TEST(Engine, KeepsWhatItIsToldTo) {
  std::vector<double> memory(100);
  EXPECT_EQ(hoist_gemm_residency(HOIST_GEMM_DIRTY, memory.data(), 8), ENOENT);
  EXPECT_EQ(hoist_gemm_residency(HOIST_GEMM_KEEP, nullptr, 8), EINVAL);
  EXPECT_EQ(hoist_gemm_residency(HOIST_GEMM_KEEP, memory.data(), 800), 0);
  EXPECT_EQ(hoist_gemm_residency(HOIST_GEMM_KEEP, memory.data(), 800), EINVAL);
  EXPECT_EQ(hoist_gemm_residency(HOIST_GEMM_DIRTY, memory.data() + 50, 8), 0);
  EXPECT_EQ(hoist_gemm_residency(HOIST_GEMM_RELEASE, memory.data(), 1), 0);
  EXPECT_EQ(hoist_gemm_residency(HOIST_GEMM_RELEASE, memory.data(), 1), ENOENT);
}

}  // namespace
}  // namespace hoist::gemm
