#include <gtest/gtest.h>

#include "ir/testing.h"
#include "px/emit/block_plan.h"
#include "px/emit/cpp.h"
#include "px/emit/cuda.h"
#include "px/emit/expression_text.h"
#include "px/emit/range.h"

namespace hoist::px {
namespace {

using ir::Direction;
using ir::Id;
using ir::Scalar;
using ir::Term;
using ir::TestKernel;

class Emit : public testing::Test {
 protected:
  ir::Module module_{"k.px"};
  TestKernel kernel_{module_};
  const ir::Array* x_ = kernel_.array("x", Scalar::f32, Direction::in);
  const ir::Array* y_ = kernel_.array("y", Scalar::f32, Direction::inout);
  const ir::Array* a_ = kernel_.array("a", Scalar::i32, Direction::inout);
  Term n_ = kernel_.scalar("n", Scalar::i32);
  Term tid_ = kernel_.id(Id::thread);

  // The kernel's loop or function, behind all preludes.
  static std::string behind(const std::string& text, std::string_view mark) {
    return text.substr(std::min(text.find(mark), text.size()));
  }
  std::string cpp() { return behind(emit_cpp(module_, false).text, "static void k_k("); }
  bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(Emit, AGuardBecomesTheLoopsEnd) {
  const Term i = kernel_.let("i", tid_);
  kernel_.when(kernel_.let("inside", i < n_));
  kernel_.put(y_, i, kernel_.load(x_, i) * 2);
  kernel_.end();
  kernel_.finish();
  const std::string text = cpp();
  EXPECT_TRUE(has(text, "const i32 end = min(i32(at.last) * width, v_n);")) << text;
  EXPECT_TRUE(has(text, "v_y[v_i] = v_x[v_i] * 2.0f;")) << text;
  EXPECT_FALSE(has(text, "if (")) << text;
}

TEST_F(Emit, AThreadThatReturnsIsAGuard) {
  kernel_.when(tid_ >= n_);
  kernel_.return_thread();
  kernel_.end();
  kernel_.put(y_, tid_, kernel_.load(x_, tid_));
  kernel_.put(a_, tid_, tid_);
  kernel_.finish();
  const std::string text = cpp();
  EXPECT_TRUE(has(text, "min(i32(at.last) * width, v_n)")) << text;
  EXPECT_FALSE(has(text, "continue;")) << text;
}

TEST_F(Emit, AGuardThatMemoryDecidesIsAsked) {
  kernel_.when(tid_ < kernel_.load(a_, n_));
  kernel_.put(y_, tid_, kernel_.load(x_, tid_));
  kernel_.end();
  kernel_.finish();
  EXPECT_TRUE(has(cpp(), "if (thread_x < v_a[v_n])"));
}

TEST_F(Emit, WhatCannotWrapIsAddedAsCppAdds) {
  ir::Module module("");
  TestKernel k(module);
  const Term tid = k.id(Id::thread);
  const Term n = k.scalar("n", Scalar::i32);
  const Term seven = k.loop("i", tid.number(0), tid.number(8), tid.number(1));
  k.end();
  const ir::Kernel& kernel = *k.finish();
  const Ranges far(kernel, INT32_MAX);
  const Ranges near(kernel, int64_t{1} << 28);
  EXPECT_TRUE(far.never_wraps(*(tid + 1).expression));
  EXPECT_FALSE(far.never_wraps(*(tid + 2).expression));
  EXPECT_TRUE(near.never_wraps(*(tid * 8 + seven).expression));
  EXPECT_FALSE(near.never_wraps(*(tid * 9).expression));
  EXPECT_TRUE(far.never_wraps(*(seven * 100 - 5).expression));
  EXPECT_FALSE(near.never_wraps(*(n + 1).expression));
  EXPECT_TRUE(near.never_wraps(*(n % 100 + 1).expression));
  EXPECT_TRUE(near.never_wraps(*((n & n.number(255)) * 1000).expression));
}

TEST_F(Emit, NoNameIsCpp) {
  ir::Module module("");
  TestKernel k(module, "for");
  const ir::Array* out = k.array("x; halt(); //", Scalar::i32, Direction::inout);
  const Term i = k.let("int", k.id(Id::thread));
  const Term other = k.let("int", i + 1);
  k.put(out, i, other);
  k.finish();
  for (const std::string& text : {emit_cpp(module, false).text, emit_cuda(module, true).text}) {
    EXPECT_FALSE(has(text, "halt();"));
    EXPECT_TRUE(has(text, "v_x__halt______"));
    EXPECT_TRUE(has(text, "const i32 v_int_2 = v_int + 1;")) << text;
    EXPECT_TRUE(has(text, "px_kernel_for("));
  }
}

// What other threads write is read behind the barrier: restricted pointers let CUDA read it before.
TEST_F(Emit, MemoryBehindABarrierIsNotRestricted) {
  for (const bool has_barrier : {false, true}) {
    ir::Module module("");
    TestKernel k(module, "k");
    const ir::Array* in = k.array("in", Scalar::f32, Direction::in);
    const ir::Array* shared = k.array("shared", Scalar::f32, Direction::inout);
    const Term local = k.let("local", k.id(Id::local));
    k.put(shared, local, k.load(in, local));
    if (has_barrier) k.barrier();
    k.put(shared, local, k.load(shared, local));
    k.finish();
    const std::string text = emit_cuda(module, false).text;
    EXPECT_EQ(has(text, "f32* __restrict__ v_shared,"), !has_barrier) << text;
    EXPECT_TRUE(has(text, "const f32* __restrict__ v_in,"));
  }
}

TEST_F(Emit, ArraysThatMayBeOneAreNotRestricted) {
  ir::Module module("");
  TestKernel k(module, "k");
  const ir::Array* in = k.array("in", Scalar::f32, Direction::in, true);
  const ir::Array* out = k.array("out", Scalar::f32, Direction::out, true);
  const ir::Array* other = k.array("other", Scalar::f32, Direction::in);
  const Term i = k.id(Id::thread);
  k.put(out, i, k.load(in, i) + k.load(other, i));
  k.finish();
  for (const std::string& text : {emit_cpp(module, false).text, emit_cuda(module, false).text}) {
    EXPECT_TRUE(has(text, "const f32* v_in,")) << text;
    EXPECT_TRUE(has(text, " f32* v_out,"));
    EXPECT_TRUE(has(text, "v_other,"));
    EXPECT_FALSE(has(text, "f32* v_other,"));
  }
}

TEST_F(Emit, VariablesAreKeptWhereStepsNeedThem) {
  const ir::Array* tile = kernel_.shared_array("tile", Scalar::f32, 64);
  const Term local = kernel_.let("local", kernel_.id(Id::local));
  const Term value = kernel_.let("value", kernel_.load(x_, tid_));
  const Term once = kernel_.let("once", value * 2);
  kernel_.put(tile, local, once);
  kernel_.barrier();
  const Term stride = kernel_.var("stride", n_);
  kernel_.loop_while(stride.number(0) < stride);
  kernel_.put(y_, local, kernel_.load(tile, local) + value);
  kernel_.barrier();
  kernel_.set(stride, stride / 2);
  kernel_.end();
  const BlockPlan plan(*kernel_.finish());
  const auto storage = [&](Term term) { return plan.storage(term.expression->variable); };
  EXPECT_EQ(storage(local), BlockPlan::Storage::rebuilt);
  EXPECT_EQ(storage(value), BlockPlan::Storage::kept);
  EXPECT_EQ(storage(once), BlockPlan::Storage::plain);
  EXPECT_EQ(storage(stride), BlockPlan::Storage::shared);
  EXPECT_FALSE(plan.marks_gone());
  ASSERT_EQ(plan.steps().size(), 3U);
  EXPECT_EQ(plan.steps()[0].kind, Step::Kind::threads);
  EXPECT_EQ(plan.steps()[1].kind, Step::Kind::uniform);
  EXPECT_EQ(plan.steps()[2].kind, Step::Kind::while_loop);
  EXPECT_EQ(plan.steps()[2].body.size(), 2U);
}

TEST_F(Emit, ConstantsAreReadAsWhatTheyAre) {
  const auto text = [](Scalar type, uint64_t bits) { return constant_text(type, bits); };
  EXPECT_EQ(text(Scalar::i32, 0x80000000), "(-2147483647 - 1)");
  EXPECT_EQ(text(Scalar::i8, 0xff), "i8(-1)");
  EXPECT_EQ(text(Scalar::u64, ~uint64_t{0}), "18446744073709551615ull");
  EXPECT_EQ(text(Scalar::f32, 0x3dcccccd), "0.1f");
  EXPECT_EQ(text(Scalar::f32, 0xff800000), "__builtin_bit_cast(f32, 0xff800000u)");
  EXPECT_EQ(text(Scalar::f64, 0x8000000000000000), "-0.0");
  EXPECT_EQ(text(Scalar::f16, 0x3c00), "f16{0x3c00}");
}

}  // namespace
}  // namespace hoist::px
