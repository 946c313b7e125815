#include "device/bench_tuning.h"

#include <gtest/gtest.h>

#include <chrono>

namespace hoist::device {
namespace {

TEST(BenchTuning, NamesWhatIsOtherwise) {
  const TransferTuning usual;
  const Result<TransferTuning> same = parse_tuning("  ");
  ASSERT_TRUE(same);
  EXPECT_EQ(same->threads, usual.threads);
  EXPECT_FALSE(same->ring || same->copy_kernel_limit || same->demoted);
  const Result<TransferTuning> other = parse_tuning(
      "threads=3 piece=64 chunk=512 chunks=2 ring=4096 look=7 slot=0 copy_kernel=32 "
      "direct=16 demoted=0");
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->threads, 3);
  EXPECT_EQ(other->piece, 64u << 10);
  EXPECT_EQ(other->largest_chunk, 512u << 10);
  EXPECT_EQ(other->chunks, 2);
  EXPECT_EQ(other->ring, 4u << 20);
  EXPECT_EQ(other->look, std::chrono::microseconds(7));
  EXPECT_EQ(other->through_slot, 0u);
  EXPECT_EQ(other->copy_kernel_limit, 32u << 10);
  EXPECT_EQ(other->direct, 16u << 10);
  EXPECT_EQ(other->demoted, 0u);
}

TEST(BenchTuning, RefusesTheRest) {
  for (const char* text :
       {"8 128", "threads", "threads=", "threads=x", "threads=0", "threads=8x", "threads=-1",
        "threads=99999", "ring=99999999999999999999", "=1", "piece=128 nothing=1", "piece=0"}) {
    const Result<TransferTuning> tuning = parse_tuning(text);
    ASSERT_FALSE(tuning) << text;
    EXPECT_EQ(tuning.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(tuning.error().message.find("demoted=N"), std::string::npos);
  }
}

}  // namespace
}  // namespace hoist::device
