#include "px/program.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "device/buffer.h"
#include "ir/testing.h"
#include "px/compile/cpp_compiler.h"
#include "px/compile/own_cache.h"

namespace hoist::px {
namespace {

using ir::Argument;
using ir::Direction;
using ir::Id;
using ir::Scalar;
using ir::Term;
using ir::TestKernel;

template <typename T>
Argument array_of(std::vector<T>& values) {
  return Argument::array(values.data(), values.size());
}

ir::Module saxpy() {
  ir::Module module("saxpy.px");
  TestKernel k(module, "saxpy");
  const ir::Array* x = k.array("x", Scalar::f32, Direction::in);
  const ir::Array* y = k.array("y", Scalar::f32, Direction::inout);
  const Term a = k.scalar("a", Scalar::f32);
  const Term n = k.scalar("n", Scalar::i32);
  k.at({3, 5});
  const Term tid = k.let("tid", k.id(Id::thread));
  k.when(k.let("in_bounds", tid < n));
  k.put(y, tid, a * k.load(x, tid) + k.load(y, tid));
  k.finish();
  return module;
}

// On the CPU, as an interpreter or compiled: where the parameter is a target.
class Programs : public testing::TestWithParam<Target> {
 protected:
  device::Stream stream_ = device::Stream::create(device::cpu_device()).value();

  Program build(ir::Module module, bool check_bounds = false) {
    Result<Program> program =
        Program::build(std::move(module), {.target = GetParam(), .check_bounds = check_bounds});
    if (!program) throw std::runtime_error(program.error().message);
    return *std::move(program);
  }
  std::optional<ir::Fault> run(const Program& program, const char* kernel, const ir::Grid& grid,
                               const std::vector<Argument>& arguments) {
    const Status launched = program.launch(stream_, *program.find_kernel(kernel), grid, arguments);
    EXPECT_TRUE(launched) << launched.error().message;
    return program.take_fault(stream_).value();
  }
};

TEST_P(Programs, Saxpy) {
  const Program program = build(saxpy());
  std::vector<float> x(100000), y(100000, 1);
  std::iota(x.begin(), x.end(), 0.0F);
  EXPECT_FALSE(run(program, "saxpy", {.blocks = {400, 1, 1}, .threads = {256, 1, 1}},
                   {array_of(x), array_of(y), Argument::scalar(std::bit_cast<uint32_t>(2.0F)),
                    Argument::scalar(99999)}));
  for (size_t i = 0; i < 99999; ++i) ASSERT_EQ(y[i], 2 * x[i] + 1);
  EXPECT_EQ(y[99999], 1);
}

TEST_P(Programs, FaultsHaveTheirPlace) {
  const Program program = build(saxpy(), true);
  std::vector<float> x(100), y(100, 1);
  const auto fault = run(program, "saxpy", {.blocks = {4, 1, 1}, .threads = {32, 1, 1}},
                         {array_of(x), array_of(y), Argument::scalar(0), Argument::scalar(101)});
  ASSERT_TRUE(fault);
  EXPECT_EQ(ir::describe(*fault, program.module().file()),
            "saxpy.px:3:5: saxpy reads or writes " + fault->array +
                "[100], which has 100 elements (block 3, thread 4)");
  EXPECT_FALSE(program.take_fault(stream_).value());
}

TEST_P(Programs, WrongModulesAndLaunchesAreRefused) {
  ir::Module module("k.px");
  TestKernel k(module);
  k.at({4, 2});
  k.when(k.id(Id::local) < 3);
  k.barrier();
  k.end();
  k.finish();
  const Result<Program> refused = Program::build(std::move(module), {.target = GetParam()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "k.px:4:2: a barrier where threads of a block may diverge (since line 4)");
  const Program program = build(saxpy());
  EXPECT_FALSE(program.launch(stream_, *program.find_kernel("saxpy"), {}, {}));
  EXPECT_EQ(program.find_kernel("none"), nullptr);
}

// A block whose threads have all returned evaluates nothing for them.
TEST_P(Programs, NobodyLoadsForThreadsThatAreGone) {
  ir::Module module("k.px");
  TestKernel k(module, "k");
  const ir::Array* scale = k.array("scale", Scalar::i32, Direction::in);
  const ir::Array* out = k.array("out", Scalar::i32, Direction::inout);
  const ir::Array* tile = k.shared_array("tile", Scalar::i32, 32);
  const Term n = k.scalar("n", Scalar::i32);
  const Term tid = k.let("tid", k.id(Id::thread));
  k.put(tile, k.id(Id::local), tid);
  k.barrier();
  k.when(tid >= n);
  k.return_thread();
  k.end();
  const Term factor = k.let("factor", k.load(scale, k.id(Id::block)));
  k.put(out, tid, factor * k.load(tile, k.id(Id::local)));
  k.finish();
  const Program program = build(std::move(module), true);
  std::vector<int32_t> factors = {2, 3}, got(40, -1);
  EXPECT_FALSE(run(program, "k", {.blocks = {3, 1, 1}, .threads = {32, 1, 1}},
                   {array_of(factors), array_of(got), Argument::scalar(40)}));
  EXPECT_EQ(got[31], 62);
  EXPECT_EQ(got[39], 117);
}

TEST_P(Programs, EmptyGridsDoNothing) {
  const Program program = build(saxpy());
  std::vector<float> x(1), y(1, 1);
  EXPECT_FALSE(run(program, "saxpy", {.blocks = {0, 1, 1}, .threads = {256, 1, 1}},
                   {array_of(x), array_of(y), Argument::scalar(0), Argument::scalar(1)}));
  EXPECT_EQ(y[0], 1);
}

TEST_P(Programs, SeveralWithOneKernelsNameKeepTheirCode) {
  std::vector<Program> programs;
  for (const int number : {1, 2, 3}) {
    ir::Module module("k.px");
    TestKernel k(module, "k");
    const ir::Array* out = k.array("out", Scalar::i32, Direction::out);
    k.put(out, k.number(Scalar::i32, 0), k.number(Scalar::i32, number));
    k.finish();
    programs.push_back(build(std::move(module)));
  }
  for (size_t i = 0; i < programs.size(); ++i) {
    std::vector<int32_t> got(1);
    EXPECT_FALSE(run(programs[i], "k", {}, {array_of(got)}));
    EXPECT_EQ(got[0], static_cast<int32_t>(i) + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, Programs, testing::Values(Target::cpu, Target::interpreter),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Program, ATargetFitsItsDevice) {
  const Result<Program> program =
      Program::build(saxpy(), {.target = Target::cuda, .device = &device::cpu_device()});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message, "cuda does not run on cpu");
}

TEST(Program, WithoutACompilerItIsInterpreted) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const Result<Program> program = Program::build(saxpy(), {});
  const Result<Program> refused = Program::build(saxpy(), {.target = Target::cpu});
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->target(), Target::interpreter);
  EXPECT_NE(program->note().find("compiler"), std::string::npos);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
}

// The sum of a block's values by shared memory and by a reduction, which must be the same.
ir::Module block_sums() {
  ir::Module module("sums.px");
  TestKernel k(module, "sums");
  const ir::Array* x = k.array("x", Scalar::i32, Direction::in);
  const ir::Array* sums = k.array("sums", Scalar::i32, Direction::inout);
  const ir::Array* tile = k.shared_array("tile", Scalar::i32, 1024);
  const Term local = k.let("local", k.id(Id::local));
  const Term v = k.let("v", k.load(x, k.id(Id::thread)));
  k.put(tile, local, v);
  k.barrier();
  const Term stride = k.var("stride", k.id(Id::block_size) / 2);
  k.loop_while(stride.number(0) < stride);
  k.when(local < stride);
  k.put(tile, local, k.load(tile, local) + k.load(tile, local + stride));
  k.end();
  k.barrier();
  k.set(stride, stride / 2);
  k.end();
  const Term total = k.reduced(ir::Reduce::Scope::block, ir::ReduceOperator::add, v);
  const Term block = k.id(Id::block) * 2;
  k.when(local == 0);
  k.put(sums, block, k.load(tile, local));
  k.put(sums, block + 1, total);
  k.finish();
  return module;
}

class ProgramGpu : public testing::Test {
 protected:
  void SetUp() override {
    const Result<device::Device*> found = device::cuda_device();
    if (!found) GTEST_SKIP() << found.error().message;
    device_ = *found;
    stream_.emplace(device::Stream::create(*device_).value());
  }
  template <typename T>
  device::Buffer copied(const std::vector<T>& values) {
    return device::Buffer::copy_of(*device_, std::as_bytes(std::span(values))).value();
  }

  device::Device* device_ = nullptr;
  std::optional<device::Stream> stream_;
};

TEST_F(ProgramGpu, BlocksOfAnySizeAndFaults) {
  const Program program =
      Program::build(block_sums(), {.device = device_, .check_bounds = true}).value();
  EXPECT_EQ(program.target(), Target::cuda);
  std::vector<int32_t> x(4096), sums(256);
  std::iota(x.begin(), x.end(), -1000);
  const device::Buffer xs = copied(x);
  const Argument input = Argument::array(xs.data(), x.size());
  for (const uint32_t threads : {32U, 256U, 1024U}) {
    device::Buffer out = copied(sums);
    const Argument arguments[] = {input, Argument::array(out.data(), sums.size())};
    const uint32_t blocks = 4096 / threads;
    const Status launched =
        program.launch(*stream_, *program.find_kernel("sums"),
                       {.blocks = {blocks, 1, 1}, .threads = {threads, 1, 1}}, arguments);
    ASSERT_TRUE(launched) << launched.error().message;
    EXPECT_FALSE(program.take_fault(*stream_).value());
    std::vector<int32_t> got(256);
    ASSERT_TRUE(out.download(std::as_writable_bytes(std::span(got))));
    for (uint32_t b = 0; b < blocks; ++b) {
      const auto* begin = x.data() + b * threads;
      const int32_t expected = std::accumulate(begin, begin + threads, 0);
      EXPECT_EQ(got[2 * b], expected);
      EXPECT_EQ(got[2 * b + 1], expected);
    }
  }
  device::Buffer out = copied(sums);
  const Argument arguments[] = {Argument::array(xs.data(), 100),
                                Argument::array(out.data(), sums.size())};
  ASSERT_TRUE(program.launch(*stream_, *program.find_kernel("sums"),
                             {.blocks = {1, 1, 1}, .threads = {128, 1, 1}}, arguments));
  const auto fault = program.take_fault(*stream_).value();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->array, "x");
  EXPECT_GE(fault->index, 100);
  EXPECT_EQ(fault->length, 100U);
  EXPECT_EQ(fault->kernel, "sums");
  EXPECT_FALSE(program.take_fault(*stream_).value());
}

TEST(CppCompiler, SaysWhatItDoesNotLike) {
  const CppCompiler compiler = find_cpp_compiler().value();
  const auto code = compile_shared(compiler, "int x = y;", portable_options());
  ASSERT_FALSE(code);
  EXPECT_NE(code.error().message.find("'y'"), std::string::npos) << code.error().message;
}

}  // namespace
}  // namespace hoist::px
