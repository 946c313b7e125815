#include "ir/verify.h"

#include <gtest/gtest.h>

#include "ir/testing.h"

namespace hoist::ir {
namespace {

std::string messages(const Module& module) {
  std::string text;
  for (const Problem& problem : verify(module)) {
    text += std::to_string(problem.place.line) + ": " + problem.message + "\n";
  }
  return text;
}

// A kernel of three arrays whose statements come at lines 1, 2, ….
class Verify : public testing::Test {
 protected:
  Module module_{"k.px"};
  TestKernel kernel_{module_};
  const Array* in_ = kernel_.array("a", Scalar::i32, Direction::in);
  const Array* out_ = kernel_.array("b", Scalar::i32, Direction::out);
  const Array* both_ = kernel_.array("c", Scalar::i32, Direction::inout);
  Term n_ = kernel_.scalar("n", Scalar::i32);
  Term local_ = kernel_.id(Id::local);
  uint32_t line_ = 0;

  void line() { kernel_.at({++line_, 1}); }
  std::string found() {
    kernel_.finish();
    return messages(module_);
  }
};

TEST_F(Verify, NothingIsWrong) {
  const Array* tile = kernel_.shared_array("tile", Scalar::i32, 256);
  kernel_.put(tile, local_, kernel_.load(in_, local_));
  kernel_.barrier();
  const Term stride = kernel_.var("stride", kernel_.number(Scalar::i32, 128));
  kernel_.loop_while(kernel_.number(Scalar::i32, 0) < stride);
  kernel_.when(local_ < stride);
  kernel_.put(tile, local_, kernel_.load(tile, local_) + kernel_.load(tile, local_ + stride));
  kernel_.end();
  kernel_.barrier();
  kernel_.set(stride, stride / 2);
  kernel_.end();
  kernel_.when(local_ == 0);
  kernel_.put(out_, kernel_.id(Id::block), kernel_.load(tile, local_));
  EXPECT_EQ(found(), "");
}

TEST_F(Verify, ABarrierNeedsUniformControl) {
  line();  // 1
  kernel_.when(local_ < 5);
  line();
  kernel_.barrier();
  kernel_.end();
  line();  // 3
  kernel_.when(n_ < 5);
  kernel_.barrier();
  kernel_.end();
  line();  // 4
  kernel_.when(kernel_.load(in_, local_) < 5);
  line();
  (void)kernel_.reduced(Reduce::Scope::warp, ReduceOperator::add, local_);
  kernel_.end();
  line();  // 6
  kernel_.when(kernel_.load(in_, n_) < 5);
  (void)kernel_.balloted(local_ < n_);
  EXPECT_EQ(found(),
            "2: a barrier where threads of a block may diverge (since line 1)\n"
            "5: a reduction where threads of a block may diverge (since line 4)\n");
}

TEST_F(Verify, AThreadThatReturnsIsMissed) {
  line();  // 1
  kernel_.when(local_ >= n_);
  kernel_.return_thread();
  kernel_.end();
  line();
  kernel_.barrier();
  EXPECT_EQ(found(), "2: a barrier where threads of a block may diverge (since line 1)\n");
}

TEST_F(Verify, AllMayReturn) {
  kernel_.when(n_ < 0);
  kernel_.return_thread();
  kernel_.end();
  kernel_.barrier();
  EXPECT_EQ(found(), "");
}

TEST_F(Verify, ALoopThatThreadsLeaveApart) {
  const Term one = kernel_.number(Scalar::i32, 1);
  line();  // 1
  (void)kernel_.loop("i", kernel_.number(Scalar::i32, 0), n_, one);
  line();
  kernel_.barrier();  // in the second turn some are gone
  line();
  kernel_.when(local_ < 3);
  line();
  kernel_.leave();
  kernel_.end();
  kernel_.end();
  line();
  kernel_.barrier();  // all are here again
  EXPECT_EQ(found(), "2: a barrier where threads of a block may diverge (since line 1)\n");
}

TEST_F(Verify, ATurnThatThreadsEndApart) {
  const Term one = kernel_.number(Scalar::i32, 1);
  line();  // 1
  (void)kernel_.loop("i", kernel_.number(Scalar::i32, 0), n_, one);
  kernel_.barrier();
  line();
  kernel_.when(local_ < 3);
  kernel_.next();
  kernel_.end();
  line();
  kernel_.barrier();
  kernel_.end();
  EXPECT_EQ(found(), "3: a barrier where threads of a block may diverge (since line 2)\n");
}

TEST_F(Verify, ValuesDivergeWithTheirControl) {
  const Term v = kernel_.var("v", n_);
  const Term w = kernel_.var("w", n_);
  line();  // 1
  (void)kernel_.loop("i", kernel_.number(Scalar::i32, 0), n_, kernel_.number(Scalar::i32, 1));
  kernel_.set(w, v);  // uniform in the first turn alone
  kernel_.when(local_ < 3);
  kernel_.set(v, v + 1);
  kernel_.end();
  kernel_.end();
  line();
  kernel_.when(w < 3);
  line();
  kernel_.barrier();
  EXPECT_EQ(found(), "3: a barrier where threads of a block may diverge (since line 2)\n");
}

TEST_F(Verify, DirectionsAndSpaces) {
  const Array* own = kernel_.local_array("own", Scalar::i32, 4);
  const Array* table = module_.add_table("t", Scalar::i32, {1, 2});
  line();
  kernel_.put(in_, n_, n_);
  line();
  kernel_.put(table, n_, n_);
  line();
  kernel_.put(out_, n_, kernel_.load(out_, n_) + kernel_.load(both_, n_) + kernel_.load(table, n_));
  line();
  (void)kernel_.atomic("", AtomicOperator::add, out_, n_, n_);
  line();
  (void)kernel_.atomic("", AtomicOperator::add, own, n_, n_);
  line();
  (void)kernel_.atomic("", AtomicOperator::add, both_, n_, n_);
  EXPECT_EQ(found(),
            "1: a is in: it cannot be written\n"
            "2: t is constant\n"
            "3: b is out: it cannot be read\n"
            "4: b is out: an atomic reads it, too\n"
            "5: own is the thread's own\n");
}

TEST_F(Verify, ScopesEnd) {
  line();
  kernel_.when(n_ < 1);
  const Term inner = kernel_.let("inner", n_);
  kernel_.end();
  line();
  kernel_.put(both_, n_, inner);
  line();
  const Term i = kernel_.loop("i", n_, n_, n_);
  kernel_.end();
  line();
  kernel_.put(both_, n_, i);
  TestKernel other(module_, "other");
  const Array* stranger = other.shared_array("stranger", Scalar::i32, 4);
  line();
  kernel_.put(stranger, n_, n_);
  EXPECT_EQ(found(),
            "2: inner is not in scope\n"
            "4: i is not in scope\n"
            "5: stranger is no array here\n");
}

TEST_F(Verify, SharedMemoryIsLimited) {
  kernel_.shared_array("x", Scalar::f64, 4096);
  kernel_.shared_array("y", Scalar::f64, 2049);
  EXPECT_EQ(found(), "0: k has 49168 bytes of shared memory, more than the 49152 of a block\n");
}

TEST_F(Verify, FunctionsEndWithAValueAndKnowNoThread) {
  FunctionBuilder builder(module_, "f", Scalar::i32, {3, 1});
  const Term p = n_.with(module_.expressions().parameter(builder.parameter("p", Scalar::i32)));
  builder.at({4, 1});
  ASSERT_TRUE(builder.begin_if(p < 0));
  ASSERT_TRUE(builder.return_value(local_));
  builder.end();
  const Function* f = builder.finish();
  FunctionBuilder recursive(module_, "g", Scalar::i32, {8, 1});
  const Expression* argument[] = {n_};
  recursive.at({9, 1});
  ASSERT_TRUE(recursive.return_value(*module_.expressions().call(f, argument)));
  recursive.finish();
  EXPECT_EQ(found(),
            "3: f may end without giving a value\n"
            "4: a function has no thread: pass it the id\n"
            "9: n is no parameter here\n");
}

TEST_F(Verify, LaunchesCountInWhatTheKernelIsGiven) {
  const Kernel* kernel = kernel_.finish();
  module_.add(Launch{kernel, {1, 1}, {n_ / 256, nullptr, nullptr}, {n_, nullptr, nullptr}});
  module_.add(Launch{kernel, {2, 1}, {local_, nullptr, nullptr}, {kernel_.load(both_, n_)}});
  EXPECT_EQ(messages(module_),
            "2: a function has no thread: pass it the id\n"
            "2: a launch counts in integers, and reads no array\n");
}

}  // namespace
}  // namespace hoist::ir
