// The functions that are not exact (ir/operators.h) against the host's, computed with more bits:
// how far off they are, on every target.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/test_seed.h"
#include "device/buffer.h"
#include "ir/testing.h"
#include "px/compile/own_cache.h"
#include "px/program.h"

namespace hoist::px {
namespace {

using ir::Builtin;
using ir::Direction;
using ir::Id;
using ir::Scalar;
using ir::Term;
using ir::TestKernel;

constexpr size_t kValues = 1 << 15;

struct Case {
  Builtin builtin;
  long double (*exact)(long double, long double);
  double least, most;  // of the arguments
  double units = 4;    // in the last place
};

template <long double function(long double)>
long double of_one(long double x, long double) {
  return function(x);
}
const Case kCases[] = {
    {Builtin::reciprocal_square_root, [](long double x, long double) { return 1 / std::sqrt(x); },
     1e-30, 1e30},
    {Builtin::exp, of_one<std::exp>, -80, 80},
    {Builtin::exp2, of_one<std::exp2>, -120, 120},
    {Builtin::log, of_one<std::log>, 1e-30, 1e30},
    {Builtin::log2, of_one<std::log2>, 1e-30, 1e30},
    {Builtin::log10, of_one<std::log10>, 1e-30, 1e30},
    {Builtin::sin, of_one<std::sin>, -1e4, 1e4},
    {Builtin::cos, of_one<std::cos>, -1e4, 1e4},
    {Builtin::tan, of_one<std::tan>, -1e4, 1e4},
    {Builtin::tanh, of_one<std::tanh>, -20, 20},
    {Builtin::erf, of_one<std::erf>, -6, 6},
    {Builtin::power, [](long double x, long double y) { return std::pow(x, y); }, 0.01, 100, 16},
};

// Each kernel is its function on every element.
ir::Module functions(Scalar type) {
  ir::Module module("functions.px");
  for (const Case& each : kCases) {
    TestKernel k(module, std::string(ir::name(each.builtin)));
    const ir::Array* x = k.array("x", type, Direction::in);
    const ir::Array* y = k.array("y", type, Direction::in);
    const ir::Array* out = k.array("out", type, Direction::out);
    const Term i = k.id(Id::thread);
    k.when(i < k.length(x).as(Scalar::i32));
    const Term value = k.load(x, i);
    k.put(out, i,
          each.builtin == Builtin::power ? ir::call(each.builtin, {value, k.load(y, i)})
                                         : ir::call(each.builtin, {value}));
    k.end();
    k.finish();
  }
  return module;
}

template <typename T>
struct Error {
  double units = 0;
  T at = 0;
};

template <typename T>
double units_off(T got, long double exact) {
  const T nearest = static_cast<T>(exact);
  if (!std::isnormal(nearest)) return 0;  // overflow and what is subnormal are not promised
  const int exponent = std::ilogb(nearest) - std::numeric_limits<T>::digits + 1;
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) /
                             std::ldexp(1.0L, exponent));
}

template <typename T>
std::vector<T> arguments_of(const Case& each, std::mt19937_64& random) {
  std::vector<T> values(kValues);
  const bool is_wide_range = each.least > 0 && each.most > 1e10;
  for (T& value : values) {
    std::uniform_real_distribution<double> even(each.least, each.most);
    std::uniform_real_distribution<double> exponents(std::log(std::max(each.least, 1e-30)),
                                                     std::log(each.most));
    value = static_cast<T>(is_wide_range ? std::exp(exponents(random)) : even(random));
    // Many small ones: there most functions are steep or nearly themselves.
    if (!is_wide_range && random() % 4 == 0) value = static_cast<T>(value / each.most);
  }
  return values;
}

template <typename T>
void check(Scalar type, Target target, device::Device& device) {
  std::mt19937_64 random(test_seed());
  const Result<Program> program =
      Program::build(functions(type), {.target = target, .device = &device});
  ASSERT_TRUE(program) << program.error().message;
  device::Stream stream = device::Stream::create(device).value();
  for (const Case& each : kCases) {
    std::vector<T> x = arguments_of<T>(each, random);
    std::vector<T> y(kValues), out(kValues);
    for (T& value : y) value = static_cast<T>(static_cast<double>(random() % 2000) / 100 - 10);
    const auto copied = [&](const std::vector<T>& values) {
      return device::Buffer::copy_of(device, std::as_bytes(std::span(values))).value();
    };
    const device::Buffer xs = copied(x), ys = copied(y), outs = copied(out);
    const ir::Argument arguments[] = {ir::Argument::array(xs.data(), kValues),
                                      ir::Argument::array(ys.data(), kValues),
                                      ir::Argument::array(outs.data(), kValues)};
    const std::string name(ir::name(each.builtin));
    ASSERT_TRUE(program->launch(stream, *program->find_kernel(name),
                                {.blocks = {kValues / 256, 1, 1}, .threads = {256, 1, 1}},
                                arguments));
    ASSERT_TRUE(stream.synchronize());
    ASSERT_TRUE(outs.download(std::as_writable_bytes(std::span(out))));
    Error<T> worst;
    for (size_t i = 0; i < kValues; ++i) {
      const double units = units_off(out[i], each.exact(x[i], y[i]));
      if (units > worst.units) worst = {units, x[i]};
    }
    EXPECT_LE(worst.units, each.units) << name << " of " << worst.at << ", " << ir::name(type);
    testing::Test::RecordProperty(name, fmt::format("{:.2f}", worst.units));
  }
}

TEST(Accuracy, SinglesOnTheCpu) { check<float>(Scalar::f32, Target::cpu, device::cpu_device()); }
TEST(Accuracy, DoublesOnTheCpu) { check<double>(Scalar::f64, Target::cpu, device::cpu_device()); }
TEST(Accuracy, SinglesInterpreted) {
  check<float>(Scalar::f32, Target::interpreter, device::cpu_device());
}

TEST(AccuracyGpu, SinglesAndDoubles) {
  const Result<device::Device*> device = device::cuda_device();
  if (!device) GTEST_SKIP() << device.error().message;
  check<float>(Scalar::f32, Target::cuda, **device);
  check<double>(Scalar::f64, Target::cuda, **device);
}

}  // namespace
}  // namespace hoist::px
