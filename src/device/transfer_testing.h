// What the tests of Transfer share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device/buffer.h"
#include "device/test_devices.h"
#include "device/transfer.h"

namespace hoist::device {

inline constexpr size_t kChunk = 4096;  // of a thread's
inline constexpr size_t kLargest = 3 * kChunk;
inline constexpr size_t kRing = 7 * kChunk;

// So small that a few kilobytes see every border.
constexpr TransferTuning tuning_of(int threads, size_t direct, size_t through_slot) {
  TransferTuning tuning;
  tuning.threads = threads;
  tuning.piece = kChunk;
  tuning.largest_chunk = kLargest;
  tuning.ring = kRing;
  tuning.direct = direct;
  tuning.through_slot = through_slot;
  return tuning;
}
inline constexpr TransferTuning kSmallChunks = tuning_of(4, 0, 0);
inline constexpr TransferTuning kOneThread = tuning_of(1, 0, 0);
inline constexpr TransferTuning kThroughSlot = tuning_of(1, size_t{4} << 20, kChunk);

class TransferTest : public OnDevicesWithPool {
 protected:
  void SetUp() override {
    OnDevicesWithPool::SetUp();
    if (IsSkipped()) return;
    transfer_ = std::make_unique<Transfer>(*pool_, kSmallChunks);
  }
  void TearDown() override {
    if (pool_ == nullptr) return;
    transfer_.reset();
    EXPECT_EQ(pool_->statistics().in_use, 0u);
    EXPECT_EQ(pool_->statistics().quarantined, 0u);
  }

  // A buffer whose bytes are known.
  Buffer poisoned(size_t size) {
    Result<Buffer> buffer = Buffer::allocate(device(), size);
    EXPECT_TRUE(buffer && buffer->fill(std::byte{0xa5}));
    return std::move(*buffer);
  }
  static std::vector<std::byte> content_of(const Buffer& buffer) {
    std::vector<std::byte> bytes(buffer.size());
    EXPECT_TRUE(buffer.download(bytes));
    return bytes;
  }

  // There and back, between guarded places at odd addresses.
  void round_trip(Transfer& transfer, size_t size) {
    constexpr size_t kGuard = 3;
    const std::vector<std::byte> sent = random_bytes(size + kGuard, size);
    Buffer buffer = poisoned(size + 2 * kGuard);
    const Span<std::byte> inside = buffer.view().subspan(kGuard, size);
    std::atomic<uint64_t> progress = 0;
    const TransferRequest request = {.progress = &progress};
    const Status up = transfer.upload(std::span(sent).subspan(kGuard), inside, request);
    ASSERT_TRUE(up) << up.error().message;
    EXPECT_EQ(progress, size);
    std::vector<std::byte> expected(size + 2 * kGuard, std::byte{0xa5});
    std::copy(sent.begin() + kGuard, sent.end(), expected.begin() + kGuard);
    EXPECT_EQ(content_of(buffer), expected);

    std::vector<std::byte> received(size + 2 * kGuard, std::byte{0xa5});
    const Status down =
        transfer.download(inside, std::span(received).subspan(kGuard, size), request);
    ASSERT_TRUE(down) << down.error().message;
    EXPECT_EQ(progress, 2 * size);
    EXPECT_EQ(received, expected);
  }

  std::unique_ptr<Transfer> transfer_;
};

}  // namespace hoist::device
