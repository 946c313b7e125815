#include "ir/interpret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "ir/arithmetic.h"
#include "ir/testing.h"
#include "ir/verify.h"

namespace hoist::ir {
namespace {

template <typename T>
Argument array_of(std::vector<T>& values) {
  return Argument::array(values.data(), values.size());
}

// Runs it, which must be right; gives the first fault.
std::optional<Fault> run(const Module& module, const Kernel* kernel, const Grid& grid,
                         std::vector<Argument> arguments) {
  EXPECT_EQ(verify(module), std::vector<Problem>());
  return interpret(*kernel, grid, arguments).value();
}

TEST(Interpret, Saxpy) {
  Module module("");
  TestKernel k(module);
  const Array* x = k.array("x", Scalar::f32, Direction::in);
  const Array* y = k.array("y", Scalar::f32, Direction::inout);
  const Term a = k.scalar("a", Scalar::f32);
  const Term n = k.scalar("n", Scalar::i32);
  const Term i = k.id(Id::thread);
  k.when(i < n);
  k.put(y, i, a * k.load(x, i) + k.load(y, i));
  std::vector<float> xs(100), ys(100, 1);
  std::iota(xs.begin(), xs.end(), 0.0F);
  const auto fault = run(module, k.finish(), {.blocks = {4, 1, 1}, .threads = {32, 1, 1}},
                         {array_of(xs), array_of(ys),
                          Argument::scalar(std::bit_cast<uint32_t>(2.0F)), Argument::scalar(100)});
  EXPECT_FALSE(fault);
  for (size_t at = 0; at < 100; ++at) EXPECT_EQ(ys[at], 2 * static_cast<float>(at) + 1);
}

TEST(Interpret, SumOfABlockInSharedMemory) {
  Module module("");
  TestKernel k(module);
  const Array* x = k.array("x", Scalar::i32, Direction::in);
  const Array* sums = k.array("sums", Scalar::i32, Direction::out);
  const Array* tile = k.shared_array("tile", Scalar::i32, 64);
  const Term local = k.id(Id::local);
  k.put(tile, local, k.load(x, k.id(Id::thread)));
  k.barrier();
  const Term stride = k.var("stride", k.number(Scalar::i32, 32));
  k.loop_while(stride.number(0) < stride);
  k.when(local < stride);
  k.put(tile, local, k.load(tile, local) + k.load(tile, local + stride));
  k.end();
  k.barrier();
  k.set(stride, stride / 2);
  k.end();
  k.when(local == 0);
  k.put(sums, k.id(Id::block), k.load(tile, local));
  std::vector<int32_t> xs(192), out(3);
  std::iota(xs.begin(), xs.end(), 0);
  EXPECT_FALSE(run(module, k.finish(), {.blocks = {3, 1, 1}, .threads = {64, 1, 1}},
                   {array_of(xs), array_of(out)}));
  EXPECT_EQ(out, (std::vector<int32_t>{2016, 6112, 10208}));
}

TEST(Interpret, LoopsAreHalfOpenAndEndWithTheirType) {
  Module module("");
  TestKernel k(module);
  const Array* out = k.array("out", Scalar::i32, Direction::inout);
  int at = 0;
  // How many turns a loop has.
  const auto count = [&](Scalar type, double from, double to, double step) {
    const Term place = k.number(Scalar::i32, at++);
    (void)k.loop("i", k.number(type, from), k.number(type, to), k.number(type, step));
    k.put(out, place, k.load(out, place) + 1);
    k.end();
  };
  count(Scalar::i32, 0, 10, 3);
  count(Scalar::i32, 10, 0, -3);
  count(Scalar::i32, 0, 10, -1);
  count(Scalar::i32, 0, 10, 0);
  count(Scalar::u8, 250, 255, 2);
  count(Scalar::i8, -100, -128, -20);
  count(Scalar::i8, 100, 127, 100);
  std::vector<int32_t> turns(7);
  EXPECT_FALSE(run(module, k.finish(), {}, {array_of(turns)}));
  EXPECT_EQ(turns, (std::vector<int32_t>{4, 4, 0, 0, 3, 2, 1}));
}

TEST(Interpret, ThreadsLeaveLoopsEachForItself) {
  Module module("");
  TestKernel k(module);
  const Array* out = k.array("out", Scalar::i32, Direction::out);
  const Term thread = k.id(Id::thread);
  const Term sum = k.var("sum", k.number(Scalar::i32, 0));
  const Term i = k.loop("i", sum.number(0), sum.number(100), sum.number(1));
  k.when(i >= thread);
  k.leave();
  k.end();
  k.when(i % 2 == 1);
  k.next();
  k.end();
  k.set(sum, sum + i);
  k.end();
  k.when(thread == 3);
  k.return_thread();
  k.end();
  k.put(out, thread, sum);
  std::vector<int32_t> sums(6, -1);
  EXPECT_FALSE(run(module, k.finish(), {.threads = {6, 1, 1}}, {array_of(sums)}));
  EXPECT_EQ(sums, (std::vector<int32_t>{0, 0, 0, -1, 2, 6}));
}

TEST(Interpret, WarpsAndBlocksExchange) {
  Module module("");
  TestKernel k(module);
  const Array* out = k.array("out", Scalar::u32, Direction::out);
  const Term lane = k.id(Id::lane);
  const Term local = k.id(Id::local);
  const Term up = k.shuffled(ShuffleKind::up, local, local.number(2));
  const Term other = k.shuffled(ShuffleKind::exclusive_or, local, local.number(1));
  const Term votes = k.balloted(lane % 3 == 0);
  const Term warp = k.reduced(Reduce::Scope::warp, ReduceOperator::add, local);
  const Term block = k.reduced(Reduce::Scope::block, ReduceOperator::maximum, local);
  int field = 0;
  for (const Term value : {up, other, votes, warp, block}) {
    k.put(out, local * 5 + field++, value.as(Scalar::u32));
  }
  std::vector<uint32_t> got(40 * 5);
  EXPECT_FALSE(run(module, k.finish(), {.threads = {40, 1, 1}}, {array_of(got)}));
  const auto row = [&](size_t thread) {
    return std::vector<uint32_t>(got.begin() + 5 * static_cast<ptrdiff_t>(thread),
                                 got.begin() + 5 * static_cast<ptrdiff_t>(thread) + 5);
  };
  EXPECT_EQ(row(0), (std::vector<uint32_t>{0, 1, 0x49249249, 496, 39}));
  EXPECT_EQ(row(31), (std::vector<uint32_t>{29, 30, 0x49249249, 496, 39}));
  EXPECT_EQ(row(33), (std::vector<uint32_t>{33, 32, 0x49, 284, 39}));
}

TEST(Interpret, GridsOfThreeDimensions) {
  Module module("");
  TestKernel k(module);
  const Array* out = k.array("out", Scalar::i32, Direction::out);
  const Term width = k.id(Id::block_size) * k.id(Id::grid_size);
  const Term height = k.id(Id::block_size, 1) * k.id(Id::grid_size, 1);
  const Term place =
      (k.id(Id::thread, 2) * height + k.id(Id::thread, 1)) * width + k.id(Id::thread);
  k.put(out, place, place + 1);
  std::vector<int32_t> got(6 * 6 * 4), expected(6 * 6 * 4);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_FALSE(
      run(module, k.finish(), {.blocks = {3, 2, 2}, .threads = {2, 3, 2}}, {array_of(got)}));
  EXPECT_EQ(got, expected);
}

TEST(Interpret, TheFirstFaultIsReportedAndDropped) {
  Module module("k.px");
  TestKernel k(module);
  const Array* a = k.array("a", Scalar::u16, Direction::inout);
  const Term i = k.id(Id::thread);
  k.at({7, 3});
  k.put(a, i - 1, k.load(a, i) + 5);
  std::vector<uint16_t> values(40, 1);
  const auto fault =
      run(module, k.finish(), {.blocks = {3, 1, 1}, .threads = {16, 1, 1}}, {array_of(values)});
  ASSERT_TRUE(fault);
  EXPECT_EQ(describe(*fault, module.file()),
            "k.px:7:3: k reads or writes a[-1], which has 40 elements (block 0, thread 0)");
  EXPECT_EQ(values[0], 6);
  EXPECT_EQ(values[39], 5);  // a[40] gives 0
}

TEST(Interpret, VectorsAreLoadedAndStoredWhole) {
  Module module("");
  TestKernel k(module);
  const Array* a = k.array("a", Scalar::i32, Direction::inout);
  const Term four = k.load(a, k.number(Scalar::i32, 1), 4);
  const Term v = k.let("v", four);
  const Expression* reversed[] = {v.lane(3), v.lane(2), v.lane(1), v.lane(0)};
  k.put(a, k.number(Scalar::i32, 0), v.with(module.expressions().vector(reversed)));
  alignas(16) int32_t values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_FALSE(run(module, k.finish(), {}, {Argument::array(values, 8)}));
  EXPECT_EQ(values[0], 7);
  EXPECT_EQ(values[3], 4);
}

TEST(Interpret, AnEndlessKernelIsStopped) {
  Module module("");
  TestKernel k(module);
  k.loop_while(module.expressions().boolean(true));
  const auto done = interpret(*k.finish(), {}, {}, {.most_steps = 1000});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::exhausted);
}

TEST(Interpret, WhatIsNotNeededIsNotEvaluated) {
  Module module("");
  TestKernel k(module);
  const Array* a = k.array("a", Scalar::i32, Direction::inout);
  const Term i = k.id(Id::thread);
  const Term inside = i < k.length(a).as(Scalar::i32);
  k.when(inside & (k.load(a, i) == 1));
  k.put(a, i, select(inside, k.load(a, i), k.load(a, -i)) + 1);
  std::vector<int32_t> values(3, 1);
  EXPECT_FALSE(run(module, k.finish(), {.threads = {32, 1, 1}}, {array_of(values)}));
  EXPECT_EQ(values, std::vector<int32_t>(3, 2));
}

TEST(Interpret, FunctionsAndTables) {
  Module module("");
  Expressions& make = module.expressions();
  const Array* squares = module.add_table("squares", Scalar::i32, {0, 1, 4, 9});
  FunctionBuilder f(module, "sum_of_squares", Scalar::i32);
  const Term n = {&make, make.parameter(f.parameter("n", Scalar::i32))};
  const Term sum = {&make, make.variable(f.declare_mutable("sum", n.number(0)))};
  const Term i = {&make, make.variable(f.begin_for("i", n.number(0), n, n.number(1)).value())};
  ASSERT_TRUE(f.assign(sum.expression->variable, sum + i.with(make.load(squares, i))));
  f.end();
  ASSERT_TRUE(f.return_value(sum));
  const Function* function = f.finish();
  TestKernel k(module);
  const Array* out = k.array("out", Scalar::i32, Direction::out);
  const Term thread = k.id(Id::thread);
  const Expression* argument[] = {thread};
  k.put(out, thread, thread.with(make.call(function, argument)));
  std::vector<int32_t> got(5);
  EXPECT_FALSE(run(module, k.finish(), {.threads = {5, 1, 1}}, {array_of(got)}));
  EXPECT_EQ(got, (std::vector<int32_t>{0, 0, 1, 5, 14}));
}

TEST(Interpret, AtomicsGiveWhatWasThere) {
  Module module("");
  TestKernel k(module);
  const Array* sum = k.array("sum", Scalar::u32, Direction::inout);
  const Array* olds = k.array("olds", Scalar::u32, Direction::out);
  const Term i = k.id(Id::thread);
  const Term zero = i.number(0);
  const Variable* old =
      k.atomic("old", AtomicOperator::add, sum, zero, i.as(Scalar::u32) + 1).value();
  k.put(olds, i, k.variable(old));
  std::vector<uint32_t> total(1), got(4);
  EXPECT_FALSE(run(module, k.finish(), {.threads = {4, 1, 1}}, {array_of(total), array_of(got)}));
  EXPECT_EQ(total[0], 10U);
  EXPECT_EQ(got, (std::vector<uint32_t>{0, 1, 3, 6}));
}

TEST(Interpret, LaunchesAreChecked) {
  Module module("");
  TestKernel k(module);
  const Array* a = k.array("a", Scalar::i32, Direction::in);
  const Array* b = k.array("b", Scalar::i32, Direction::inout);
  k.put(b, k.id(Id::thread), k.load(a, k.id(Id::thread)));
  const Kernel* kernel = k.finish();
  std::vector<int32_t> one(10), two(10);
  const auto why = [&](const Grid& grid, std::vector<Argument> arguments) {
    const Status status = check_launch(*kernel, grid, arguments);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(why({}, {array_of(one), array_of(two)}), "");
  EXPECT_EQ(why({}, {array_of(one)}), "k takes 2 arguments, not 1");
  EXPECT_EQ(why({}, {array_of(one), array_of(one)}), "b is written and overlaps a (k)");
  EXPECT_EQ(why({}, {Argument::array(nullptr, 1), array_of(one)}), "a is null (k)");
  EXPECT_EQ(why({}, {Argument::array(reinterpret_cast<char*>(one.data()) + 1, 1), array_of(two)}),
            "a is not aligned to 4 bytes (k)");
  EXPECT_EQ(why({.threads = {1, 1, 65}}, {array_of(one), array_of(two)}),
            "a grid has at most 65535 blocks in y and z, and a block 64 threads in z (k)");
  EXPECT_FALSE(
      check_launch(*kernel, {.blocks = {1, 65536, 1}}, std::vector{array_of(one), array_of(two)}));
  EXPECT_EQ(why({.threads = {32, 32, 2}}, {array_of(one), array_of(two)}),
            "a block has 1 to 1024 threads, not 32 x 32 x 2 (k)");
  EXPECT_EQ(why({.blocks = {1U << 31, 1, 1}}, {array_of(one), array_of(two)}),
            "2147483648 blocks of 1 threads are more than 2147483647 threads in a dimension (k)");
}

// Only as a whole: elements of one array that are other elements of another are not theirs.
TEST(Interpret, ArraysMayBeOneWhereBothSaySo) {
  Module module("");
  TestKernel k(module);
  const Array* a = k.array("a", Scalar::i32, Direction::in, true);
  const Array* b = k.array("b", Scalar::i32, Direction::inout, true);
  const Array* c = k.array("c", Scalar::i32, Direction::in);
  const Term i = k.id(Id::thread);
  k.put(b, i, k.load(a, i) + k.load(c, i));
  const Kernel* kernel = k.finish();
  std::vector<int32_t> one = {1, 2, 3, 4};
  std::vector<int32_t> two = {10, 20, 30, 40};
  const Argument most = Argument::array(one.data(), 3);
  const Argument behind = Argument::array(one.data() + 1, 3);
  EXPECT_TRUE(check_launch(*kernel, {}, std::vector{most, most, array_of(two)}));
  EXPECT_FALSE(check_launch(*kernel, {}, std::vector{most, behind, array_of(two)}));
  EXPECT_FALSE(check_launch(*kernel, {}, std::vector{array_of(two), most, most}));
  EXPECT_FALSE(run(module, kernel, {.threads = {3, 1, 1}}, {most, most, array_of(two)}));
  EXPECT_EQ(one, (std::vector<int32_t>{11, 22, 33, 4}));
}

TEST(Interpret, AGridIsCountedFromTheArguments) {
  Module module("");
  TestKernel k(module);
  const Array* a = k.array("a", Scalar::i32, Direction::inout);
  const Term n = k.scalar("n", Scalar::i32);
  const Kernel* kernel = k.finish();
  const Launch launch = {
      kernel, {}, {(n + 255) / 256, nullptr, nullptr}, {k.length(a), nullptr, nullptr}};
  std::vector<int32_t> values(7);
  const Grid grid = grid_of(launch, std::vector{array_of(values), Argument::scalar(1000)}).value();
  EXPECT_EQ(grid.blocks, (std::array<uint32_t, 3>{4, 1, 1}));
  EXPECT_EQ(grid.threads, (std::array<uint32_t, 3>{7, 1, 1}));
  EXPECT_FALSE(grid_of(launch, std::vector{array_of(values), Argument::scalar(uint32_t(-1000))}));
}

}  // namespace
}  // namespace hoist::ir
