// Kernels that take the place of others while a program runs.
#include "graph/program/replacement.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "graph/program/testing.h"

namespace hoist::graph::program {
namespace {

using Stage = Replacement::Stage;
using State = KernelReplacement::State;

// What asks it, so that tests make the offers.
class Asked : public KernelCompiler {
 public:
  void compile(std::shared_ptr<const Program> program) override { programs.push_back(program); }
  std::vector<std::weak_ptr<const Program>> programs;
};

struct Two {
  std::unique_ptr<Asked> compiler = std::make_unique<Asked>();
  std::shared_ptr<const Program> program;
  std::vector<Values> inputs;
  std::vector<Values> expected;
};

// x * y + x, and its largest element: one kernel, or two where nothing is fused.
Two two(bool fuses, DType dtype = DType::f32) {
  Two made;
  Graph graph;
  const Id x = graph.input(dtype, {300}).value();
  const Id y = graph.input(dtype, {300}).value();
  const Id product = graph.add_node(Op::multiply, {x, y}).value();
  graph.set_outputs({graph.add_node(Op::add, {product, x}).value()});
  CompileOptions options;
  options.fuses = fuses;
  options.threads = 1;
  options.compiler = made.compiler.get();
  made.program = Program::compile(graph, options).value();
  RandomValues random(7);
  for (const Id id : graph.inputs()) made.inputs.push_back(random.values(graph[id], true));
  made.expected = interpret(graph, made.inputs).value();
  return made;
}

void run(const Two& of) {
  const std::vector<Values> found = run_values(*of.program, of.inputs);
  ASSERT_TRUE(same_values(found[0], of.expected[0]));
}

// The kernel with another operation for its last step.
Offer with(const Kernel& kernel, Op op) {
  Kernel other = kernel;
  for (Loop& loop : other.loops) {
    for (Phase& phase : loop.phases) {
      for (LoopStep& step : phase.steps) {
        if (step.op == Op::add) step.run = step_for(op, step.lanes, step.dtype, step.scalars);
      }
    }
  }
  return {std::make_unique<const Kernel>(std::move(other)), 1};
}

// Does what the kernel's steps do, after a pause.
class Slow : public CompiledSteps {
 public:
  Slow() : CompiledSteps({}, false) {}
  void run(void* const*, int64_t, int64_t) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

Offer slowed(const Kernel& kernel) {
  Kernel other = kernel;
  LoopStep pause;
  pause.kind = LoopStep::Kind::compiled;
  pause.compiled = std::make_shared<Slow>();
  std::vector<LoopStep>& steps = other.loops[0].phases[0].steps;
  steps.insert(steps.begin(), pause);
  return {std::make_unique<const Kernel>(std::move(other)), 1};
}

std::vector<Offer> one(Offer offer) {
  std::vector<Offer> all;
  all.push_back(std::move(offer));
  return all;
}

TEST(ReplacementTest, WithoutACompilerNothingIsAsked) {
  Graph graph;
  const Id x = graph.input(DType::f32, {2}).value();
  graph.set_outputs({graph.add_node(Op::negate, {x}).value()});
  const auto program = Program::compile(graph).value();
  run_values(*program, {Values{1, 2}});
  EXPECT_EQ(program->replacement().stage(), Stage::off);
}

TEST(ReplacementTest, ShortScriptsAskForNothing) {
  const Two of = two(true);
  for (int i = 0; i < 50; ++i) run(of);
  EXPECT_EQ(of.program->replacement().stage(), Stage::cold);
  EXPECT_TRUE(of.compiler->programs.empty());
}

TEST(ReplacementTest, TimeCountsOnceThereWereSomeCalls) {
  const Two of = two(true);
  Replacement& replacement = of.program->replacement();
  // One call that was long, at a time when there were not many.
  EXPECT_FALSE(replacement.add_time(Replacement::kColdNanoseconds));
  uint32_t timed = 0;
  for (uint32_t i = 0; i < Replacement::kColdCalls; ++i) timed += replacement.counts_time() ? 1 : 0;
  EXPECT_GT(timed, 0u);
  EXPECT_LT(timed, Replacement::kColdCalls);
  EXPECT_TRUE(replacement.add_time(1));
  replacement.ask(of.program);
  EXPECT_EQ(replacement.stage(), Stage::compiling);
  replacement.ask(of.program);
  EXPECT_EQ(of.compiler->programs.size(), 1u);
  run(of);
}

TEST(ReplacementTest, OtherBitsAreRefused) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i64}) {
    const Two of = two(true, dtype);
    Replacement& replacement = of.program->replacement();
    replacement.ask(of.program);
    replacement.offer(one(with(of.program->kernels()[0], Op::subtract)));
    EXPECT_EQ(replacement.stage(), Stage::measuring);
    // The measuring calls, too, give the right results.
    for (uint32_t i = 0; i < Replacement::kRounds + 1; ++i) ASSERT_NO_FATAL_FAILURE(run(of));
    EXPECT_EQ(replacement.stage(), Stage::settled);
    EXPECT_EQ(replacement.report(0).state, State::differs);
    EXPECT_EQ(&replacement.kernel(0), &of.program->kernels()[0]);
  }
}

TEST(ReplacementTest, WhatIsSlowerIsNotTaken) {
  const Two of = two(true);
  Replacement& replacement = of.program->replacement();
  replacement.ask(of.program);
  replacement.offer(one(slowed(of.program->kernels()[0])));
  for (uint32_t i = 0; i < Replacement::kRounds; ++i) ASSERT_NO_FATAL_FAILURE(run(of));
  const KernelReplacement report = replacement.report(0);
  EXPECT_EQ(report.state, State::slower);
  EXPECT_GE(report.compiled_ns, 1'000'000u);
  EXPECT_GT(report.precompiled_ns, 0u);
  EXPECT_EQ(&replacement.kernel(0), &of.program->kernels()[0]);
}

TEST(ReplacementTest, OnlyWhatIsFasterByATwentiethIsTaken) {
  for (const uint32_t compiled : {940u, 950u, 951u, 1000u}) {
    const Two of = two(true);
    Replacement& replacement = of.program->replacement();
    replacement.ask(of.program);
    replacement.offer(one(with(of.program->kernels()[0], Op::add)));
    for (uint32_t i = 0; i < Replacement::kRounds; ++i) {
      ASSERT_TRUE(replacement.begin_round());
      EXPECT_FALSE(replacement.begin_round()) << "two rounds at once";
      replacement.add_measured(0, 1000 + i, compiled + i);
      replacement.end_round();
    }
    EXPECT_EQ(replacement.stage(), Stage::settled);
    EXPECT_EQ(replacement.report(0).state, compiled <= 950 ? State::compiled : State::slower);
    EXPECT_EQ(&replacement.kernel(0) == &of.program->kernels()[0], compiled > 950);
    run(of);
  }
}

TEST(ReplacementTest, EachKernelIsMeasuredByItself) {
  const Two of = two(false);
  ASSERT_EQ(of.program->kernels().size(), 2u);
  Replacement& replacement = of.program->replacement();
  replacement.ask(of.program);
  std::vector<Offer> offers(2);
  offers[1] = with(of.program->kernels()[1], Op::subtract);
  replacement.offer(std::move(offers));
  for (uint32_t i = 0; i < Replacement::kRounds; ++i) ASSERT_NO_FATAL_FAILURE(run(of));
  EXPECT_EQ(replacement.report(0).state, State::not_compiled);
  EXPECT_EQ(replacement.report(1).state, State::differs);
}

TEST(ReplacementTest, OffersOfNothingSettleAtOnce) {
  const Two of = two(true);
  of.program->replacement().ask(of.program);
  of.program->replacement().offer(one({}));
  EXPECT_EQ(of.program->replacement().stage(), Stage::settled);
  run(of);
}

TEST(ReplacementTest, FailuresSayWhy) {
  const Two of = two(true);
  of.program->replacement().ask(of.program);
  EXPECT_EQ(of.program->replacement().why(), "");
  of.program->replacement().fail("no compiler");
  EXPECT_EQ(of.program->replacement().stage(), Stage::failed);
  EXPECT_EQ(of.program->replacement().why(), "no compiler");
  run(of);
}

// It is measured after it is known whether threads pay.
TEST(ReplacementTest, KernelsOnThreadsAreMeasured) {
  Graph graph;
  const Id x = graph.input(DType::f32, {400'000}).value();
  graph.set_outputs({graph.add_node(Op::add, {graph.add_node(Op::tanh, {x}).value(), x}).value()});
  Asked compiler;
  CompileOptions options;
  options.compiler = &compiler;
  options.threads = 4;
  const auto program = Program::compile(graph, options).value();
  RandomValues random(9);
  const std::vector<Values> inputs = {random.values(graph[x], false)};
  const std::vector<Values> expected = run_values(*program, inputs);
  Replacement& replacement = program->replacement();
  replacement.ask(program);
  replacement.offer(one(with(program->kernels()[0], Op::add)));
  uint32_t calls = 0;
  for (; replacement.stage() != Stage::settled && calls < 50; ++calls) {
    ASSERT_TRUE(same_values(run_values(*program, inputs)[0], expected[0]));
  }
  EXPECT_GE(calls, Replacement::kRounds);
  EXPECT_LT(calls, 50u);
  EXPECT_NE(replacement.report(0).state, State::differs);
}

// While offers come, are measured and taken, all calls give the same.
TEST(ReplacementTest, ThreadsCallMeanwhile) {
  std::vector<Two> all;
  for (int i = 0; i < 8; ++i) all.push_back(two(i % 2 == 0));
  std::atomic<bool> ends = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!ends && !testing::Test::HasFailure()) {
        for (const Two& of : all) run(of);
      }
    });
  }
  for (const Two& of : all) {
    Replacement& replacement = of.program->replacement();
    replacement.ask(of.program);
    std::vector<Offer> offers;
    for (const Kernel& kernel : of.program->kernels()) offers.push_back(with(kernel, Op::add));
    replacement.offer(std::move(offers));
    while (replacement.stage() != Stage::settled && !testing::Test::HasFailure()) {
      EXPECT_LE(replacement.report(0).steps, 1u);
      std::this_thread::yield();
    }
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

// Where the result takes the place of what is read, what was there is read by both.
TEST(ReplacementTest, ResultsMayTakeTheirInputsPlace) {
  const Two of = two(true);
  Replacement& replacement = of.program->replacement();
  replacement.ask(of.program);
  replacement.offer(one(with(of.program->kernels()[0], Op::add)));
  for (uint32_t i = 0; i < Replacement::kRounds; ++i) {
    const std::vector<Values> found = run_values(*of.program, of.inputs, {{0, 0}});
    ASSERT_TRUE(same_values(found[0], of.expected[0])) << i;
  }
  EXPECT_NE(replacement.report(0).state, State::differs);
}

}  // namespace
}  // namespace hoist::graph::program
