#include "device/remote/ring.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "base/test_seed.h"

namespace hoist::device::remote {
namespace {

hoist_request request_with(uint64_t argument) {
  hoist_request request = {};
  request.operation = HOIST_REQUEST_NONE;
  request.argument_count = 1;
  request.arguments[0] = argument;
  return request;
}

class RingTest : public testing::Test {
 protected:
  size_t drain() {
    const Result<size_t> count = receiver.drain(batch);
    EXPECT_TRUE(count.has_value());
    return count.value_or(0);
  }

  std::unique_ptr<hoist_ring_queue> queue = std::make_unique<hoist_ring_queue>();
  Submitter submitter{queue.get()};
  Receiver receiver{queue.get()};
  std::array<hoist_request, HOIST_RING_ENTRIES> batch;
  hoist_completion completion;
};

TEST_F(RingTest, CarriesRequestsAndAnswersInOrder) {
  EXPECT_EQ(drain(), 0u);
  EXPECT_EQ(submitter.submit(request_with(7)), 1u);
  EXPECT_EQ(submitter.submit(request_with(8)), 2u);
  ASSERT_EQ(drain(), 2u);
  EXPECT_EQ(batch[0].arguments[0], 7u);
  EXPECT_EQ(batch[1].arguments[0], 8u);
  EXPECT_FALSE(submitter.reap(completion));
  receiver.complete(HOIST_RING_OK, 70, 1);
  EXPECT_EQ(Submitter::progress(queue.get(), 1), Submitter::Progress::done);
  EXPECT_EQ(Submitter::progress(queue.get(), 2), Submitter::Progress::pending);
  ASSERT_TRUE(submitter.reap(completion));
  EXPECT_EQ(completion.result, 70u);
  EXPECT_FALSE(submitter.reap(completion));
  receiver.complete(HOIST_RING_INVALID, 0, 1);
  ASSERT_TRUE(submitter.reap(completion));
  EXPECT_EQ(completion.status, static_cast<uint32_t>(HOIST_RING_INVALID));
}

TEST_F(RingTest, IsFullWithAllEntriesInFlight) {
  for (uint64_t i = 1; i <= HOIST_RING_ENTRIES; ++i) {
    EXPECT_FALSE(submitter.full());
    submitter.submit(request_with(i));
  }
  EXPECT_TRUE(submitter.full());
  ASSERT_EQ(drain(), size_t{HOIST_RING_ENTRIES});
  EXPECT_TRUE(submitter.full());
  receiver.complete(HOIST_RING_OK, 0, 0);
  EXPECT_TRUE(submitter.reap(completion));
  EXPECT_FALSE(submitter.full());
}

TEST_F(RingTest, DrainsNoMoreThanThereIsRoomFor) {
  for (uint64_t i = 0; i < 5; ++i) submitter.submit(request_with(i));
  EXPECT_EQ(receiver.drain({batch.data(), 3}).value(), 3u);
  EXPECT_EQ(receiver.drain({batch.data(), 3}).value(), 2u);
  EXPECT_EQ(batch[1].arguments[0], 4u);
}

TEST_F(RingTest, RandomTrafficAgreesWithAQueue) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  uint64_t submitted = 0, drained = 0, completed = 0, reaped = 0;
  for (int step = 0; step < 20000; ++step) {
    switch (random() % 4) {
      case 0:
        if (!submitter.full()) submitter.submit(request_with(++submitted * 3));
        break;
      case 1: {
        const size_t count = receiver.drain({batch.data(), random() % 8}).value();
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(batch[i].arguments[0], ++drained * 3);
        break;
      }
      case 2:
        if (completed < drained) receiver.complete(HOIST_RING_OK, ++completed * 5, 0);
        break;
      default:
        if (submitter.reap(completion)) {
          ASSERT_EQ(completion.result, ++reaped * 5);
        }
    }
    ASSERT_EQ(submitter.full(), submitted - reaped == HOIST_RING_ENTRIES);
  }
  EXPECT_LE(reaped, completed);
}

TEST_F(RingTest, ATailBeyondTheEntriesIsCorrupt) {
  for (const uint64_t tail : {uint64_t{HOIST_RING_ENTRIES} + 1, UINT64_MAX, uint64_t{1} << 32}) {
    queue->tail = tail;
    EXPECT_EQ(receiver.drain(batch).error().code, ErrorCode::corrupt) << tail;
  }
}

TEST_F(RingTest, ATailThatGoesBackIsCorrupt) {
  submitter.submit(request_with(1));
  ASSERT_EQ(drain(), 1u);
  receiver.complete(HOIST_RING_OK, 0, 0);
  queue->tail = 0;
  EXPECT_EQ(receiver.drain(batch).error().code, ErrorCode::corrupt);
}

TEST_F(RingTest, EntriesThatAreNotAnsweredCannotBeSubmittedAgain) {
  for (uint64_t i = 0; i < HOIST_RING_ENTRIES; ++i) submitter.submit(request_with(i));
  ASSERT_EQ(drain(), size_t{HOIST_RING_ENTRIES});
  queue->tail = HOIST_RING_ENTRIES + 1;
  EXPECT_EQ(receiver.drain(batch).error().code, ErrorCode::corrupt);
}

TEST_F(RingTest, AnEntryOfAnotherGenerationIsCorrupt) {
  submitter.submit(request_with(1));
  queue->entries[1].request.sequence = 1 + HOIST_RING_ENTRIES;
  EXPECT_EQ(receiver.drain(batch).error().code, ErrorCode::corrupt);
}

TEST_F(RingTest, AnAnswerOfAnotherGenerationIsCorrupt) {
  submitter.submit(request_with(1));
  queue->entries[1].completion.completed = 12345;
  EXPECT_FALSE(submitter.reap(completion));
  EXPECT_EQ(Submitter::progress(queue.get(), 1), Submitter::Progress::corrupt);
}

// Both ends sleep and wake each other many times.
TEST_F(RingTest, NoWakeUpIsLost) {
  constexpr uint64_t kRounds = 5000;
  std::atomic<bool> stop = false;
  std::thread daemon([&] {
    std::array<hoist_request, 4> few;
    while (!stop) {
      const Result<size_t> count = receiver.drain(few);
      ASSERT_TRUE(count.has_value());
      for (size_t i = 0; i < *count; ++i) {
        receiver.complete(HOIST_RING_OK, few[i].arguments[0] + 1, 0);
      }
      if (*count == 0) receiver.wait(stop);
    }
  });
  for (uint64_t i = 0; i < kRounds; ++i) {
    const uint64_t sequence = submitter.submit(request_with(i));
    while (!submitter.reap(completion)) Submitter::wait(queue.get(), sequence, 0);
    ASSERT_EQ(completion.result, i + 1);
  }
  stop = true;
  Receiver::wake(queue.get());
  daemon.join();
}

}  // namespace
}  // namespace hoist::device::remote
