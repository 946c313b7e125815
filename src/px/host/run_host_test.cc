#include "px/host/run_host.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>

#include "ir/interpret.h"
#include "px/lower/lower.h"

namespace hoist::px {
namespace {

constexpr char kKernels[] =
    "GPU_KERNEL increase\n"
    "GPU_PARAM v inout i32[]\nGPU_PARAM by int\n"
    "LOCAL_ID → i\n"
    "STORE v[i] + by → v[i]\n"
    "GPU_END\n";

// Runs a host part by the interpreter on v = 0, 1, 2, 3; gives v, or the error.
class RunHost : public testing::Test {
 protected:
  std::string run(const std::string& host) {
    const Source source("k.px", kKernels + host);
    Diagnostics diagnostics;
    const auto made = read(source, diagnostics);
    if (!made) return render(source, diagnostics);
    std::iota(v_.begin(), v_.end(), 0);
    HostValues values;
    for (const HostArray& array : made->host.arrays) {
      if (!array.is_allocated)
        values.arrays[&array] = {std::as_writable_bytes(std::span(v_)), v_.size()};
    }
    if (const HostScalar* by = made->host.find_scalar("by")) values.scalars[by] = 10;
    Result<device::Stream> stream = device::Stream::create(device::cpu_device());
    const LaunchKernel launch = [](const ir::Kernel& kernel, const ir::Grid& grid,
                                   std::span<const ir::Argument> arguments) {
      return ir::interpret(kernel, grid, arguments);
    };
    const Result<HostReport> report = run_host(made->host, values, *stream, launch, source);
    if (!report) return report.error().message;
    launches_ = report->launches.size();
    if (report->fault) return ir::describe(*report->fault, "k.px");
    std::string text;
    for (const int32_t element : v_) text += std::to_string(element) + " ";
    return text;
  }

  std::array<int32_t, 4> v_{};
  size_t launches_ = 0;
};

TEST_F(RunHost, LaunchesTakeWhatIsCalledAsTheirParameters) {
  EXPECT_EQ(run("GPU_LAUNCH increase BLOCKS 1 THREADS len(v)\nGPU_SYNC\n"), "10 11 12 13 ");
  EXPECT_EQ(run("GPU_LAUNCH increase 1 2 WITH by = by * 2\n"), "20 21 2 3 ");
}

TEST_F(RunHost, LoopsRepeat) {
  EXPECT_EQ(run("FOR i FROM 3 TO 0 STEP -1:\nFOR j FROM 0 TO i:\n"
                "GPU_LAUNCH increase 1 1 WITH by = i + j\nENDFOR\nENDFOR\n"),
            "18 1 2 3 ");
  EXPECT_EQ(launches_, 6u);
}

TEST_F(RunHost, AllocatedArraysAreCopiedByHand) {
  EXPECT_EQ(run("GPU_ALLOC d i32 3\nGPU_COPY_TO_GPU v → d 3\n"
                "GPU_LAUNCH increase 1 3 WITH v = d\nGPU_LAUNCH increase 1 4\n"
                "GPU_COPY_FROM_GPU d → v 2\nGPU_FREE d\n"),
            "10 11 12 13 ");
}

TEST_F(RunHost, AFaultEndsTheRun) {
  EXPECT_EQ(run("GPU_LAUNCH increase 1 5\nGPU_LAUNCH increase 1 1\n"),
            "k.px:5:1: increase reads or writes v[4], which has 4 elements (block 0, thread 4)");
  EXPECT_EQ(launches_, 1u);
}

TEST_F(RunHost, WhatCannotBeIsRefused) {
  EXPECT_EQ(run("GPU_LAUNCH increase 0 - by 1\n").find("k.px:7:23: error"), 0u);
  EXPECT_EQ(run("GPU_LAUNCH increase BLOCKS 0 - by THREADS 1\n"),
            "a launch of -10 blocks (k.px:7): give 0 to 2147483647");
  EXPECT_EQ(run("GPU_ALLOC d i32 1\nGPU_FREE d\nGPU_LAUNCH increase 1 1 WITH v = d\n"),
            "d is not allocated (k.px:9): write GPU_ALLOC before it is used, and GPU_FREE behind");
  EXPECT_EQ(run("GPU_ALLOC d i32 by\nGPU_COPY_TO_GPU v → d 5\nGPU_LAUNCH increase 1 1\n"),
            "a copy of 5 elements, of 4 to 10 (k.px:8): copy no more than both arrays have");
  EXPECT_EQ(run("FOR i FROM 0 TO 2 STEP by - by:\nGPU_LAUNCH increase 1 1\nENDFOR\n"),
            "a step of 0 (k.px:7): give another STEP");
}

// The launches of a rehearsal, "blocks x threads of v's length", and what is copied.
std::string rehearse(const std::string& host, uint64_t most = 100) {
  const Source source("k.px", kKernels + host);
  Diagnostics diagnostics;
  const auto made = read(source, diagnostics);
  if (!made) return render(source, diagnostics);
  HostValues values;
  std::array<int32_t, 1000> v{};
  for (const HostArray& array : made->host.arrays) {
    if (array.is_allocated) continue;
    values.arrays[&array] = {std::as_writable_bytes(std::span(v)), v.size()};
  }
  if (const HostScalar* by = made->host.find_scalar("by")) values.scalars[by] = 10;
  std::string text;
  const UseLaunch use = [&](const ir::Kernel&, const ir::Grid& grid,
                            std::span<const ir::Argument> arguments) {
    text += std::to_string(grid.block_count()) + "x" + std::to_string(grid.block_threads()) +
            " of " + std::to_string(arguments[0].length) + (arguments[0].data ? " there, " : ", ");
  };
  const auto done = rehearse_host(made->host, values, use, most, source);
  if (!done) return done.error().message;
  return text + std::to_string(done->bytes_copied) + (done->is_whole ? "" : " and more");
}

TEST(RehearseHost, TellsLaunchesAndCountsCopiesWithoutMemory) {
  EXPECT_EQ(rehearse("GPU_LAUNCH increase 2 3\nGPU_LAUNCH increase 4 5\n"),
            "2x3 of 1000, 4x5 of 1000, 8000");
  EXPECT_EQ(rehearse("GPU_ALLOC d i32 30\nGPU_COPY_TO_GPU v → d 20\n"
                     "FOR i FROM 0 TO 2:\nGPU_LAUNCH increase 1 by WITH v = d\nENDFOR\n"
                     "GPU_COPY_FROM_GPU d → v 10\nGPU_FREE d\n"),
            "1x10 of 30, 1x10 of 30, 120");
  EXPECT_EQ(rehearse("FOR i FROM 0 TO 1000000000:\nGPU_LAUNCH increase 1 1\nENDFOR\n", 2),
            "1x1 of 1000, 1x1 of 1000, 8000 and more");
  EXPECT_EQ(rehearse("GPU_LAUNCH increase BLOCKS 0 - by THREADS 1\n"),
            "a launch of -10 blocks (k.px:7): give 0 to 2147483647");
}

}  // namespace
}  // namespace hoist::px
