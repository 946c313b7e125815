// Random kernels, by the interpreter and compiled: the same bits. HOIST_PX_MODULES=N takes more of
// them, HOIST_TEST_SEED=N those of a seed.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/test_seed.h"
#include "device/buffer.h"
#include "ir/interpret.h"
#include "ir/passes/simplify.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "px/compile/own_cache.h"
#include "px/program.h"
#include "px/random/kernels.h"

namespace hoist::px {
namespace {

constexpr int kModules = 4;
constexpr int kLaunches = 2;  // of each kernel

uint64_t module_count() {
  const char* const asked = std::getenv("HOIST_PX_MODULES");
  return asked ? std::strtoull(asked, nullptr, 10) : kModules;
}

struct Outcome {
  RandomLaunch launch;
  bool has_fault = false;
};

// By a compiled program on a GPU or the CPU, or the interpreter: what is in the arrays afterwards.
Outcome run(const Program& program, device::Stream& stream, const ir::Kernel& kernel,
            RandomLaunch launch) {
  device::Device& device = program.device();
  std::vector<ir::Argument> arguments = launch.arguments(kernel);
  std::vector<device::Buffer> buffers;
  for (ir::Argument& argument : arguments) {
    if (argument.data == nullptr) continue;
    const RandomLaunch::Memory& memory = launch.arrays[buffers.size()];
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(memory.data()),
                                           memory.bytes());
    buffers.push_back(device::Buffer::copy_of(device, bytes).value());
    argument.data = buffers.back().data();
  }
  const Status launched = program.launch(stream, kernel, launch.grid, arguments);
  EXPECT_TRUE(launched) << launched.error().message;
  const bool has_fault = program.take_fault(stream).value().has_value();
  for (size_t i = 0; i < buffers.size(); ++i) {
    RandomLaunch::Memory& memory = launch.arrays[i];
    const std::span<std::byte> bytes(static_cast<std::byte*>(memory.data()), memory.bytes());
    EXPECT_TRUE(buffers[i].download(bytes));
  }
  return {std::move(launch), has_fault};
}

void compare(uint64_t seed, const RandomOptions& options, Target target, device::Device& device,
             bool check_bounds) {
  // Two modules of one seed are the same.
  const Program oracle =
      Program::build(random_module(seed, options), {.target = Target::interpreter}).value();
  const Result<Program> compiled =
      Program::build(random_module(seed, options),
                     {.target = target, .device = &device, .check_bounds = check_bounds});
  ASSERT_TRUE(compiled) << "module " << seed << ": " << compiled.error().message;
  device::Stream host_stream = device::Stream::create(device::cpu_device()).value();
  device::Stream stream = device::Stream::create(device).value();
  for (const auto& kernel : oracle.module().kernels()) {
    for (int i = 0; i < kLaunches; ++i) {
      const RandomLaunch launch = random_launch(*kernel, seed + static_cast<uint64_t>(i));
      const Outcome expected = run(oracle, host_stream, *kernel, launch);
      const Outcome got = run(*compiled, stream, *compiled->find_kernel(kernel->name), launch);
      const std::string difference = first_difference(*kernel, expected.launch, got.launch);
      ASSERT_EQ(difference, "") << "module " << seed << ", launch " << i << " of "
                                << launch.grid.blocks[0] << " x " << launch.grid.blocks[1]
                                << " blocks of " << launch.grid.threads[0] << " x "
                                << launch.grid.threads[1] << " x " << launch.grid.threads[2] << "\n"
                                << ir::text_of(*kernel);
      if (check_bounds) EXPECT_EQ(expected.has_fault, got.has_fault) << ir::text_of(*kernel);
      if (!options.faults) EXPECT_FALSE(expected.has_fault) << ir::text_of(*kernel);
    }
  }
}

void compare_all(Target target, device::Device& device) {
  for (uint64_t i = 0; i < module_count(); ++i) {
    const bool faults = i % 3 == 2;
    compare(test_seed() + i, {.kernels = 8, .faults = faults}, target, device,
            faults || i % 3 == 1);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Random, ModulesAreRight) {
  for (uint64_t i = 0; i < 40; ++i) {
    const ir::Module module = random_module(test_seed() + i, {.kernels = 8});
    for (const ir::Problem& problem : ir::verify(module)) {
      ADD_FAILURE() << module.file() << ": " << problem.message << "\n" << ir::text_of(module);
      return;
    }
    EXPECT_EQ(ir::text_of(module), ir::text_of(random_module(test_seed() + i, {.kernels = 8})));
  }
}

TEST(Random, Simplified) {
  for (uint64_t i = 0; i < 20; ++i) {
    const uint64_t seed = test_seed() + i;
    const RandomOptions options = {.kernels = 6, .faults = i % 2 == 1};
    const ir::Module plain = random_module(seed, options);
    ir::Module simple = random_module(seed, options);
    ir::simplify(simple);
    EXPECT_EQ(ir::verify(simple), std::vector<ir::Problem>()) << ir::text_of(simple);
    for (const auto& kernel : plain.kernels()) {
      RandomLaunch expected = random_launch(*kernel, seed);
      RandomLaunch got = expected;
      const auto fault = ir::interpret(*kernel, expected.grid, expected.arguments(*kernel));
      const ir::Kernel& other = *simple.find_kernel(kernel->name);
      const auto simple_fault = ir::interpret(other, got.grid, got.arguments(other));
      EXPECT_EQ(fault.value().has_value(), simple_fault.value().has_value());
      ASSERT_EQ(first_difference(*kernel, expected, got), "")
          << "module " << seed << "\n"
          << ir::text_of(*kernel) << ir::text_of(other);
    }
  }
}

TEST(Random, CompiledForTheCpu) { compare_all(Target::cpu, device::cpu_device()); }

TEST(RandomGpu, CompiledForTheGpu) {
  const Result<device::Device*> device = device::cuda_device();
  if (!device) GTEST_SKIP() << device.error().message;
  compare_all(Target::cuda, **device);
}

}  // namespace
}  // namespace hoist::px
