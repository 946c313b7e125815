#include "device/transfer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/file.h"
#include "device/transfer_testing.h"

namespace hoist::device {
namespace {

INSTANTIATE_TEST_SUITE_P(On, TransferTest, kTestDevices, device_name);

TEST_P(TransferTest, EverySizeAroundTheSlots) {
  for (const size_t chunks : {0, 1, 2, 7, 8, 9, 40}) {
    for (const size_t more : {0, 1, 2, 3}) {
      const size_t size = chunks * kChunk + more;
      SCOPED_TRACE(size);
      round_trip(*transfer_, size);
      if (size > 0) round_trip(*transfer_, size - 1);
    }
  }
}

TEST_P(TransferTest, TheLastBytesMayBeDemoted) {
  for (const size_t demoted : {size_t{0}, size_t{1}, kChunk, SIZE_MAX}) {
    TransferTuning tuning = kSmallChunks;
    tuning.demoted = demoted;
    Transfer transfer(*pool_, tuning);
    for (const size_t size : {4 * kChunk, 4 * kChunk + 1, 40 * kChunk - 1}) {
      SCOPED_TRACE(size);
      round_trip(transfer, size);
    }
  }
}

TEST_P(TransferTest, TheDefaultTuning) {
  Transfer transfer(*pool_);
  for (const size_t size : {size_t{1} << 10, size_t{300} << 10, (size_t{20} << 20) + 12345}) {
    SCOPED_TRACE(size);
    round_trip(transfer, size);
  }
}

TEST_P(TransferTest, SmallCopiesGoThroughASlotOnceThereAreMany) {
  Transfer transfer(*pool_, kThroughSlot);
  round_trip(transfer, kChunk);
  EXPECT_EQ(pool_->statistics().in_use, 0u);
  for (size_t round = 0; round < 20; ++round) round_trip(transfer, 1 + round);
  const uint64_t one_worker = pool_->statistics().in_use;
  // Its slot, and the words of its fences.
  EXPECT_EQ(one_worker, kChunk + PinnedPool::kSmallest);
  for (const size_t size : {kChunk - 1, kChunk, kChunk + 1}) round_trip(transfer, size);
  EXPECT_EQ(pool_->statistics().in_use, one_worker);  // it is used again
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (size_t round = 0; round < 20; ++round) round_trip(transfer, i * 1007 + round);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(TransferTest, EndsThatDoNotFitAreRefused) {
  Buffer buffer = poisoned(100);
  std::vector<std::byte> bytes(99);
  EXPECT_EQ(transfer_->upload(std::span<const std::byte>(bytes), buffer.view()).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(transfer_->download(buffer.view(), std::span(bytes)).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(transfer_->upload(HostFile{}, Span<std::byte>{}).error().code,
            ErrorCode::invalid_argument);
  const Decode decode = [](Span<const std::byte>, uint64_t, Stream&) -> Status { return {}; };
  for (const size_t chunk : {size_t{0}, kLargest + 1}) {
    EXPECT_EQ(transfer_->upload_decoded(std::span<const std::byte>(bytes), 99, chunk, decode)
                  .error()
                  .code,
              ErrorCode::invalid_argument);
  }
}

TEST_P(TransferTest, WaitsForTheDevicesEnd) {
  Result<Stream> stream = Stream::create(device());
  Result<Event> event = Event::create(device());
  ASSERT_TRUE(stream && event);
  Transfer direct(*pool_);
  Transfer small(*pool_, {.through_slot = 3 * kChunk});
  for (size_t round = 0; round < 20; ++round) round_trip(small, kChunk);
  for (Transfer* transfer : {transfer_.get(), &direct, &small}) {
    Buffer buffer = poisoned(3 * kChunk);
    std::atomic<bool> late = false;
    ASSERT_TRUE(stream->call([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      late = true;
    }));
    ASSERT_TRUE(stream->fill(buffer.data(), std::byte{1}, buffer.size()));
    ASSERT_TRUE(event->record(*stream));
    std::vector<std::byte> bytes(buffer.size());
    ASSERT_TRUE(transfer->download(buffer.view(), std::span(bytes), {.after = &*event}));
    EXPECT_TRUE(late);
    EXPECT_EQ(bytes, std::vector<std::byte>(bytes.size(), std::byte{1}));
  }
}

// An event of the device's that is not done before it is told to be.
class Pending {
 public:
  explicit Pending(Device& device) {
    Result<Stream> stream = Stream::create(device);
    Result<Event> event = Event::create(device);
    if (!stream || !event || !stream->call([this] { go_on_.wait(false); })) return;
    if (event->record(*stream)) event_.emplace(std::move(*event));
    stream_.emplace(std::move(*stream));
  }
  ~Pending() { end(); }

  const Event* event() const { return event_ ? &*event_ : nullptr; }  // null: none could be made
  void end() {
    go_on_ = true;
    go_on_.notify_all();
  }

 private:
  std::atomic<bool> go_on_ = false;
  std::optional<Stream> stream_;
  std::optional<Event> event_;
};

TEST_P(TransferTest, WhoWaitsForTheDevicesEndHoldsNobodyUp) {
  Transfer transfer(*pool_, tuning_of(8, 0, 0));
  Buffer buffer = poisoned(20 * kChunk);
  Buffer other = poisoned(kChunk);
  Pending pending(device());
  ASSERT_NE(pending.event(), nullptr);
  const std::vector<std::byte> sent = random_bytes(buffer.size());
  std::thread waiting([&] {
    EXPECT_TRUE(transfer.upload(std::span(sent), buffer.view(), {.after = pending.event()}));
  });
  std::future<Status> copied = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return transfer_->upload(std::span(sent).first(kChunk), other.view());
  });
  EXPECT_EQ(copied.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  pending.end();
  waiting.join();
  EXPECT_TRUE(copied.get());
  EXPECT_EQ(content_of(buffer), sent);
}

TEST_P(TransferTest, WhoWaitsForTheDevicesEndLeavesTheThreadsToOthers) {
  constexpr size_t kWaiting = 6;
  Buffer buffer = poisoned(20 * kChunk);
  Pending pending(device());
  ASSERT_NE(pending.event(), nullptr);
  std::vector<std::vector<std::byte>> received(kWaiting, std::vector<std::byte>(buffer.size()));
  std::stop_source stop;
  std::vector<std::thread> waiting;
  for (size_t i = 0; i < kWaiting; ++i) {
    waiting.emplace_back([&, i] {
      // Some may be stopped, and look for that.
      const std::stop_token token = i % 2 == 0 ? stop.get_token() : std::stop_token();
      EXPECT_TRUE(transfer_->download(buffer.view(), std::span(received[i]),
                                      {.after = pending.event(), .stop = token}));
    });
  }
  std::stop_source stopped;
  std::thread given_up([&] {
    const Status done = transfer_->upload(std::span<const std::byte>(received[0]), buffer.view(),
                                          {.after = pending.event(), .stop = stopped.get_token()});
    EXPECT_TRUE(!done && done.error().code == ErrorCode::cancelled);
  });
  const std::vector<std::byte> sent = random_bytes(buffer.size());
  std::future<Status> copied = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return transfer_->upload(std::span(sent), buffer.view());
  });
  EXPECT_EQ(copied.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  stopped.request_stop();
  given_up.join();
  pending.end();
  for (std::thread& thread : waiting) thread.join();
  EXPECT_TRUE(copied.get());
  for (const std::vector<std::byte>& bytes : received) EXPECT_EQ(bytes, sent);
}

TEST_P(TransferTest, AStopEndsTheWaitForTheDevicesEnd) {
  Buffer buffer = poisoned(size_t{2} << 20);
  std::vector<std::byte> bytes(buffer.size());
  Pending pending(device());
  ASSERT_NE(pending.event(), nullptr);
  Transfer by_kernel(*pool_, {.direct = 0, .copy_kernel_limit = UINT64_MAX});
  Transfer direct(*pool_, {.direct = SIZE_MAX, .copy_kernel_limit = 0});
  for (Transfer* const transfer : {transfer_.get(), &by_kernel, &direct}) {
    std::stop_source stop;
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      stop.request_stop();
    });
    const TransferRequest request = {.after = pending.event(), .stop = stop.get_token()};
    const Status up = transfer->upload(std::span<const std::byte>(bytes), buffer.view(), request);
    const Status down = transfer->download(buffer.view(), std::span(bytes), request);
    stopper.join();
    for (const Status& done : {up, down}) {
      EXPECT_TRUE(!done && done.error().code == ErrorCode::cancelled);
    }
  }
  pending.end();
}

TEST_P(TransferTest, PinnedMemoryGoesDirectly) {
  TransferTuning tuning;
  tuning.pinned_chunk = size_t{1} << 20;
  Transfer transfer(*pool_, tuning);
  const size_t size = (size_t{7} << 20) + 5;
  const std::vector<std::byte> sent = random_bytes(size);
  PinnedBlock block = std::move(*pool_->allocate(size));
  std::memcpy(block.data(), sent.data(), size);
  Buffer buffer = poisoned(size);
  std::atomic<uint64_t> progress = 0;
  const TransferRequest request = {.progress = &progress};
  const std::span<std::byte> pinned(block.data(), size);
  ASSERT_TRUE(transfer.upload(std::span<const std::byte>(pinned), buffer.view(), request));
  EXPECT_EQ(content_of(buffer), sent);
  std::memset(block.data(), 0, size);
  ASSERT_TRUE(transfer.download(buffer.view(), pinned, request));
  EXPECT_EQ(progress, 2 * size);
  EXPECT_EQ(std::memcmp(block.data(), sent.data(), size), 0);
}

TEST_P(TransferTest, SmallMemoryMayBePinnedForAWhile) {
  constexpr size_t kSize = size_t{64} << 10;
  TransferTuning tuning;
  tuning.threads = 1;
  tuning.through_slot = kSize;
  Transfer transfer(*pool_, tuning);
  PageBuffer pages(kSize);
  Buffer buffer = poisoned(kSize);
  for (uint64_t round = 0; round < 60; ++round) {
    ASSERT_TRUE(round != 30 || device().pin(pages.data(), kSize));
    ASSERT_TRUE(round != 45 || device().unpin(pages.data()));
    const std::vector<std::byte> sent = random_bytes(kSize, round);
    const std::span memory(reinterpret_cast<std::byte*>(pages.data()), kSize);
    std::copy(sent.begin(), sent.end(), memory.begin());
    ASSERT_TRUE(transfer.upload(std::span<const std::byte>(memory), buffer.view()));
    EXPECT_EQ(content_of(buffer), sent);
    std::fill(memory.begin(), memory.end(), std::byte{0});
    ASSERT_TRUE(transfer.download(buffer.view(), memory));
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), memory.begin()));
  }
}

TEST_P(TransferTest, SeveralAtOnce) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      for (size_t round = 0; round < 10; ++round) round_trip(*transfer_, i * 10007 + round);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(TransferTest, StopsAtAnyMoment) {
  const std::vector<std::byte> sent = random_bytes(100 * kChunk);
  for (const int moment : {0, 1, 2, 10, 50, 99}) {
    std::stop_source stop;
    if (moment == 0) stop.request_stop();
    std::atomic<int> calls = 0;
    const auto decode = [&](Span<const std::byte>, uint64_t, Stream&) -> Status {
      if (++calls == moment) stop.request_stop();
      return {};
    };
    const Status done = transfer_->upload_decoded(std::span<const std::byte>(sent), sent.size(),
                                                  kChunk, decode, {.stop = stop.get_token()});
    // A stop that comes when all chunks are taken finds nothing to stop.
    EXPECT_TRUE(!done || moment >= 90);
    EXPECT_TRUE(done || done.error().code == ErrorCode::cancelled);
  }
  std::stop_source stopped;
  stopped.request_stop();
  Buffer buffer = poisoned(sent.size());
  std::vector<std::byte> received(sent.size());
  Transfer direct(*pool_);
  Transfer small(*pool_, {.through_slot = sent.size()});
  for (size_t round = 0; round < 20; ++round) round_trip(small, kChunk);
  for (Transfer* transfer : {transfer_.get(), &direct, &small}) {
    const TransferRequest request = {.stop = stopped.get_token()};
    EXPECT_EQ(transfer->download(buffer.view(), std::span(received), request).error().code,
              ErrorCode::cancelled);
    EXPECT_EQ(
        transfer->upload(std::span<const std::byte>(sent), buffer.view(), request).error().code,
        ErrorCode::cancelled);
  }
}

TEST_P(TransferTest, StopsFromOutside) {
  const std::vector<std::byte> sent = random_bytes(64 * kChunk);
  Buffer buffer = poisoned(sent.size());
  std::mt19937_64 random(3);
  for (int round = 0; round < 30; ++round) {
    std::stop_source stop;
    std::thread stopper([&, spins = random() % 20000] {
      for (uint64_t i = 0; i < spins; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
      stop.request_stop();
    });
    const Status done = transfer_->upload(std::span<const std::byte>(sent), buffer.view(),
                                          {.stop = stop.get_token()});
    stopper.join();
    EXPECT_TRUE(done || done.error().code == ErrorCode::cancelled);
  }
  round_trip(*transfer_, 10 * kChunk);
}

TEST(Transfer, AChildOfForkMakesItsOwn) {
  PinnedPool pool(cpu_device());
  Transfer transfer(pool, kOneThread);
  Result<Buffer> buffer = Buffer::allocate(cpu_device(), 10);
  ASSERT_TRUE(buffer);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::byte bytes[10] = {};
    const Status done = transfer.upload(std::span<const std::byte>(bytes), buffer->view());
    ::_exit(!done && done.error().code == ErrorCode::unavailable ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// A device that is lost at any operation: the call answers, nothing of it runs on, and the memory
// that the device may still use is not handed out.
TEST(TransferFault, ADeviceThatIsLostAtAnyMoment) {
  const std::vector<std::byte> sent = random_bytes(9 * kChunk);
  std::vector<std::byte> received(sent.size());
  const size_t kKitMemory = std::bit_ceil(kRing) + PinnedPool::kSmallest;
  bool was_quarantined = false;
  bool up_worked = false;
  bool down_worked = false;
  for (int operations = 1; operations < 400 && !down_worked; ++operations) {
    SCOPED_TRACE(operations);
    FailingDevice device(operations);
    Result<Buffer> buffer = Buffer::allocate(device, sent.size());
    ASSERT_TRUE(buffer);
    PinnedPool pool(device);
    {
      Transfer transfer(pool, operations % 2 == 0 ? kOneThread : kSmallChunks);
      const Status up = transfer.upload(std::span<const std::byte>(sent), buffer->view());
      EXPECT_TRUE(up || up.error().code == ErrorCode::unavailable);
      const Status down = transfer.download(buffer->view(), std::span(received));
      EXPECT_TRUE(down || down.error().code == ErrorCode::unavailable);
      EXPECT_TRUE(up || !down);  // what is lost stays lost
      EXPECT_TRUE(!down || received == sent);
      up_worked |= up.has_value();
      down_worked |= down.has_value();
    }
    EXPECT_EQ(pool.statistics().in_use, 0u);
    // A ring and the words of its fences.
    EXPECT_EQ(pool.statistics().quarantined % kKitMemory, 0u);
    was_quarantined |= pool.statistics().quarantined > 0;
  }
  EXPECT_TRUE(was_quarantined);
  EXPECT_TRUE(up_worked);
  EXPECT_TRUE(down_worked);
}

TEST(TransferFault, OfSmallTransfers) {
  const std::vector<std::byte> sent = random_bytes(kChunk);
  std::vector<std::byte> received(sent.size());
  int worked = 0;
  for (int operations = 1; operations < 400 && worked < 40; ++operations) {
    SCOPED_TRACE(operations);
    FailingDevice device(operations);
    Result<Buffer> buffer = Buffer::allocate(device, sent.size());
    ASSERT_TRUE(buffer);
    PinnedPool pool(device);
    {
      Transfer transfer(pool, kThroughSlot);
      for (worked = 0; worked < 40; ++worked) {
        const Status done = worked % 2 == 0
                                ? transfer.upload(std::span<const std::byte>(sent), buffer->view())
                                : transfer.download(buffer->view(), std::span(received));
        if (!done) {
          EXPECT_EQ(done.error().code, ErrorCode::unavailable);
          break;
        }
      }
    }
    EXPECT_TRUE(worked < 2 || received == sent);
    EXPECT_EQ(pool.statistics().in_use, 0u);
  }
  EXPECT_EQ(worked, 40);
}

TEST(TransferFault, OfPinnedTransfers) {
  const std::vector<std::byte> sent = random_bytes(1 << 20);
  std::vector<std::byte> pinned(size_t{3} << 20);
  TransferTuning tuning = kOneThread;
  tuning.pinned_chunk = size_t{1} << 20;
  tuning.direct = 0;
  std::copy(sent.begin(), sent.end(), pinned.end() - (1 << 20));
  bool worked = false;
  for (int operations = 1; operations < 40 && !worked; ++operations) {
    FailingDevice device(operations);
    device.pretend_pinned();
    Result<Buffer> buffer = Buffer::allocate(device, pinned.size());
    ASSERT_TRUE(buffer);
    PinnedPool pool(device);
    Transfer transfer(pool, tuning);
    worked = transfer.upload(std::span<const std::byte>(pinned), buffer->view()).has_value();
    const auto* const last = static_cast<const std::byte*>(buffer->data()) + pinned.size() - 1;
    EXPECT_TRUE(!worked || *last == sent.back());
  }
  EXPECT_TRUE(worked);
}

TEST(TransferFault, OfDecoding) {
  const std::vector<std::byte> sent = random_bytes(9 * kChunk);
  const auto decode = [](Span<const std::byte>, uint64_t, Stream& stream) -> Status {
    return stream.call([] {});
  };
  bool worked = false;
  for (int operations = 1; operations < 400 && !worked; ++operations) {
    FailingDevice device(operations);
    PinnedPool pool(device);
    Transfer transfer(pool, kSmallChunks);
    worked = transfer.upload_decoded(std::span<const std::byte>(sent), sent.size(), kChunk, decode)
                 .has_value();
  }
  EXPECT_TRUE(worked);
}

}  // namespace
}  // namespace hoist::device
