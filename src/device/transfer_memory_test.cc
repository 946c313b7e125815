// Pinned memory of transfers: where it is short, and how much of it they take.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <latch>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "device/transfer_testing.h"

namespace hoist::device {
namespace {

class TransferMemoryTest : public TransferTest {};
INSTANTIATE_TEST_SUITE_P(On, TransferMemoryTest, kTestDevices, device_name);

// Notes where in the ring pieces lie.
class RingNotes : public HostReader {
 public:
  Status read(uint64_t, std::span<std::byte> into) override {
    const std::lock_guard lock(mutex_);
    places_.insert(into.data());
    return {};
  }
  const std::set<const std::byte*>& places() const { return places_; }

 private:
  std::mutex mutex_;
  std::set<const std::byte*> places_;
};

TEST_P(TransferMemoryTest, AnEmptyPoolIsExhausted) {
  PinnedPool none(device(), 0);
  Transfer transfer(none, kSmallChunks);
  Buffer buffer = poisoned(2 * kChunk);
  const std::vector<std::byte> sent = random_bytes(2 * kChunk);
  EXPECT_EQ(transfer.upload(std::span<const std::byte>(sent), buffer.view()).error().code,
            ErrorCode::exhausted);
}

TEST_P(TransferMemoryTest, AShortPoolIsNotAskedForMoreEachTime) {
  PinnedPool pool(device(), size_t{8} << 20);
  Transfer transfer(pool, {.ring = size_t{32} << 20, .direct = 0, .copy_kernel_limit = 0});
  const size_t size = (size_t{20} << 20) + 3;
  for (const size_t first : {kChunk, size}) round_trip(transfer, first);
  EXPECT_GE(pool.statistics().in_use, size_t{4} << 20);
  const uint64_t pins = pool.statistics().pins;
  for (int round = 0; round < 5; ++round) round_trip(transfer, size);
  EXPECT_EQ(pool.statistics().pins, pins);
}

TEST_P(TransferMemoryTest, OfSmallRingsTheLargestIsUsed) {
  PinnedPool pool(device(), size_t{8} << 20);
  Transfer transfer(pool, {.ring = size_t{32} << 20, .direct = 0, .copy_kernel_limit = 0});
  const std::vector<std::byte> sent = random_bytes((size_t{20} << 20) + 3);
  Buffer buffer = poisoned(sent.size());
  // While the largest that there is goes one way, a smaller one is made for the other.
  bool is_first = true;
  const auto meanwhile = [&](uint64_t, size_t, Stream&) -> Status {
    if (std::exchange(is_first, false)) round_trip(transfer, size_t{300} << 10);
    return {};
  };
  ASSERT_TRUE(transfer.upload(std::span(sent), buffer.view(), {.enqueued = meanwhile}));
  round_trip(transfer, size_t{300} << 10);  // the small one is the last that was given back
  RingNotes notes;
  ASSERT_TRUE(transfer.upload(static_cast<HostReader*>(&notes), buffer.view()));
  EXPECT_GE(notes.places().size() * (size_t{128} << 10), size_t{4} << 20);
}

TEST_P(TransferMemoryTest, TheRingHasAMultipleOfTheThreadsPlaces) {
  Buffer buffer = poisoned(64 * kChunk);
  for (const int threads : {2, 3, 4, 7}) {
    SCOPED_TRACE(threads);
    TransferTuning tuning = tuning_of(threads, 0, 0);
    tuning.ring = size_t{8} * kChunk;
    Transfer transfer(*pool_, tuning);
    RingNotes notes;
    ASSERT_TRUE(transfer.upload(static_cast<HostReader*>(&notes), buffer.view()));
    // So that the same thread comes to a place again; with fewer than two for each, all.
    EXPECT_EQ(notes.places().size(), threads == 3 ? 6u : 8u);
  }
}

TEST_P(TransferMemoryTest, OnePlaceServesSeveralThreads) {
  TransferTuning tuning = tuning_of(4, 0, 0);
  tuning.largest_chunk = tuning.piece = kChunk;
  tuning.ring = kChunk;
  Transfer transfer(*pool_, tuning);
  for (const size_t size : {kChunk - 1, 2 * kChunk, 41 * kChunk + 1}) round_trip(transfer, size);
}

TEST_P(TransferMemoryTest, NoThreadsAreTheCallers) {
  for (const int threads : {0, -3}) {
    Transfer transfer(*pool_, tuning_of(threads, 0, 0));
    round_trip(transfer, 20 * kChunk + 1);
  }
}

// Gives nothing before all have come.
class WaitsForOthers : public HostReader {
 public:
  explicit WaitsForOthers(std::latch& others) : others_(others) {}
  bool is_random_access() const override { return false; }
  Status read(uint64_t at, std::span<std::byte>) override {
    if (at == 0) others_.arrive_and_wait();
    return {};
  }

 private:
  std::latch& others_;
};

TEST_P(TransferMemoryTest, ManyAtOnceHaveSmallerRingsAndFewAreKept) {
  constexpr size_t kMebibyte = size_t{1} << 20;
  constexpr int kTransfers = 12;
  PinnedPool pool(device());
  Transfer transfer(pool, {.ring = 32 * kMebibyte, .direct = 0, .copy_kernel_limit = 0});
  const Placement nowhere = [&](uint64_t, size_t size,
                                Stream&) -> Result<std::optional<Span<std::byte>>> {
    return Span<std::byte>{nullptr, size, &device()};
  };
  std::latch all(kTransfers);
  std::vector<std::thread> threads;
  for (int i = 0; i < kTransfers; ++i) {
    threads.emplace_back([&] {
      WaitsForOthers reader(all);
      EXPECT_TRUE(
          transfer.upload_placed(static_cast<HostReader*>(&reader), 20 * kMebibyte, nowhere));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const uint64_t in_use = pool.statistics().in_use;
  EXPECT_LE(in_use, 4 * 32 * kMebibyte + 4 * PinnedPool::kSmallest);
  // Two of the whole size, two of half of it, the others of a quarter; and for small things slabs
  // of 2 MiB, of which those who find none at the same time pin one each.
  constexpr uint64_t kSlabs = 2 * kTransfers;
  EXPECT_LE(pool.statistics().pinned, (2 * 32 + 2 * 16 + 8 * 8 + kSlabs) * kMebibyte);
}

TEST(TransferMemory, IdleRingsMakeRoomForPinnedCopies) {
  FailingDevice device(INT_MAX);
  PinnedPool pool(device, size_t{6} << 20);
  TransferTuning tuning = {.ring = size_t{4} << 20,
                           .direct = 0,
                           .pinned_chunk = size_t{1} << 20,
                           .through_slot = size_t{256} << 10,
                           .copy_kernel_limit = 0};
  Transfer transfer(pool, tuning);
  std::vector<std::byte> memory = random_bytes(size_t{4} << 20);
  Result<Buffer> buffer = Buffer::allocate(device, memory.size());
  ASSERT_TRUE(buffer);
  ASSERT_TRUE(transfer.upload(std::span<const std::byte>(memory), buffer->view()));
  EXPECT_GE(pool.statistics().in_use, size_t{4} << 20);  // nothing is left for a worker
  device.pretend_pinned();
  std::reverse(memory.begin(), memory.end());
  const Status done = transfer.upload(std::span<const std::byte>(memory), buffer->view());
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_LT(pool.statistics().in_use, size_t{1} << 20);
  EXPECT_EQ(std::memcmp(buffer->data(), memory.data(), memory.size()), 0);
}

}  // namespace
}  // namespace hoist::device
