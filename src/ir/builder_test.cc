#include "ir/builder.h"

#include <gtest/gtest.h>

#include "ir/print.h"

namespace hoist::ir {
namespace {

// The example of ir/builder.h.
TEST(Builder, MakesAKernelAsItIsPrinted) {
  Module module("saxpy.px");
  Expressions& make = module.expressions();
  KernelBuilder kernel(module, "saxpy");
  const Array* x = kernel.array("x", Scalar::f32, Direction::in);
  const Array* y = kernel.array("y", Scalar::f32, Direction::inout);
  const Expression* a = make.parameter(kernel.parameter("a", Scalar::f32));
  const Expression* n = make.parameter(kernel.parameter("n", Scalar::i32));
  const Expression* i = make.variable(kernel.declare("tid", make.id(Id::thread)));
  ASSERT_TRUE(kernel.begin_if(*make.compare(Comparison::less, i, n)));
  const Expression* product = *make.binary(BinaryOperator::multiply, a, *make.load(x, i));
  ASSERT_TRUE(kernel.store(y, i, *make.binary(BinaryOperator::add, product, *make.load(y, i))));
  kernel.end();
  const Kernel* made = kernel.finish();
  EXPECT_EQ(module.find_kernel("saxpy"), made);
  EXPECT_EQ(text_of(module),
            "kernel saxpy(in f32 x[], inout f32 y[], f32 a, i32 n) {\n"
            "  let tid: i32 = thread_id.x\n"
            "  if (tid < n) {\n"
            "    y[tid] = ((a * x[tid]) + y[tid])\n"
            "  }\n"
            "}\n");
}

TEST(Builder, BlocksNestAndNamesMayRepeat) {
  Module module("loop.px");
  Expressions& make = module.expressions();
  KernelBuilder kernel(module, "loop");
  const Array* out = kernel.array("out", Scalar::i32, Direction::out);
  const Array* tile = kernel.shared_array("tile", Scalar::u8, 64);
  const auto number = [&](int64_t value) { return make.integer(Scalar::i32, value); };
  const Variable* sum = kernel.declare_mutable("v", number(0));
  const Variable* i = *kernel.begin_for("v", number(0), number(10), number(2));
  ASSERT_TRUE(kernel.begin_if(*make.compare(Comparison::equal, make.variable(i), number(4))));
  ASSERT_TRUE(kernel.continue_loop());
  kernel.begin_else();
  ASSERT_TRUE(
      kernel.assign(sum, *make.binary(BinaryOperator::add, make.variable(sum), make.variable(i))));
  kernel.end();
  kernel.end();
  kernel.barrier();
  ASSERT_TRUE(kernel.reduce("all", Reduce::Scope::block, ReduceOperator::add, make.variable(sum)));
  ASSERT_TRUE(kernel.atomic("", AtomicOperator::add, out, number(0), make.variable(sum)));
  ASSERT_TRUE(kernel.store(tile, number(1), make.integer(Scalar::u8, 300)));
  EXPECT_EQ(text_of(*kernel.finish()),
            "kernel loop(out i32 out[]) {\n"
            "  shared u8 tile[64]\n"
            "  var v: i32 = 0\n"
            "  for v.2: i32 from 0 to 10 step 2 {\n"
            "    if (v.2 == 4) {\n"
            "      continue\n"
            "    } else {\n"
            "      v = (v + v.2)\n"
            "    }\n"
            "  }\n"
            "  barrier\n"
            "  let all: i32 = block_reduce.add(v)\n"
            "  atomic.add(out[0], v)\n"
            "  tile[1] = 44:u8\n"
            "}\n");
}

TEST(Builder, EqualExpressionsAreOne) {
  Module module("");
  Expressions& make = module.expressions();
  const Expression* one = make.integer(Scalar::i32, 1);
  EXPECT_EQ(one, make.constant(Scalar::i32, 1));
  EXPECT_NE(one, make.integer(Scalar::u32, 1));
  const auto sum = [&] { return *make.binary(BinaryOperator::add, make.id(Id::local, 1), one); };
  EXPECT_EQ(sum(), sum());
  EXPECT_EQ(make.with_operands(sum(), {make.id(Id::local, 1), one}), sum());
  const size_t size = make.size();
  (void)sum();
  EXPECT_EQ(make.size(), size);
}

TEST(Builder, TypesAreChecked) {
  Module module("");
  Expressions& make = module.expressions();
  const Expression* integer = make.integer(Scalar::i32, 1);
  const Expression* real = make.real(Scalar::f32, 1);
  const Expression* truth = make.boolean(true);
  const auto why = [](const auto& result) {
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(why(make.binary(BinaryOperator::add, integer, real)),
            "+ takes two values of one type, not i32 and f32");
  EXPECT_EQ(why(make.binary(BinaryOperator::remainder, real, real)), "% does not take f32");
  EXPECT_EQ(why(make.binary(BinaryOperator::bit_and, truth, truth)), "");
  EXPECT_EQ(why(make.binary(BinaryOperator::shift_left, integer, make.integer(Scalar::u8, 3))), "");
  EXPECT_EQ(why(make.compare(Comparison::less, truth, truth)), "< does not take bool");
  EXPECT_EQ(why(make.select(integer, real, real)), "a condition is bool, not i32");
  EXPECT_EQ(why(make.bitcast(Scalar::f64, real)), "f32 and f64 do not have the same bits");
  const Expression* two[] = {real, real};
  EXPECT_EQ(why(make.builtin(Builtin::square_root, two)), "sqrt takes 1 values, not 2");
  const Expression* pair = *make.vector(two);
  EXPECT_EQ(name(pair->type), "f32x2");
  EXPECT_EQ(why(make.lane(pair, 2)), "f32x2 has no lane 2");
  EXPECT_EQ(why(make.unary(UnaryOperator::negate, pair)), "- does not take f32x2");
  const Expression* truths[] = {truth, truth};
  EXPECT_EQ(why(make.vector(truths)), "a vector is not of bool");

  KernelBuilder kernel(module, "k");
  const Array* bytes = kernel.array("bytes", Scalar::u8, Direction::inout);
  EXPECT_EQ(why(kernel.store(bytes, real, integer)), "an index is an integer, not f32");
  EXPECT_EQ(why(kernel.store(bytes, integer, integer)), "bytes has elements of u8, not i32");
  EXPECT_EQ(why(kernel.assign(kernel.declare("v", integer), integer)), "v cannot be assigned");
  EXPECT_EQ(why(kernel.break_loop()), "there is no loop to leave");
  EXPECT_EQ(
      why(kernel.atomic("", AtomicOperator::add, bytes, integer, make.integer(Scalar::u8, 1))),
      "an atomic add does not take u8");
  EXPECT_EQ(why(kernel.begin_for("i", integer, real, integer)),
            "a loop's bounds and step have one type, not i32, f32 and i32");
}

TEST(Builder, AFunctionIsCalledWithItsTypes) {
  Module module("");
  Expressions& make = module.expressions();
  FunctionBuilder builder(module, "twice", Scalar::u32);
  const Expression* v = make.parameter(builder.parameter("v", Scalar::u32));
  EXPECT_FALSE(builder.return_value(make.boolean(true)));
  ASSERT_TRUE(builder.return_value(*make.binary(BinaryOperator::add, v, v)));
  const Function* twice = builder.finish();
  EXPECT_EQ(text_of(*twice),
            "function twice(u32 v) -> u32 {\n"
            "  return (v + v)\n"
            "}\n");
  const Expression* seven[] = {make.integer(Scalar::u32, 7)};
  EXPECT_EQ(text_of(**make.call(twice, seven)), "twice(7:u32)");
  const Expression* real[] = {make.real(Scalar::f32, 7)};
  EXPECT_EQ(make.call(twice, real).error().message, "v of twice is u32, not f32");
}

}  // namespace
}  // namespace hoist::ir
