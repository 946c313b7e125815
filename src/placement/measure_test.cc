#include "placement/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "placement/placement_testing.h"
#include "placement/program_operation.h"
#include "placement/robust.h"
#include "placement/spawned_group.h"

namespace hoist::placement {
namespace {

// Counts its runs; what fails or takes long, by a clock of its own, is up to the test.
struct Fake {
  Operation operation = sort_operation();
  std::vector<int> runs = std::vector<int>(3);
  std::function<Status(size_t implementation, const Shape& shape)> work =
      [](size_t, const Shape&) -> Status { return {}; };
  double now = 0;  // seconds

  Fake() {
    operation.prepare = [this](size_t, const Shape& shape,
                               const std::string&) -> Result<placement::Run> {
      return [this, shape](size_t implementation) {
        ++runs[implementation];
        now += 1e-6;
        return work(implementation, shape);
      };
    };
  }

  void takes(double seconds) { now += seconds; }

  MeasurePlan plan(int cpus = 2) const {
    MeasurePlan plan;
    plan.sizes = log_spaced(1 << 10, 16 << 10, 4);
    plan.cpus = cpus;
    plan.rounds = 2;
    plan.most_rounds = 4;
    plan.seconds = 0.2;
    plan.now = [this] { return now; };
    return plan;
  }
};

TEST(Measure, SizesAreSpacedEvenlyOnALogarithmicAxis) {
  EXPECT_EQ(log_spaced(1 << 10, 16 << 10, 4), (std::vector<uint64_t>{1024, 4096, 16384}));
  EXPECT_EQ(log_spaced(5, 5, 2), (std::vector<uint64_t>{5}));
  EXPECT_TRUE(log_spaced(6, 5, 2).empty());
}

TEST(Measure, EveryImplementationAtEverySize) {
  Fake fake;
  const Result<Measurement> measured = measure(fake.operation, 0, fake.plan());
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->variant.name, "sort/C");
  ASSERT_EQ(measured->variant.implementations.size(), 3u);
  for (const MeasuredImplementation& one : measured->variant.implementations) {
    ASSERT_GE(one.points.size(), 3u);
    uint64_t before = 0;
    for (const Point& point : one.points) {
      EXPECT_GT(point.shape.bytes, before);
      before = point.shape.bytes;
      EXPECT_GT(point.seconds, 0);
      EXPECT_GE(point.runs, 2);
      EXPECT_LE(point.runs, 4);
    }
  }
  EXPECT_TRUE(measured->left_out.empty());
  // An empty run is far below what the clock resolves, so a sample repeats it.
  EXPECT_GT(fake.runs[0], 1000);
}

TEST(Measure, WhatIsFarBehindIsNotMeasuredAtLargeSizes) {
  Fake fake;
  fake.work = [&](size_t implementation, const Shape& shape) -> Status {
    if (implementation == 0) fake.takes(1e-6 * static_cast<double>(shape.bytes >> 13));
    return {};
  };
  MeasurePlan plan = fake.plan();
  plan.sizes = log_spaced(1 << 20, 256 << 20, 4);  // 1 … 64, 256 MiB
  plan.seconds = 10;
  const Result<Measurement> measured = measure(fake.operation, 0, plan);
  ASSERT_TRUE(measured);
  ASSERT_EQ(measured->variant.implementations.size(), 3u);
  const auto largest = [&](size_t one) {
    return measured->variant.implementations[one].points.back().shape.bytes;
  };
  EXPECT_EQ(largest(0), 64u << 20);
  EXPECT_EQ(std::max(largest(1), largest(2)), 256u << 20);
}

// A GPU's context takes a quarter of a second, and a GPU may be the best all the same.
TEST(Measure, WhatIsFarBehindByAFixedCostIsMeasuredToTheEnd) {
  Fake fake;
  fake.work = [&](size_t implementation, const Shape&) -> Status {
    if (implementation == 2) fake.takes(0.1);
    return {};
  };
  MeasurePlan plan = fake.plan();
  plan.sizes = log_spaced(1 << 20, 256 << 20, 4);
  plan.seconds = 10;
  const Result<Measurement> measured = measure(fake.operation, 0, plan);
  ASSERT_TRUE(measured);
  ASSERT_EQ(measured->variant.implementations.size(), 3u);
  EXPECT_EQ(measured->variant.implementations[2].points.back().shape.bytes, 256u << 20);
}

// What takes 0.5 to 3.7 ms, but for implementation 2, which takes 100.
Status scattered_work(Fake& fake, size_t implementation) {
  fake.takes(implementation == 2 ? 0.1 : 500e-6 + 400e-6 * (fake.runs[implementation] % 9));
  return {};
}

MeasurePlan plan_with_more_rounds(const Fake& fake) {
  MeasurePlan plan = fake.plan();
  plan.rounds = 3;
  plan.most_rounds = 12;
  plan.seconds = 30;
  return plan;
}

// The GPU's quarter of a second is not worth the time that small differences take to tell.
TEST(Measure, OnlyWhatMayBeTheBestIsMeasuredAgain) {
  Fake fake;
  fake.work = [&](size_t implementation, const Shape&) {
    return scattered_work(fake, implementation);
  };
  const MeasurePlan plan = plan_with_more_rounds(fake);
  const Result<Measurement> measured = measure(fake.operation, 0, plan);
  ASSERT_TRUE(measured);
  int most = 0;
  for (size_t i = 0; i < 3; ++i) {
    for (const Point& point : measured->variant.implementations[i].points) {
      if (i == 2) {
        EXPECT_EQ(point.runs, 2);  // far behind, which two tell
      }
      most = std::max(most, point.runs);
    }
  }
  EXPECT_GT(most, 3);
  EXPECT_LE(most, 12);
}

TEST(Measure, WhatFailsOnceMeasuredIsLeftOut) {
  Fake fake;
  fake.work = [&](size_t implementation, const Shape&) -> Status {
    if (implementation == 1 && fake.runs[1] > 5) return fail(ErrorCode::internal, "broken");
    return scattered_work(fake, implementation);
  };
  const Result<Measurement> measured = measure(fake.operation, 0, plan_with_more_rounds(fake));
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->left_out, std::vector<std::string>{"cpu-1: broken"});
  EXPECT_EQ(measured->variant.find("cpu-1"), nullptr);
  EXPECT_EQ(fake.runs[1], 6);
  for (const Point& point : measured->variant.find("original")->points) EXPECT_GE(point.runs, 3);
}

// A GPU without memory for the largest matrices is used for the others.
TEST(Measure, WhatFindsNoRoomKeepsItsSmallerSizes) {
  Fake fake;
  fake.work = [&](size_t implementation, const Shape& shape) -> Status {
    if (implementation == 2 && shape.bytes > 5000) return fail(ErrorCode::exhausted, "full");
    return {};
  };
  const Result<Measurement> measured = measure(fake.operation, 0, fake.plan());
  ASSERT_TRUE(measured);
  EXPECT_TRUE(measured->left_out.empty());
  ASSERT_EQ(measured->variant.implementations.size(), 3u);
  EXPECT_EQ(measured->variant.find("cpu-1")->points.back().shape.bytes, 16u << 10);
  EXPECT_LE(measured->variant.find("cpu-all")->points.back().shape.bytes, 5000u);

  fake.work = [&](size_t implementation, const Shape&) -> Status {
    if (implementation == 2) return fail(ErrorCode::exhausted, "full");
    return {};
  };
  EXPECT_EQ(measure(fake.operation, 0, fake.plan())->left_out,
            std::vector<std::string>{"cpu-all: full"});
}

// With 3 runs each the sizes take 60, 480 and 3840 ms: by its bytes alone the last would take 1920.
TEST(Measure, CostsThatOutgrowTheBytesAreForeseen) {
  Fake fake;
  fake.work = [&](size_t implementation, const Shape& shape) -> Status {
    const double units = static_cast<double>(shape.bytes) / (1 << 20);
    if (implementation == 0) fake.takes(0.02 * units * std::sqrt(units));
    return {};
  };
  MeasurePlan plan = fake.plan();
  plan.sizes = log_spaced(1 << 20, 16 << 20, 4);
  plan.most_rounds = 2;
  for (const auto& [seconds, largest] : {std::pair(1.5, 4), {3.2, 8}}) {  // 8 MiB would take 1357
    plan.seconds = seconds;
    const Result<Measurement> measured = measure(fake.operation, 0, plan);
    ASSERT_TRUE(measured);
    EXPECT_EQ(measured->variant.implementations[0].points.back().shape.bytes,
              static_cast<uint64_t>(largest) << 20);
  }
}

TEST(Measure, LongRunsNeedFewerRounds) {
  Fake fake;
  fake.work = [&](size_t, const Shape& shape) -> Status {
    fake.takes(shape.bytes >= 1 << 20 ? 0.5 : 0.1);
    return {};
  };
  MeasurePlan plan = fake.plan();
  plan.sizes = {1 << 10, 1 << 20};
  plan.rounds = 5;
  plan.most_rounds = 5;
  plan.seconds = 100;
  const Result<Measurement> measured = measure(fake.operation, 0, plan);
  ASSERT_TRUE(measured);
  for (const MeasuredImplementation& one : measured->variant.implementations) {
    ASSERT_EQ(one.points.size(), 2u);
    EXPECT_EQ(one.points[0].runs, 5);
    EXPECT_EQ(one.points[1].runs, 3);
  }
}

// Ten rounds of all would take 1.7 s at the third size; a warm-up and two take 0.5.
TEST(Measure, WhatIsFarBehindIsNotForeseenAsOften) {
  Fake fake;
  fake.work = [&](size_t implementation, const Shape& shape) -> Status {
    if (implementation == 0) fake.takes(1e-6 * static_cast<double>(shape.bytes >> 8));
    return {};
  };
  MeasurePlan plan = fake.plan();
  plan.sizes = log_spaced(400 << 10, 40'000 << 10, 10);
  plan.rounds = 10;
  plan.most_rounds = 10;
  plan.seconds = 1.4;
  const Result<Measurement> measured = measure(fake.operation, 0, plan);
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->variant.implementations[0].points.back().shape.bytes, plan.sizes.back());
}

// By the time that it took, the second size would be followed by one of 2 seconds or more.
TEST(Measure, AStallDoesNotEndTheSizes) {
  Fake fake;
  bool has_stalled = false;
  fake.work = [&](size_t implementation, const Shape& shape) -> Status {
    if (implementation == 0 && shape.bytes == 64u << 10 && !std::exchange(has_stalled, true)) {
      fake.takes(0.5);
    }
    return {};
  };
  MeasurePlan plan = fake.plan();
  plan.sizes = log_spaced(16 << 10, 1 << 20, 4);
  plan.most_rounds = 2;
  plan.seconds = 2;
  const Result<Measurement> measured = measure(fake.operation, 0, plan);
  ASSERT_TRUE(measured);
  EXPECT_TRUE(has_stalled);
  EXPECT_EQ(measured->variant.implementations[0].points.back().shape.bytes, 1u << 20);
}

// Threads that spin after a run are waited for before the next implementation's turn, of several
// runs. The process's time tells.
TEST(Measure, LingeringThreadsAreWaitedFor) {
  Fake fake;
  fake.operation.implementations[0].lingers = true;
  std::atomic<int64_t> spin_until = 0;  // nanoseconds
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
  std::vector<std::jthread> workers(4);  // so that on a busy machine they get some time
  for (std::jthread& worker : workers) {
    worker = std::jthread([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (now() >= spin_until) std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
  }
  std::vector<size_t> order;
  int disturbed = 0;
  int others = 0;
  fake.work = [&](size_t implementation, const Shape&) -> Status {
    order.push_back(implementation);
    fake.takes(1e-3);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    constexpr int64_t kSpin = 40'000'000;
    if (implementation == 0) spin_until = now() + kSpin;
    others += implementation != 0;
    disturbed += implementation != 0 && now() < spin_until;
    return {};
  };
  MeasurePlan plan = fake.plan();
  plan.rounds = 4;
  plan.most_rounds = 4;
  plan.seconds = 30;
  bool waited = false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!waited && std::chrono::steady_clock::now() < end) {  // the worker may hardly get a CPU
    order.clear();
    disturbed = others = 0;
    const Result<Measurement> measured = measure(fake.operation, 0, plan);
    ASSERT_TRUE(measured);
    for (const MeasuredImplementation& one : measured->variant.implementations) {
      for (const Point& point : one.points) EXPECT_EQ(point.runs, 12);  // in three turns
    }
    // Warm-ups of all three, then four runs in turn.
    const std::vector<size_t> expected = {0, 1, 2, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
    ASSERT_GE(order.size(), expected.size());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), order.begin()));
    waited = disturbed < others / 2;  // none but warm-ups, on an idle machine
  }
  EXPECT_TRUE(waited);
}

// What goes on on the machine often takes longer than a turn.
TEST(Measure, ADisturbedTurnHardlyCounts) {
  Fake fake;
  fake.operation.implementations[0].lingers = true;
  int runs_of_first = 0;
  int runs_of_second = 0;
  fake.work = [&](size_t implementation, const Shape&) -> Status {
    // Each warms up, then has turns of four; the first one's second turn is disturbed, and two of
    // three of the second one's.
    int& runs = implementation == 0 ? runs_of_first : runs_of_second;
    const int turn = (runs + 3) / 4 - 1;  // -1: warming up
    if (implementation < 2) ++runs;
    if (implementation == 0) fake.takes(turn == 1 ? 10e-3 : 2e-3);
    if (implementation == 1) fake.takes(2e-3 + 3e-3 * std::max(turn, 0));
    if (implementation == 2) fake.takes(2e-3);
    return {};
  };
  MeasurePlan plan = fake.plan();
  plan.sizes = {1 << 10};
  plan.rounds = 4;
  plan.most_rounds = 4;
  plan.seconds = 30;
  const Result<Measurement> measured = measure(fake.operation, 0, plan);
  ASSERT_TRUE(measured);
  const auto point = [&](size_t one) {
    return measured->variant.implementations[one].points.front();
  };
  EXPECT_LT(point(0).seconds, 5e-3);
  EXPECT_EQ(point(0).runs, 12);
  // 2, 5 and 8 ms: runs of a turn agree, and yet that is not certain.
  EXPECT_GT(standard_error(point(1).noise, point(1).runs), 0.3);
}

// What is left out is not part of what the next size is expected to cost.
TEST(Measure, LargeSizesAreMeasuredOnceTheSlowIsLeftOut) {
  Fake fake;
  fake.work = [&](size_t implementation, const Shape& shape) -> Status {
    fake.takes(1e-6 * static_cast<double>(shape.bytes >> (implementation == 0 ? 8 : 16)));
    return {};
  };
  MeasurePlan plan = fake.plan();
  plan.sizes = log_spaced(16 << 20, 256 << 20, 4);
  plan.most_rounds = 2;
  plan.seconds = 3.5;  // with a warm-up 16 and 64 MiB take 1, and 256 MiB would take 3
  const Result<Measurement> measured = measure(fake.operation, 0, plan);
  ASSERT_TRUE(measured);
  ASSERT_EQ(measured->variant.implementations.size(), 3u);
  EXPECT_LE(measured->variant.implementations[0].points.back().shape.bytes, 64u << 20);
  EXPECT_EQ(measured->variant.implementations[1].points.back().shape.bytes, 256u << 20);
}

TEST(Measure, OneCpuLeavesOutWhatNeedsSeveral) {
  Fake fake;
  const Result<Measurement> measured = measure(fake.operation, 0, fake.plan(1));
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->variant.implementations.size(), 2u);
  EXPECT_EQ(fake.runs[2], 0);
}

TEST(Measure, WhatFailsIsLeftOutAndNamed) {
  Fake fake;
  fake.work = [](size_t implementation, const Shape& shape) -> Status {
    if (implementation == 1 && shape.bytes > 2000) return fail(ErrorCode::internal, "broken");
    return {};
  };
  const Result<Measurement> measured = measure(fake.operation, 0, fake.plan());
  ASSERT_TRUE(measured);
  ASSERT_EQ(measured->left_out.size(), 1u);
  EXPECT_EQ(measured->left_out[0], "cpu-1: broken");
  EXPECT_EQ(measured->variant.find("cpu-1"), nullptr);
  EXPECT_NE(measured->variant.find("cpu-all"), nullptr);

  fake.work = [](size_t implementation, const Shape&) -> Status {
    if (implementation == 0) return fail(ErrorCode::unavailable, "missing");
    return {};
  };
  EXPECT_EQ(measure(fake.operation, 0, fake.plan()).error().code, ErrorCode::unavailable);
}

TEST(Measure, UnsupportedShapesAreNotRun) {
  Fake fake;
  fake.operation.implementations[1].supports = [](const Shape& shape) {
    return shape.bytes <= 4096;
  };
  fake.work = [](size_t implementation, const Shape& shape) -> Status {
    EXPECT_TRUE(implementation != 1 || shape.bytes <= 4096);
    return {};
  };
  const Result<Measurement> measured = measure(fake.operation, 0, fake.plan());
  ASSERT_TRUE(measured);
  EXPECT_LE(measured->variant.find("cpu-1")->points.back().shape.bytes, 4096u);
}

TEST(Measure, WhatAVariantIsWithoutIsNotMeasured) {
  Fake fake;
  fake.operation.variants[0].without = {"cpu-all", "cuda"};
  const Result<Measurement> measured = measure(fake.operation, 0, fake.plan());
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->variant.implementations.size(), 2u);
  EXPECT_EQ(measured->variant.find("cpu-all"), nullptr);
  EXPECT_TRUE(measured->left_out.empty());
  EXPECT_EQ(fake.runs[2], 0);
}

TEST(Measure, ItemsMayBeOfOneSize) {
  Fake fake;
  fake.operation.variants[0].item_bytes = 2048;
  const Result<Measurement> measured = measure(fake.operation, 0, fake.plan());
  ASSERT_TRUE(measured);
  for (const Point& point : measured->variant.implementations[0].points) {
    EXPECT_EQ(point.shape.items, std::max<uint64_t>(point.shape.bytes / 2048, 1));
  }
}

TEST(Measure, NothingToRunIsAnError) {
  Fake fake;
  fake.operation.implementations = {{"cpu-all", 0}};
  EXPECT_EQ(measure(fake.operation, 0, fake.plan(1)).error().code, ErrorCode::unsupported);
}

TEST(Measure, CancellingEndsIt) {
  Fake fake;
  MeasurePlan plan = fake.plan();
  plan.cancelled = [&] { return fake.runs[1] > 0; };
  EXPECT_EQ(measure(fake.operation, 0, plan).error().code, ErrorCode::cancelled);
}

TEST(Measure, NoRoomEndsTheSizes) {
  Fake fake;
  const auto prepare = fake.operation.prepare;
  fake.operation.prepare = [&](size_t variant, const Shape& shape,
                               const std::string& directory) -> Result<placement::Run> {
    if (shape.bytes > 5000) return fail(ErrorCode::exhausted, "full");
    return prepare(variant, shape, directory);
  };
  const Result<Measurement> measured = measure(fake.operation, 0, fake.plan());
  ASSERT_TRUE(measured);
  EXPECT_LE(measured->variant.implementations[0].points.back().shape.bytes, 5000u);
}

ProgramVariant variant_of(const std::string& program, std::vector<std::string> arguments) {
  return {"x", program, std::move(arguments), {}, 2, [](uint64_t bytes, uint64_t) {
            return Result<std::string>(std::string(bytes, 'x'));
          }};
}

TEST(ProgramOperation, RunsTheOriginalOnTheInputsAndTheEngineAlone) {
  const CacheDirectory directory;
  // An "engine" that says that it was called as it must be.
  const std::string script =
      "test \"$HOIST_PROFILE\" = /nonexistent/profile && test \"$PATH\" = /nonexistent && "
      "test -s \"$1\" && test -s \"$2\" && test \"${LD_PRELOAD+set}\" != set";
  const Operation operation =
      make_program_operation("test", {variant_of("sh", {"-c", script, "sh"})}, "/bin/sh");
  ::setenv("HOIST_STATS", "/nonexistent", 1);
  const Result<placement::Run> run = operation.prepare(0, {1000, 2}, directory.path());
  ASSERT_TRUE(run);
  EXPECT_FALSE((*run)(0));  // the original keeps PATH, so the script says no
  EXPECT_TRUE((*run)(1));
  EXPECT_TRUE((*run)(2));
  ::unsetenv("HOIST_STATS");
  EXPECT_EQ(operation.implementations[2].threads, 0);
}

TEST(ProgramOperation, AGpuIsAnImplementationWhereTheEngineCanUseOne) {
  const CacheDirectory directory;
  const std::string script =
      "test \"$HOIST_GPU\" = require && test -n \"$HOIST_SOCKET\" && test -s \"$1\"";
  bool is_there = true;
  const GpuAccess gpu = {.find = [&]() -> Status {
                           if (is_there) return {};
                           return fail(ErrorCode::unavailable, "no GPU (test)");
                         },
                         .lend = {}};
  const Operation operation =
      make_program_operation("test", {variant_of("sh", {"-c", script, "sh"})}, "/bin/sh", gpu);
  ASSERT_EQ(operation.implementations.size(), 4u);
  EXPECT_EQ(operation.implementations[3].name, "cuda");
  const Result<placement::Run> run = operation.prepare(0, {1000, 2}, directory.path());
  ASSERT_TRUE(run);
  EXPECT_FALSE((*run)(2));  // the others run without
  EXPECT_TRUE((*run)(3));
  is_there = false;
  EXPECT_EQ((*run)(3).error().message, "no GPU (test)");
}

TEST(ProgramOperation, AnEngineMayOnlyBorrowAGpuAndAVariantNone) {
  const CacheDirectory directory;
  const std::string script = "test \"$HOIST_GPU\" = require && test -s \"$1\"";
  const GpuAccess gpu = {.find = [] { return Status(); },
                         .lend = [](const std::string&) -> Result<std::function<Status()>> {
                           return [] { return Status(); };
                         },
                         .opens = false};
  ProgramVariant plain = variant_of("sh", {"-c", script, "sh"});
  plain.may_use_gpu = false;
  ProgramVariant small = variant_of("sh", {"-c", script, "sh"});
  small.name = "small";
  small.item_bytes = 100;
  const Operation operation = make_program_operation("test", {plain, small}, "/bin/sh", gpu);
  ASSERT_EQ(operation.implementations.size(), 4u);
  EXPECT_EQ(operation.implementations[3].name, "hoistd");
  EXPECT_EQ(operation.variants[0].without, (std::vector<std::string>{"cuda", "hoistd"}));
  EXPECT_TRUE(operation.variants[1].without.empty());
  EXPECT_EQ(operation.variants[1].items_of(1000), 10u);
  const Result<placement::Run> run = operation.prepare(1, {1000, 10}, directory.path());
  ASSERT_TRUE(run);
  EXPECT_FALSE((*run)(2));
  EXPECT_TRUE((*run)(3));
  // More names than a program can be given.
  EXPECT_EQ(operation.prepare(1, {1 << 20, 1 << 20}, directory.path()).error().code,
            ErrorCode::exhausted);
}

TEST(ProgramOperation, AHoistdIsThereWhileItsUseIsMeasured) {
  const CacheDirectory directory;
  const std::string script = "test \"$HOIST_GPU\" = require && test -e \"$HOIST_SOCKET\"";
  int lent = 0;
  Status answers;
  GpuAccess gpu = {.find = [] { return Status(); },
                   .lend = [&](const std::string& socket) -> Result<std::function<Status()>> {
                     ++lent;
                     std::ofstream(socket) << "here";
                     const std::shared_ptr<std::string> file(new std::string(socket),
                                                             [](auto* path) {
                                                               std::filesystem::remove(*path);
                                                               delete path;
                                                             });
                     return [&answers, file] { return answers; };
                   }};
  const auto operation = [&] {
    return make_program_operation("test", {variant_of("sh", {"-c", script, "sh"})}, "/bin/sh", gpu);
  };
  ASSERT_EQ(operation().implementations.size(), 5u);
  EXPECT_FALSE(operation().implementations[4].supports({(1 << 20) - 1}));
  EXPECT_TRUE(operation().implementations[3].supports({1 << 20}));
  EXPECT_EQ(operation().implementations[4].name, "hoistd");
  {
    const Operation one = operation();
    for (const uint64_t bytes : {1000, 2000}) {  // one hoistd for all sizes
      const Result<placement::Run> run = one.prepare(0, {bytes, 2}, directory.path());
      ASSERT_TRUE(run);
      EXPECT_FALSE((*run)(3));  // which has a GPU of its own
      EXPECT_EQ(lent, bytes == 1000 ? 0 : 1);
      EXPECT_TRUE((*run)(4));
      EXPECT_EQ(lent, 1);
    }
    const Result<placement::Run> run = one.prepare(0, {1000, 2}, directory.path());
    answers = fail(ErrorCode::unavailable, "ended (test)");
    EXPECT_EQ((*run)(4).error().message, "ended (test)");
    answers = {};
    EXPECT_TRUE((*run)(4));  // another one
    EXPECT_EQ(lent, 2);
  }
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/hoistd.sock"));
  lent = 0;
  gpu.lend = [&](const std::string&) -> Result<std::function<Status()>> {
    ++lent;
    return fail(ErrorCode::unavailable, "no hoistd (test)");
  };
  const Operation refused = operation();
  for (int size = 0; size < 2; ++size) {
    const Result<placement::Run> run = refused.prepare(0, {1000, 2}, directory.path());
    ASSERT_TRUE(run);
    EXPECT_EQ((*run)(4).error().message, "no hoistd (test)");
    EXPECT_EQ(lent, 1);  // such a try may take seconds
  }
  gpu.find = [] { return Status(fail(ErrorCode::unavailable, "no GPU (test)")); };
  const Result<placement::Run> none = operation().prepare(0, {1000, 2}, directory.path());
  ASSERT_TRUE(none);
  EXPECT_EQ((*none)(4).error().message, "no GPU (test)");
  EXPECT_EQ(lent, 1);
}

TEST(ProgramOperation, WhatIsMissingOrFailsSaysSo) {
  const CacheDirectory directory;
  const Operation operation = make_program_operation("sort", {variant_of("no-such-program", {})},
                                                     directory.path() + "/no-engine");
  const Result<placement::Run> run = operation.prepare(0, {10, 1}, directory.path());
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)(0).error().code, ErrorCode::unavailable);
  EXPECT_EQ((*run)(1).error().code, ErrorCode::unavailable);
  EXPECT_EQ(run_program({"/bin/sh", {"sh", "-c", "exit 3"}, {}}).error().message,
            "/bin/sh ended with status 3");
  EXPECT_EQ(run_program({"/bin/sh", {"sh", "-c", "kill -9 $$"}, {}}).error().message,
            "/bin/sh ended with signal 9");
  EXPECT_EQ(operation.prepare(0, {UINT64_MAX, 1}, directory.path()).error().code,
            ErrorCode::exhausted);
}

std::string first_line(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// Whether there is such a process that is more than an entry to be waited for.
bool is_running(const std::string& process) {
  const std::string stat = first_line("/proc/" + process + "/stat");
  return !stat.empty() && stat.find(") Z ") == stat.npos;
}

TEST(ProgramOperation, TheProgramIsEndedWithAllThatItStarted) {
  end_spawned_group();  // there is none
  const CacheDirectory directory;
  const std::string file = directory.path() + "/started";
  const std::string script = "sleep 600 & echo $! > '" + file + "'; wait";
  std::string message;
  std::thread measuring([&] {
    message = run_program({"/bin/sh", {"sh", "-c", script}, {}}).error().message;
  });
  while (first_line(file).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::string started = first_line(file);
  EXPECT_TRUE(is_running(started));
  end_spawned_group();
  measuring.join();
  EXPECT_EQ(message, "/bin/sh ended with signal 9");
  for (int i = 0; i < 10'000 && is_running(started); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(is_running(started));
}

TEST(ProgramOperation, DefaultsAreTheCompiledInRows) {
  ProgramVariant variant = variant_of("sort", {});
  variant.name = "C";
  const Operation operation = make_program_operation("sort", {variant}, "");
  const std::vector<Interval> expected = {{0, "original"}, {512 << 10, "cpu-all"}};
  EXPECT_EQ(operation.variants[0].defaults, expected);
}

}  // namespace
}  // namespace hoist::placement
