// Lifetimes, aliasing, threads and fork of the session; python/tests/test_hologram_ffi.py has each
// call.
#include "graph/ffi/session.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace hoist::graph::ffi {
namespace {

constexpr Lifetime kPinned = Lifetime::pinned;

class SessionTest : public ::testing::Test {
 protected:
  uint64_t buffer(const std::vector<float>& values) {
    const uint64_t handle =
        allocate_buffer(executor_, static_cast<uint32_t>(values.size())).value();
    EXPECT_TRUE(copy_from(executor_, handle, values));
    return handle;
  }
  std::vector<float> values(uint64_t handle) {
    const BufferFacts facts = buffer_facts(handle).value();
    return {facts.data, facts.data + facts.length};
  }
  uint8_t class_of(uint64_t handle) { return buffer_facts(handle).value().class_index; }

  const uint64_t executor_ = new_executor().value();
};

TEST_F(SessionTest, ClassesAreReused) {
  std::vector<uint64_t> all;
  for (int i = 0; i < 96; ++i) {
    all.push_back(allocate_buffer(executor_, 8).value());
    EXPECT_EQ(class_of(all.back()), i);
  }
  const auto none = allocate_buffer(executor_, 8);
  EXPECT_EQ(none.error().code, ErrorCode::exhausted);
  buffer_cleanup(all[5]);
  const uint64_t again = allocate_buffer(executor_, 8).value();
  EXPECT_EQ(class_of(again), 5);
  // Another executor has classes of its own, and boundary buffers need none.
  EXPECT_TRUE(allocate_buffer(new_executor().value(), 8));
  EXPECT_TRUE(allocate_boundary_buffer(executor_, 5, 48, 256));
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(apply(Unary::softmax, executor_, all[0], all[1], 8, kPinned)) << "takes no class";
  }
}

TEST_F(SessionTest, ATensorKeepsItsBuffersClass) {
  const uint64_t first = buffer({1, 2, 3, 4});
  const uint64_t tensor = tensor_from_buffer(first, "[2,2]").value();
  buffer_cleanup(first);
  EXPECT_EQ(class_of(buffer({1})), 1);
  const uint64_t again = tensor_buffer(tensor).value();
  EXPECT_NE(again, first);
  EXPECT_EQ(tensor_buffer(tensor), again) << "once registered, it stays the same";
  EXPECT_EQ(values(again), (std::vector<float>{1, 2, 3, 4}));
  tensor_cleanup(tensor);
  buffer_cleanup(again);
  EXPECT_EQ(class_of(buffer({1})), 0);
}

TEST_F(SessionTest, BoundaryBuffersOfOneClassAlias) {
  const uint64_t linear = buffer(std::vector<float>(3072, 5.0f));
  ASSERT_EQ(class_of(linear), 0);
  const uint64_t whole = allocate_boundary_buffer(executor_, 0, 48, 256).value();
  const uint64_t part = allocate_boundary_buffer(executor_, 0, 16, 16).value();
  EXPECT_EQ(buffer_length(whole), 3072u);
  EXPECT_EQ(buffer_length(part), 64u);
  EXPECT_EQ(values(whole), std::vector<float>(3072, 0.0f)) << "never the linear buffer's memory";
  ASSERT_TRUE(fill(executor_, part, 2.0f, 64, kPinned));
  EXPECT_EQ(values(whole)[63], 2.0f);
  EXPECT_EQ(values(whole)[64], 0.0f);
  buffer_cleanup(part);
  buffer_cleanup(whole);
  EXPECT_EQ(values(allocate_boundary_buffer(executor_, 0, 16, 16).value())[0], 2.0f)
      << "the slab keeps what was written";
  EXPECT_EQ(values(linear)[0], 5.0f);
}

TEST_F(SessionTest, MemoryOutlivesWhatNamesIt) {
  const uint64_t linear = buffer({1, 2, 3});
  const uint64_t boundary = allocate_boundary_buffer(executor_, 3, 16, 16).value();
  ASSERT_TRUE(fill(executor_, boundary, 7.0f, 64, kPinned));
  const BufferFacts of_linear = buffer_facts(linear).value();
  const BufferFacts of_boundary = buffer_facts(boundary).value();
  executor_cleanup(executor_);
  EXPECT_EQ(buffer_length(linear), 3u) << "the handle stays";
  EXPECT_EQ(to_json(executor_, linear).error().code, ErrorCode::not_found);
  buffer_cleanup(linear);
  buffer_cleanup(boundary);
  EXPECT_EQ(of_linear.data[2], 3.0f);
  EXPECT_EQ(of_boundary.data[63], 7.0f);
}

TEST_F(SessionTest, AnotherExecutorsBufferIsRefused) {
  const uint64_t a = buffer({1, 2, 3, 4});
  const uint64_t other = new_executor().value();
  const Status done = apply(Unary::tanh, other, a, a, 4, kPinned);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
  const uint64_t tensor = tensor_from_buffer(a, "[2,2]").value();
  EXPECT_FALSE(tensor_matmul(other, tensor, tensor));
}

TEST_F(SessionTest, GemmTakesWhatItDocuments) {
  const uint64_t a = buffer({1, 2, 3, 4, 5, 6});                    // 2 x 3
  const uint64_t b = buffer({1, 0, 2, 1, 0, 1, 1, 2, 3, 1, 1, 0});  // 3 x 4
  const uint64_t c = buffer(std::vector<float>(8));
  ASSERT_TRUE(gemm(executor_, a, b, c, 2, 4, 3, kPinned));
  EXPECT_EQ(values(c), (std::vector<float>{10, 5, 7, 5, 22, 11, 19, 14}));
  EXPECT_FALSE(gemm(executor_, a, b, c, 2, 3, 4, kPinned));
  // In place: as if the inputs had been copied.
  const uint64_t square = buffer({1, 2, 3, 4});
  ASSERT_TRUE(gemm(executor_, square, square, square, 2, 2, 2, kPinned));
  EXPECT_EQ(values(square), (std::vector<float>{7, 10, 15, 22}));
  const uint64_t huge = buffer({1});
  EXPECT_FALSE(gemm(executor_, huge, huge, huge, 4000000000u, 4000000000u, 4000000000u, kPinned));
}

TEST_F(SessionTest, ProductsOfViewsBeginAtTheirOffset) {
  const uint64_t data = buffer({9, 9, 9, 9, 1, 2, 3, 4});
  const uint64_t both = tensor_from_buffer(data, "[2,2,2]").value();
  const uint64_t second = tensor_select(both, 0, 1).value();
  const uint64_t product = tensor_matmul(executor_, second, second).value();
  EXPECT_EQ(values(tensor_buffer(product).value()), (std::vector<float>{7, 10, 15, 22}));
  const uint64_t flat = tensor_view_1d(second).value();
  EXPECT_EQ(tensor_facts(flat).value().offset, 4u);
}

TEST_F(SessionTest, StridesGatherWhatTheyName) {
  const uint64_t data = buffer({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const uint64_t cube = tensor_from_buffer(data, "[2,3,2]").value();
  const uint64_t turned = tensor_permute(cube, "[2,0,1]").value();
  const uint64_t copy = tensor_contiguous(executor_, turned).value();
  EXPECT_EQ(values(tensor_buffer(copy).value()),
            (std::vector<float>{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
  const uint64_t stepped = tensor_slice(cube, 1, 0, -1, 2).value();
  EXPECT_EQ(values(tensor_buffer(tensor_contiguous(executor_, stepped).value()).value()),
            (std::vector<float>{0, 1, 4, 5, 6, 7, 10, 11}));
}

TEST_F(SessionTest, HostileShapesAreRefused) {
  const uint64_t data = buffer({1, 2, 3, 4});
  for (const char* shape :
       {"[5]", "[4294967296,4294967296]", "[1152921504606846976]", "[65536,65536,65536,65536]"}) {
    EXPECT_FALSE(tensor_from_buffer(data, shape)) << shape;
  }
  EXPECT_FALSE(tensor_from_buffer_with_strides(data, "[4000000000]", "[1152921504606846976]"));
  EXPECT_FALSE(tensor_from_buffer_with_strides(data, "[5000000000]", "[0]"));
  EXPECT_TRUE(tensor_from_buffer_with_strides(data, "[0,9]", "[7,7]"));
  EXPECT_TRUE(tensor_from_buffer_with_strides(data, "[2,2]", "[0,3]"));
}

TEST_F(SessionTest, ThreadsComputeWhileOthersCleanUp) {
  const uint64_t shared = buffer(std::vector<float>(4096, 1.0f));
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        const auto own = allocate_buffer(executor_, 4096);
        if (!own) continue;
        const Status done = apply(Binary::add, executor_, shared, shared, *own, 4096, kPinned);
        if (done && buffer_facts(*own).value().data[4095] != 2.0f) ++wrong;
        buffer_cleanup(*own);
      }
    });
  }
  for (int i = 0; i < 300; ++i) {
    const uint64_t shortlived = buffer({1, 2, 3});
    std::thread user(
        [&] { (void)apply(Unary::tanh, executor_, shortlived, shortlived, 3, kPinned); });
    buffer_cleanup(shortlived);
    user.join();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  buffer_cleanup(shared);
  EXPECT_EQ(class_of(buffer({1})), 0) << "all classes are free again";
}

TEST_F(SessionTest, AChildGoesOn) {
  const uint64_t a = buffer({1, 2, 3, 4});
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) buffer_cleanup(allocate_buffer(executor_, 100).value());
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const bool good = apply(Binary::add, executor_, a, a, a, 4, kPinned) &&
                        values(a) == std::vector<float>{2, 4, 6, 8} &&
                        allocate_buffer(executor_, 7) &&
                        allocate_boundary_buffer(executor_, 1, 4, 4);
      ::_exit(good ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
  EXPECT_EQ(values(a), (std::vector<float>{1, 2, 3, 4})) << "a child has its own copy";
}

}  // namespace
}  // namespace hoist::graph::ffi
