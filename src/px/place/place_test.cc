// Work, estimates and choices; with a profile that is made up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "px/compile/own_cache.h"
#include "px/compile_text.h"
#include "px/lower/lower.h"
#include "px/place/choose.h"
#include "px/place/host_arrays.h"
#include "px/place/operation.h"
#include "px/place/rates.h"

namespace hoist::px {
namespace {

using ir::Argument;

// A kernel of arrays a and b and scalar n; 64 blocks of 32 threads.
Work work_of_text(const std::string& body, uint64_t n = 1000) {
  const Result<Lowered> lowered = read_text(
      "GPU_KERNEL k\nGPU_PARAM a in f32[]\nGPU_PARAM b out f32[]\nGPU_PARAM n i32\n"
      "GPU_THREAD_CODE:\nLET t i32 = thread_id()\n" +
      body + "\nGPU_END\n");
  EXPECT_TRUE(lowered) << lowered.error().message;
  const Argument arguments[] = {Argument::array(nullptr, 100), Argument::array(nullptr, 200),
                                Argument::scalar(n)};
  return work_of(*lowered->module.kernels().front(), {.blocks = {64, 1, 1}, .threads = {32, 1, 1}},
                 arguments);
}
double operations_of(const std::string& body, uint64_t n = 1000) {
  return work_of_text(body, n).operations / (64 * 32);
}

TEST(Work, BytesAreThoseOfTheArraysOnce) {
  const Work work = work_of_text("STORE a[0] + a[1] → b[0]");
  EXPECT_EQ(work.bytes_in, 300 * sizeof(float));
  EXPECT_EQ(work.bytes_out, 200 * sizeof(float));
  EXPECT_TRUE(work.is_whole);
}

TEST(Work, LoopsHaveTheTurnsThatTheLaunchSays) {
  const double one = operations_of("FOR i FROM 0 TO 1:\nSTORE a[i] → b[i]\nENDFOR");
  const double ten = operations_of("FOR i FROM 0 TO 10:\nSTORE a[i] → b[i]\nENDFOR");
  EXPECT_DOUBLE_EQ(ten, 10 * one);
  EXPECT_DOUBLE_EQ(operations_of("FOR i FROM 0 TO n:\nSTORE a[i] → b[i]\nENDFOR"), 1000 * one);
  EXPECT_DOUBLE_EQ(operations_of("FOR i FROM 0 TO len(a):\nSTORE a[i] → b[i]\nENDFOR"), 100 * one);
  EXPECT_DOUBLE_EQ(operations_of("FOR i FROM 10 TO 0 STEP -3:\nSTORE a[i] → b[i]\nENDFOR"),
                   4 * one);
  EXPECT_DOUBLE_EQ(
      operations_of("FOR i FROM 0 TO n:\nSTORE a[i] → b[i]\nENDFOR", static_cast<uint32_t>(-5)), 0);
  // A stride of the whole grid, from the thread on: as the first thread does it.
  EXPECT_EQ(work_of_text("FOR i FROM thread_id() TO 4096 STEP block_size() * grid_size():\n"
                         "STORE a[0] → b[0]\nENDFOR")
                .is_whole,
            true);
}

TEST(Work, WhatNobodyKnowsIsOneTurnAndSaidSo) {
  for (const char* loop : {"WHILE a[0] < f32(t):\nSTORE a[0] → b[0]\nENDWHILE",
                           "FOR i FROM 0 TO i32(a[0]):\nSTORE a[0] → b[0]\nENDFOR"}) {
    const Work work = work_of_text(loop);
    EXPECT_FALSE(work.is_whole) << loop;
    EXPECT_GT(work.operations, 0) << loop;
  }
}

// In a loop of known turns threads lie in the lanes of vectors.
TEST(Work, LoopsOfUnknownTurnsAreNotInVectors) {
  const auto scalar = [](const char* text) {
    const Work work = work_of_text(text);
    return work.scalar_operations / work.operations;
  };
  EXPECT_EQ(scalar("FOR i FROM 0 TO 100:\nSTORE a[i] → b[i]\nENDFOR"), 0);
  const double unknown = scalar("FOR i FROM 0 TO len(a):\nSTORE a[i] → b[i]\nENDFOR");
  EXPECT_GT(unknown, 0.9);
  EXPECT_LE(unknown, 1);
  const double inside =
      scalar("FOR j FROM 0 TO 100:\nFOR i FROM 0 TO len(a):\nSTORE a[i] → b[i]\nENDFOR\nENDFOR");
  EXPECT_GT(inside, 0.9);
  EXPECT_LE(inside, 1);
  const double both =
      scalar("FOR j FROM 0 TO len(a):\nFOR i FROM 0 TO len(a):\nSTORE a[i] → b[i]\nENDFOR\nENDFOR");
  EXPECT_GT(both, 0.9);
  EXPECT_LE(both, 1);
}

TEST(Work, OfTwoSidesTheLongerOneCounts) {
  const double less = operations_of("IF t < 5:\nSTORE 1.0 → b[0]\nENDIF");
  const double more =
      operations_of("IF t < 5:\nSTORE 1.0 → b[0]\nELSE:\nSTORE exp(a[t]) → b[t]\nENDIF");
  EXPECT_EQ(more, operations_of("IF t < 5:\nSTORE exp(a[t]) → b[t]\nENDIF"));
  EXPECT_GT(more, less);
}

TEST(Work, TheMeasuredKernelDoesWhatItsConstantSays) {
  const Result<Lowered> lowered = read_text(kComputeText);
  ASSERT_TRUE(lowered) << lowered.error().message;
  const ir::Kernel& kernel = *lowered->module.kernels().front();
  constexpr uint64_t kElements = 256 * 64;
  const Argument arguments[] = {Argument::array(nullptr, kElements), Argument::scalar(kElements)};
  const Work work = work_of(kernel, {.blocks = {64, 1, 1}, .threads = {256, 1, 1}}, arguments);
  EXPECT_NEAR(work.operations / static_cast<double>(kElements * sizeof(float)), kOperationsOfByte,
              0.02 * kOperationsOfByte);
}

// 10 GB/s and 10 operations a nanosecond on the CPU; 20 GB/s to a GPU, a thousand times the
// operations there, and a start of 0.3 s.
placement::Profile made_up(double gpu_start = 0.3) {
  const auto points = [](double fixed, double of_byte) {
    std::vector<placement::Point> all;
    for (uint64_t bytes = 1 << 14; bytes <= 1 << 30; bytes *= 4) {
      all.push_back({{bytes, 1}, fixed + of_byte * static_cast<double>(bytes), 0.01, 5, 1});
    }
    return all;
  };
  const auto variant = [&](const char* name, double cpu_fixed, double cpu, double gpu_fixed,
                           double gpu) {
    placement::MeasuredVariant made;
    made.name = std::string("px/") + name;
    made.implementations = {{"cpu-all", points(cpu_fixed, cpu)}, {"cuda", points(gpu_fixed, gpu)}};
    return made;
  };
  placement::Profile profile;
  profile.machine = placement::this_machine();
  profile.machine.cpus = 4;
  profile.measured = "2026-01-02T03:04:05Z";
  profile.variants = {
      variant(kStream, 1e-5, kStreamTraffic / 10e9, 5e-5, kStreamTraffic / 20e9),
      variant(kCompute, 1e-5, kOperationsOfByte / 10e9, 2e-5, kOperationsOfByte / 10e12),
      variant(kStart, 0.01, 0.1e-9, 0.01 + gpu_start, 0.1e-9)};
  return profile;
}

Work work(double operations, uint64_t bytes) {
  return {.operations = operations, .bytes_in = bytes / 2, .bytes_out = bytes / 2};
}

TEST(Rates, EstimatesByBytesAndOperations) {
  const Result<Rates> rates = Rates::make(made_up(), 4);
  ASSERT_TRUE(rates) << rates.error().message;
  const PlaceEstimate streams = rates->estimate(work(1e6, 1'000'000'000));
  EXPECT_NEAR(streams.cpu_seconds, 0.1, 0.002);
  EXPECT_NEAR(streams.gpu_seconds, 0.05, 0.002);
  EXPECT_NEAR(streams.gpu_start_seconds, 0.3, 0.002);
  EXPECT_FALSE(streams.on_gpu);
  const Work scalar = {.operations = 1e9, .scalar_operations = 1e9};
  EXPECT_NEAR(rates->cpu_seconds(scalar), kLanes * rates->cpu_seconds({.operations = 1e9}),
              0.02 * rates->cpu_seconds(scalar));
  EXPECT_EQ(rates->gpu_seconds(scalar), rates->gpu_seconds({.operations = 1e9}));
  const PlaceEstimate computes = rates->estimate(work(10e9, 1'000'000));
  EXPECT_NEAR(computes.cpu_seconds, 1, 0.02);
  EXPECT_LT(computes.gpu_seconds, 0.002);
  EXPECT_TRUE(computes.on_gpu);
}

TEST(Rates, AGpuMustWinItsStartAndMore) {
  const Result<Rates> rates = Rates::make(made_up(), 4);
  EXPECT_FALSE(rates->estimate(work(4.4e9, 1000)).on_gpu);
  EXPECT_TRUE(rates->estimate(work(4.7e9, 1000)).on_gpu);
  // From where the operations of a run pay, whatever the bytes are: without the start earlier.
  const Result<Rates> at_once = Rates::make(made_up(0), 4);
  EXPECT_TRUE(at_once->estimate(work(1e8, 1000)).on_gpu);
  EXPECT_FALSE(at_once->estimate(work(1e3, 1000)).on_gpu);
}

TEST(Rates, FewerCpusTakeLonger) {
  const Result<Rates> rates = Rates::make(made_up(), 1);
  EXPECT_NEAR(rates->estimate(work(1e9, 1000)).cpu_seconds, 0.4, 0.01);
}

TEST(Rates, WithoutMeasurementsOfAGpuThereAreNone) {
  placement::Profile profile = made_up();
  profile.variants[1].implementations.pop_back();
  const Result<Rates> rates = Rates::make(profile, 4);
  ASSERT_FALSE(rates);
  EXPECT_EQ(rates.error().code, ErrorCode::not_found);
  EXPECT_NE(rates.error().message.find("hoist tune --op px"), std::string::npos);
  profile.variants.clear();
  EXPECT_FALSE(Rates::make(profile, 4));
}

TEST(Rates, AreSaid) {
  const Result<Rates> rates = Rates::make(made_up(), 4);
  Work some = work(10e9, 2'000'000);
  EXPECT_EQ(describe(rates->estimate(some), some).find("a GPU: 1 s on the CPU, 30"), 0u)
      << describe(rates->estimate(some), some);
  some.is_whole = false;
  EXPECT_NE(describe(rates->estimate(some), some).find("at least 1e+10 operations"),
            std::string::npos);
}

TEST(HostArrays, AreRunWhereTheyLieOnTheCpu) {
  const Program program = compile_text(kStreamText, {.target = Target::interpreter}).value();
  device::Stream stream = device::Stream::create(device::cpu_device()).value();
  std::vector<float> x(100), y(100, 1);
  std::iota(x.begin(), x.end(), 0.0F);
  const Argument arguments[] = {
      Argument::array(x.data(), x.size()), Argument::array(y.data(), y.size()),
      Argument::scalar(std::bit_cast<uint32_t>(2.0F)), Argument::scalar(x.size())};
  std::stop_source stop;
  const ir::Kernel& kernel = *program.module().kernels().front();
  ASSERT_TRUE(run_on_host_arrays(program, stream, kernel,
                                 {.blocks = {4, 1, 1}, .threads = {32, 1, 1}}, arguments, stop));
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], 2 * x[i] + 1);
  // Nothing measured, so on the CPU.
  EXPECT_EQ(choose_device(kernel, {}, arguments).device, &device::cpu_device());
}

}  // namespace
}  // namespace hoist::px
