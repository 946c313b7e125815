#include <gtest/gtest.h>

#include "ir/passes/simplify.h"
#include "ir/print.h"
#include "ir/testing.h"
#include "ir/verify.h"

namespace hoist::ir {
namespace {

class Passes : public testing::Test {
 protected:
  Module module_{"k.px"};
  TestKernel kernel_{module_};
  const Array* a_ = kernel_.array("a", Scalar::i32, Direction::inout);
  const Array* f_ = kernel_.array("f", Scalar::f32, Direction::inout);
  Term n_ = kernel_.scalar("n", Scalar::i32);
  Term x_ = kernel_.scalar("x", Scalar::f32);
  Term yes_ = kernel_.scalar("yes", Scalar::boolean);

  // The statements of the kernel afterwards.
  std::string simplified() {
    const Kernel* kernel = kernel_.finish();
    simplify(module_);
    EXPECT_EQ(verify(module_), std::vector<Problem>());
    const std::string text = text_of(*kernel);
    const size_t begin = text.find('\n') + 1;
    return text.substr(begin, text.rfind('}') - begin);
  }
  void put(const Expression* value) { kernel_.put(a_, n_, value); }
  void put_float(const Expression* value) { kernel_.put(f_, n_, value); }
};

TEST_F(Passes, ConstantsAreComputed) {
  const Term one = kernel_.let("one", kernel_.number(Scalar::i32, 1));
  const Term two = kernel_.let("two", one + one);
  put(select(two == 2, two * 21, n_));
  put((kernel_.number(Scalar::i32, 7) / 0).as(Scalar::i32));
  put(call(Builtin::population_count, {kernel_.number(Scalar::i32, 255)}));
  EXPECT_EQ(simplified(), "  a[n] = 42\n  a[n] = 0\n  a[n] = 8\n");
}

TEST_F(Passes, WhatIsNotExactIsLeftToTheTarget) {
  put_float(call(Builtin::sin, {kernel_.number(Scalar::f32, 1)}));
  EXPECT_EQ(simplified(), "  f[n] = sin(1.0)\n");
}

TEST_F(Passes, IntegersThatAreAnother) {
  for (const Term same : {n_ + 0, n_ - 0, n_ * 1, n_ / 1, n_ & n_, n_ | n_, n_ ^ n_.number(0),
                          n_ << n_.number(0), -(-n_), ~~n_, (n_ - n_) + n_, n_ + (n_ % 1)}) {
    put(same);
  }
  std::string expected;
  for (int i = 0; i < 12; ++i) expected += "  a[n] = n\n";
  EXPECT_EQ(simplified(), expected);
}

TEST_F(Passes, FloatsKeepTheirZeros) {
  put_float(x_ * 1);
  put_float(x_ - 0);
  put_float(x_ + 0);  // -0 + 0 is 0
  put_float(x_ * 0);  // of a NaN, or -1
  put_float(x_ - x_);
  EXPECT_EQ(simplified(),
            "  f[n] = x\n  f[n] = x\n  f[n] = (x + 0.0)\n  f[n] = (x * 0.0)\n  f[n] = (x - x)\n");
}

TEST_F(Passes, ComparisonsTurnRoundWhereNoNanIs) {
  kernel_.when(~(n_ < 3));
  put(n_);
  kernel_.end();
  kernel_.when(~(x_ < 3));
  put(n_);
  kernel_.end();
  EXPECT_EQ(simplified(),
            "  if (n >= 3) {\n    a[n] = n\n  }\n  if ~(x < 3.0) {\n    a[n] = n\n  }\n");
}

TEST_F(Passes, WhatMayFaultStays) {
  const Term load = kernel_.load(a_, n_);
  (void)kernel_.let("unused", load);
  put(load - load);
  const Term no = {&module_.expressions(), module_.expressions().boolean(false)};
  kernel_.when((load == 1) & no);
  put(n_);
  kernel_.end();
  kernel_.when(no & (load == 1));
  put(n_);
  kernel_.end();
  EXPECT_EQ(simplified(),
            "  let unused: i32 = a[n]\n"
            "  a[n] = (a[n] - a[n])\n"
            "  if ((a[n] == 1) & false) {\n    a[n] = n\n  }\n");
}

TEST_F(Passes, DeadCodeGoes) {
  (void)kernel_.let("unused", n_ + 5);
  const Term written = kernel_.var("written", n_);
  kernel_.set(written, n_ * 2);
  (void)kernel_.balloted(yes_);
  (void)kernel_.loop("i", n_.number(0), n_, n_.number(1));
  kernel_.end();
  kernel_.when(yes_);
  put(n_);
  kernel_.return_thread();
  put(n_ + 1);
  kernel_.end();
  (void)kernel_.atomic("old", AtomicOperator::add, a_, n_, n_);
  EXPECT_EQ(simplified(), "  if yes {\n    a[n] = n\n    return\n  }\n  atomic.add(a[n], n)\n");
}

TEST_F(Passes, ABranchThatIsTakenTakesItsPlace) {
  const Term size = kernel_.let("size", kernel_.number(Scalar::i32, 256));
  kernel_.when(size < 128);
  put(n_);
  kernel_.begin_else();
  const Term v = kernel_.let("v", n_ + 1);
  put(v * v);
  kernel_.end();
  EXPECT_EQ(simplified(), "  let v: i32 = (n + 1)\n  a[n] = (v * v)\n");
}

}  // namespace
}  // namespace hoist::ir
