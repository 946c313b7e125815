#include "px/wait.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "px/compile/own_cache.h"
#include "px/compile_text.h"

namespace hoist::px {
namespace {

// A hundred thousand blocks, some microseconds each.
constexpr uint32_t kBlocks = 1 << 20;
constexpr const char* kLong = R"(
GPU_KERNEL count
    GPU_PARAM done out u32[]
    GPU_PARAM turns i32
    GPU_THREAD_CODE:
        LET value u32 = u32(thread_id())
        FOR i FROM 0 TO turns:
            value = (value ^ (value >> 7)) * 2654435761
        ENDFOR
        IF local_id() == 0:
            STORE value | 1 -> done[block_id()]
        ENDIF
GPU_END
)";

class Waits : public testing::TestWithParam<Target> {
 protected:
  Program program_ = compile_text(kLong, {.target = GetParam()}, "count.px").value();
  device::Stream stream_ = device::Stream::create(device::cpu_device()).value();
  std::vector<uint32_t> done_ = std::vector<uint32_t>(kBlocks);

  Status launch(uint32_t blocks, uint64_t turns, const LaunchOptions& options) {
    const ir::Argument arguments[] = {ir::Argument::array(done_.data(), done_.size()),
                                      ir::Argument::scalar(turns)};
    return program_.launch(stream_, *program_.find_kernel("count"),
                           {.blocks = {blocks, 1, 1}, .threads = {32, 1, 1}}, arguments, options);
  }
  size_t blocks_done() const {
    return done_.size() - static_cast<size_t>(std::count(done_.begin(), done_.end(), 0));
  }
};

TEST_P(Waits, StopsBetweenBlocks) {
  std::stop_source stop;
  ASSERT_TRUE(launch(kBlocks, 2000, {.stop = stop.get_token()}));
  int asked = 0;
  const Status done = wait_or_stop(stream_, stop, [&] { return ++asked == 2; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::cancelled);
  EXPECT_EQ(asked, 2);
  EXPECT_LT(blocks_done(), kBlocks);
}

TEST_P(Waits, DoesAllThatNobodyStops) {
  std::stop_source stop;
  ASSERT_TRUE(launch(1000, 3, {.stop = stop.get_token()}));
  EXPECT_TRUE(wait_or_stop(stream_, stop, [] { return false; }));
  EXPECT_EQ(blocks_done(), 1000u);
}

TEST_P(Waits, BeginsNothingOnceStopped) {
  std::stop_source stop;
  stop.request_stop();
  ASSERT_TRUE(launch(1000, 3, {.stop = stop.get_token()}));
  const Status done = wait_or_stop(stream_, stop, [] { return false; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::cancelled);
  EXPECT_EQ(blocks_done(), 0u);
}

TEST_P(Waits, TakesFewerThreads) {
  std::stop_source stop;
  ASSERT_TRUE(launch(5000, 3, {.threads = 1}));
  EXPECT_TRUE(wait_or_stop(stream_, stop, [] { return false; }));
  EXPECT_EQ(blocks_done(), 5000u);
}

INSTANTIATE_TEST_SUITE_P(Targets, Waits, testing::Values(Target::cpu, Target::interpreter),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace hoist::px
