#include "device/transfer_copy_kernel.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/test_seed.h"
#include "device/test_devices.h"
#include "device/transfer.h"

namespace hoist::device {
namespace {

constexpr size_t kPiece = size_t{32} << 10;
constexpr size_t kFrom = size_t{1} << 20;  // bytes that no copy kernel moves yet
constexpr size_t kGuard = 64;

TransferTuning copy_kernel_tuning(int threads = 4) {
  TransferTuning tuning;
  tuning.threads = threads;
  tuning.copy_kernel_limit = UINT64_MAX;
  return tuning;
}

// A copy kernel that counts itself.
class CountingDevice : public FailingDevice {
 public:
  explicit CountingDevice(int operations = 1 << 30) : FailingDevice(operations) {}
  Status start_copy_kernel(const CopyKernel& copy_kernel, StreamHandle stream) override {
    ++copy_kernels;
    return FailingDevice::start_copy_kernel(copy_kernel, stream);
  }
  std::atomic<int> copy_kernels = 0;
};

// There and back, between guarded places. Returns how it went.
void round_trip(Device& device, Transfer& transfer, size_t size, size_t misaligned = 0) {
  const size_t guard = kGuard + misaligned;
  const std::vector<std::byte> sent = random_bytes(size, size);
  Result<Buffer> buffer = Buffer::allocate(device, size + 2 * guard);
  ASSERT_TRUE(buffer && buffer->fill(std::byte{0xa5}));
  const Span<std::byte> inside = buffer->view().subspan(guard, size);
  std::atomic<uint64_t> progress = 0;
  const TransferRequest request = {.progress = &progress};
  const Status up = transfer.upload(std::span(sent), inside, request);
  ASSERT_TRUE(up) << up.error().message;
  EXPECT_EQ(progress, size);
  std::vector<std::byte> expected(size + 2 * guard, std::byte{0xa5});
  std::copy(sent.begin(), sent.end(), expected.begin() + guard);
  std::vector<std::byte> there(expected.size());
  ASSERT_TRUE(buffer->download(there));
  EXPECT_EQ(there, expected);

  std::vector<std::byte> received(size + 2 * guard, std::byte{0xa5});
  const Status down = transfer.download(inside, std::span(received).subspan(guard, size), request);
  ASSERT_TRUE(down) << down.error().message;
  EXPECT_EQ(progress, 2 * size);
  EXPECT_EQ(received, expected);
}

class TransferCopyKernelTest : public OnDevicesWithPool {
 protected:
  void SetUp() override {
    OnDevicesWithPool::SetUp();
    if (IsSkipped()) return;
    transfer_ = std::make_unique<Transfer>(*pool_, copy_kernel_tuning());
  }
  void TearDown() override {
    if (pool_ == nullptr) return;
    transfer_.reset();
    EXPECT_EQ(pool_->statistics().in_use, 0u);
    EXPECT_EQ(pool_->statistics().quarantined, 0u);
  }

  std::unique_ptr<Transfer> transfer_;
};
INSTANTIATE_TEST_SUITE_P(On, TransferCopyKernelTest, kTestDevices, device_name);

TEST_P(TransferCopyKernelTest, EverySizeAroundThePieces) {
  for (const size_t pieces : {32, 33, 63, 64, 65, 100}) {
    for (const size_t more : {0, 1, 15, 16, 17}) {
      const size_t size = pieces * kPiece + more;
      SCOPED_TRACE(size);
      round_trip(device(), *transfer_, size);
      round_trip(device(), *transfer_, size - 1);
    }
  }
  for (const size_t size : {(size_t{8} << 20) + 5, (size_t{130} << 20) + 7}) {
    round_trip(device(), *transfer_, size);
  }
}

TEST_P(TransferCopyKernelTest, OtherThreadsThanFour) {
  for (const int threads : {1, 2, 70}) {
    Transfer transfer(*pool_, copy_kernel_tuning(threads));
    round_trip(device(), transfer, 80 * kPiece + 3);
  }
}

TEST_P(TransferCopyKernelTest, SeveralAtOnce) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (size_t round = 0; round < 5; ++round) {
        round_trip(device(), *transfer_, kFrom + 1 + i * 100'007 + round);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(TransferCopyKernelTest, FilesGoTheSameWay) {
  const std::vector<std::byte> sent = random_bytes(3 * kFrom + 11);
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(::pwrite(::fileno(file), sent.data(), sent.size(), 5),
            static_cast<ssize_t>(sent.size()));
  Result<Buffer> buffer = Buffer::allocate(device(), sent.size());
  ASSERT_TRUE(buffer);
  ASSERT_TRUE(transfer_->upload(HostFile{::fileno(file), 5}, buffer->view()));
  std::vector<std::byte> there(sent.size());
  ASSERT_TRUE(buffer->download(there));
  EXPECT_EQ(there, sent);
  ASSERT_EQ(::ftruncate(::fileno(file), 2 * kFrom), 0);
  EXPECT_EQ(transfer_->upload(HostFile{::fileno(file), 5}, buffer->view()).error().code,
            ErrorCode::io);
  std::fclose(file);
}

TEST_P(TransferCopyKernelTest, WaitsForTheDevicesEnd) {
  Result<Stream> stream = Stream::create(device());
  Result<Event> event = Event::create(device());
  Result<Buffer> buffer = Buffer::allocate(device(), 2 * kFrom);
  ASSERT_TRUE(stream && event && buffer);
  std::atomic<bool> ready = false;
  ASSERT_TRUE(stream->call([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ready = true;
  }));
  ASSERT_TRUE(event->record(*stream));
  const std::vector<std::byte> sent = random_bytes(2 * kFrom);
  ASSERT_TRUE(transfer_->upload(std::span(sent), buffer->view(), {.after = &*event}));
  EXPECT_TRUE(ready);
  std::vector<std::byte> there(sent.size());
  ASSERT_TRUE(buffer->download(there));
  EXPECT_EQ(there, sent);
  ASSERT_TRUE(stream->synchronize());
}

// Gives known bytes, after a while where it is told to; fails from a place on.
class OddReader : public HostReader {
 public:
  OddReader(std::span<const std::byte> bytes, size_t slow_at, size_t fails_from)
      : bytes_(bytes), slow_at_(slow_at), fails_from_(fails_from) {}
  Status read(uint64_t at, std::span<std::byte> into) override {
    if (at <= slow_at_ && slow_at_ < at + into.size()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
    }
    if (at + into.size() > fails_from_) return fail(ErrorCode::io, "enough (test)");
    std::memcpy(into.data(), bytes_.data() + at, into.size());
    return {};
  }

 private:
  const std::span<const std::byte> bytes_;
  const size_t slow_at_;
  const size_t fails_from_;
};

TEST_P(TransferCopyKernelTest, SlotsThatTheCopyKernelLeftAreCopied) {
  const std::vector<std::byte> sent = random_bytes(4 * kFrom);
  for (const int threads : {1, 4}) {
    Transfer transfer(*pool_, copy_kernel_tuning(threads));
    Result<Buffer> buffer = Buffer::allocate(device(), sent.size());
    ASSERT_TRUE(buffer);
    OddReader reader(sent, 3 * kPiece, SIZE_MAX);
    ASSERT_TRUE(transfer.upload(&reader, buffer->view()));
    std::vector<std::byte> there(sent.size());
    ASSERT_TRUE(buffer->download(there));
    EXPECT_EQ(there, sent);
  }
}

TEST_P(TransferCopyKernelTest, ErrorsOfTheHostsEndAreTheTransfers) {
  const std::vector<std::byte> sent = random_bytes(4 * kFrom);
  Result<Buffer> buffer = Buffer::allocate(device(), sent.size());
  ASSERT_TRUE(buffer);
  for (const size_t from : {size_t{0}, kPiece, 17 * kPiece, sent.size() - 1}) {
    OddReader reader(sent, SIZE_MAX, from);
    const Status done = transfer_->upload(&reader, buffer->view());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "enough (test)");
  }
  round_trip(device(), *transfer_, 2 * kFrom);  // and the next one works
}

TEST_P(TransferCopyKernelTest, StopsAtAnyMoment) {
  const std::vector<std::byte> sent = random_bytes(size_t{4} << 20);
  Result<Buffer> buffer = Buffer::allocate(device(), sent.size());
  ASSERT_TRUE(buffer);
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 30; ++round) {
    std::stop_source stop;
    std::thread stopper([&, wait = random() % 1500] {
      std::this_thread::sleep_for(std::chrono::microseconds(wait));
      stop.request_stop();
    });
    std::atomic<uint64_t> progress = 0;
    const Status done = transfer_->upload(std::span(sent), buffer->view(),
                                          {.stop = stop.get_token(), .progress = &progress});
    stopper.join();
    if (done) {
      EXPECT_EQ(progress, sent.size());
    } else {
      EXPECT_EQ(done.error().code, ErrorCode::cancelled);
    }
  }
  round_trip(device(), *transfer_, sent.size());
}

TEST(TransferCopyKernel, WhatItIsNotFor) {
  CountingDevice device;
  PinnedPool pool(device);
  Transfer transfer(pool, copy_kernel_tuning());
  round_trip(device, transfer, kFrom);         // too little
  round_trip(device, transfer, 2 * kFrom, 8);  // its kernel reads 16 bytes at a time
  EXPECT_EQ(device.copy_kernels, 0);
  Result<Buffer> buffer = Buffer::allocate(device, 2 * kFrom);
  ASSERT_TRUE(buffer);
  const std::vector<std::byte> sent(buffer->size());
  // Work of the caller's goes behind copies of a stream.
  const auto enqueued = [](uint64_t, size_t, Stream&) -> Status { return {}; };
  ASSERT_TRUE(transfer.upload(std::span(sent), buffer->view(), {.enqueued = enqueued}));
  EXPECT_EQ(device.copy_kernels, 0);
  ASSERT_TRUE(transfer.upload(std::span(sent), buffer->view(), {.device_computes = true}));
  EXPECT_EQ(device.copy_kernels, 0);
  Transfer never(pool, {.copy_kernel_limit = 0});
  round_trip(device, never, 2 * kFrom);
  Transfer by_default(pool);  // only where it was measured
  round_trip(device, by_default, 2 * kFrom);
  EXPECT_EQ(device.copy_kernels, 0);
  device.pretend_pinned();
  round_trip(device, transfer, 2 * kFrom);
  EXPECT_EQ(device.copy_kernels, 0);
}

TEST(TransferCopyKernel, WithoutMemoryForItTheyGoAnotherWay) {
  CountingDevice device;
  PinnedPool pool(device, /*limit=*/size_t{2} << 20);
  TransferTuning tuning = copy_kernel_tuning(8);
  tuning.largest_chunk = kPiece;
  tuning.ring = 4 * kPiece;
  Transfer transfer(pool, tuning);
  round_trip(device, transfer, 2 * kFrom);
  EXPECT_EQ(device.copy_kernels, 0);
}

TEST(TransferCopyKernel, AreFewHoweverManyTransfersThereAre) {
  CountingDevice device;
  // Two copy kernels' memory, and a small ring for each of the others.
  PinnedPool pool(device, /*limit=*/size_t{32} << 20);
  TransferTuning tuning = copy_kernel_tuning(8);
  Transfer transfer(pool, tuning);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] { round_trip(device, transfer, 3 * kFrom + i); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(device.copy_kernels, 0);
}

TEST(TransferCopyKernel, GiveTheirMemoryToWhoMustGoAnotherWay) {
  CountingDevice device;
  PinnedPool pool(device, /*limit=*/size_t{6} << 20);
  TransferTuning tuning = copy_kernel_tuning(8);
  tuning.piece = tuning.largest_chunk = size_t{4} << 20;
  Transfer transfer(pool, tuning);
  const std::vector<std::byte> sent = random_bytes(2 * kFrom);
  Result<Buffer> buffer = Buffer::allocate(device, sent.size());
  ASSERT_TRUE(buffer);
  ASSERT_TRUE(transfer.upload(std::span(sent), buffer->view()));
  ASSERT_EQ(device.copy_kernels, 1);
  const uint64_t held = pool.statistics().in_use;
  ASSERT_GT(held, 0u);
  const auto enqueued = [](uint64_t, size_t, Stream&) -> Status { return {}; };
  const Status done = transfer.upload(std::span(sent), buffer->view(), {.enqueued = enqueued});
  EXPECT_TRUE(done) << done.error().message;
}

// A device on which half of a copy kernel's blocks find no room until the others have ended.
class NarrowDevice : public CountingDevice {
 public:
  Status start_copy_kernel(const CopyKernel& copy_kernel, StreamHandle stream) override {
    CopyKernel first = copy_kernel;
    first.count = copy_kernel.count / 2;
    CopyKernel second = copy_kernel;
    second.count = copy_kernel.count - first.count;
    second.slots += first.count * copy_kernel.slot_size;
    second.orders += first.count;
    second.answers += first.count;
    Status started = CountingDevice::start_copy_kernel(first, stream);
    return started ? CpuDevice::start_copy_kernel(second, stream) : started;
  }
};

TEST(TransferCopyKernel, BlocksMayFindNoRoomAtFirst) {
  NarrowDevice device;
  PinnedPool pool(device);
  Transfer transfer(pool, copy_kernel_tuning());
  for (const size_t size : {kFrom + 1, 8 * kFrom}) round_trip(device, transfer, size);
}

TEST(TransferCopyKernel, WhatEndedEarlySaysNothingOfTheDevice) {
  CountingDevice device;
  PinnedPool pool(device);
  Transfer transfer(pool, copy_kernel_tuning());
  Result<Buffer> buffer = Buffer::allocate(device, 2 * kFrom);
  ASSERT_TRUE(buffer);
  const std::vector<std::byte> sent = random_bytes(buffer->size());
  std::stop_source stop;
  stop.request_stop();
  for (int round = 0; round < 3; ++round) {
    OddReader reader(sent, SIZE_MAX, kFrom);
    EXPECT_FALSE(transfer.upload(&reader, buffer->view()));
    EXPECT_FALSE(transfer.upload(std::span(sent), buffer->view(), {.stop = stop.get_token()}));
  }
  EXPECT_EQ(device.copy_kernels, 6);
}

// As a debugger, or CUDA_LAUNCH_BLOCKING, makes launches wait for their kernels.
class BlockingDevice : public CountingDevice {
 public:
  Status start_copy_kernel(const CopyKernel& copy_kernel, StreamHandle stream) override {
    Status started = CountingDevice::start_copy_kernel(copy_kernel, stream);
    return started ? synchronize(stream) : started;
  }
};

TEST(TransferCopyKernel, WhatBlocksItIsTriedOnceMore) {
  BlockingDevice device;
  PinnedPool pool(device);
  Transfer transfer(pool, copy_kernel_tuning());
  const std::vector<std::byte> sent(kFrom + 1);
  Result<Buffer> buffer = Buffer::allocate(device, sent.size());
  ASSERT_TRUE(buffer);
  const auto upload = [&](int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_TRUE(transfer.upload(std::span(sent), buffer->view()));
    }
  };
  upload(1 + CopyKernelRuns::kForAWhile);
  EXPECT_EQ(device.copy_kernels, 1);
  upload(1);
  EXPECT_EQ(device.copy_kernels, 2);
  upload(2 * CopyKernelRuns::kForAWhile);
  EXPECT_EQ(device.copy_kernels, 2);
}

// One time of it is forgotten when the next copy kernel is not blocked.
TEST(TransferCopyKernel, AHostThatStoodStillOnceIsNotBlocked) {
  CountingDevice device;
  PinnedPool pool(device);
  CopyKernelRuns runs(pool, 4);
  const auto tries = [&] {
    int count = 0;
    while (runs.borrow(kFrom) == nullptr && count < 1000) ++count;
    return count;
  };
  runs.note_blocked(true);
  runs.note_blocked(true);  // one of the other direction, at the same time
  EXPECT_EQ(tries(), CopyKernelRuns::kForAWhile);
  runs.note_blocked(false);
  runs.note_blocked(true);
  EXPECT_EQ(tries(), CopyKernelRuns::kForAWhile);
  runs.note_blocked(true);
  runs.leave_alone();
  EXPECT_EQ(tries(), 1000);
}

// A device that is busy with something else first.
class BusyDevice : public CountingDevice {
 public:
  Status start_copy_kernel(const CopyKernel& copy_kernel, StreamHandle stream) override {
    (void)call(stream, [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); });
    return CountingDevice::start_copy_kernel(copy_kernel, stream);
  }
};

TEST(TransferCopyKernel, ABusyDeviceIsLeftAloneForAWhile) {
  BusyDevice device;
  PinnedPool pool(device);
  Transfer transfer(pool, copy_kernel_tuning());
  for (int round = 0; round < 32; ++round) round_trip(device, transfer, kFrom + 1);
  EXPECT_EQ(device.copy_kernels, 1);
  round_trip(device, transfer, kFrom + 1);
  EXPECT_EQ(device.copy_kernels, 2);
}

TEST(TransferCopyKernelFault, ADeviceThatIsLostAtAnyMoment) {
  const std::vector<std::byte> sent = random_bytes(2 * kFrom);
  std::vector<std::byte> received(sent.size());
  bool worked = false;
  for (int operations = 1; operations < 200 && !worked; ++operations) {
    SCOPED_TRACE(operations);
    CountingDevice device(operations);
    Result<Buffer> buffer = Buffer::allocate(device, sent.size());
    ASSERT_TRUE(buffer);
    PinnedPool pool(device);
    {
      Transfer transfer(pool, copy_kernel_tuning(operations % 2 == 0 ? 1 : 4));
      const Status up = transfer.upload(std::span(sent), buffer->view());
      EXPECT_TRUE(up || up.error().code == ErrorCode::unavailable);
      const Status down = transfer.download(buffer->view(), std::span(received));
      EXPECT_TRUE(down || down.error().code == ErrorCode::unavailable);
      EXPECT_TRUE(up || !down);  // what is lost stays lost
      EXPECT_TRUE(!down || received == sent);
      worked = up && down;
      EXPECT_TRUE(!worked || device.copy_kernels > 0);
    }
    EXPECT_EQ(pool.statistics().in_use, 0u);
  }
  EXPECT_TRUE(worked);
}

}  // namespace
}  // namespace hoist::device
