#include "device/copy_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "base/test_seed.h"
#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "device/test_devices.h"

namespace hoist::device {
namespace {

constexpr uint32_t kSlots = 5;
constexpr size_t kSlotSize = size_t{40} << 10;
constexpr uint64_t kLong = 5'000'000'000;  // nanoseconds
constexpr uint64_t kShort = 20'000'000;

class CopyKernelTest : public OnDevicesWithPool {
 protected:
  void SetUp() override {
    OnDevicesWithPool::SetUp();
    if (IsSkipped()) return;
    Result<Stream> stream = Stream::create(device());
    ASSERT_TRUE(stream);
    stream_.emplace(std::move(*stream));
    Result<PinnedBlock> slots = pool_->allocate(kSlots * kSlotSize);
    Result<PinnedBlock> control =
        pool_->allocate(kSlots * (sizeof(CopyOrder) + sizeof(CopyAnswer)));
    ASSERT_TRUE(slots && control);
    slots_ = std::move(*slots);
    control_ = std::move(*control);
  }

  CopyKernel copy_kernel_of(std::byte* memory, bool is_upload, uint64_t patience) {
    std::memset(control_.data(), 0, control_.size());
    auto* const orders = reinterpret_cast<CopyOrder*>(control_.data());
    return {.memory = memory,
            .is_upload = is_upload,
            .count = kSlots,
            .slots = slots_.data(),
            .slot_size = kSlotSize,
            .orders = orders,
            .answers = reinterpret_cast<CopyAnswer*>(orders + kSlots),
            .patience = patience};
  }
  std::byte* slot(uint32_t number) const { return slots_.data() + number * kSlotSize; }

  static void wait(CopyAnswer& answer, uint64_t number) {
    while (!has_answered(answer, number)) std::this_thread::yield();
  }

  // Moves `bytes` by pieces of random sizes in random slots, to or from the device.
  void move_all(const CopyKernel& copy_kernel, std::vector<std::byte>& bytes,
                std::mt19937_64& random) {
    struct Last {
      uint64_t number = 0;
      size_t offset = 0;
      size_t size = 0;
    };
    std::vector<Last> last(copy_kernel.count);
    const auto finish = [&](uint32_t number) {
      wait(copy_kernel.answers[number], last[number].number);
      if (copy_kernel.is_upload || last[number].size == 0) return;
      std::memcpy(bytes.data() + last[number].offset, slot(number), last[number].size);
    };
    for (size_t offset = 0; offset < bytes.size();) {
      const auto number = static_cast<uint32_t>(random() % copy_kernel.count);
      finish(number);
      const size_t wanted =
          random() % 4 == 0 ? 16 * (random() % 9 + 1) : 16 * (random() % 2560 + 1);
      const size_t size = std::min({wanted, kSlotSize, bytes.size() - offset});
      last[number] = {last[number].number + 1, offset, size};
      if (copy_kernel.is_upload) std::memcpy(slot(number), bytes.data() + offset, size);
      post(copy_kernel.orders[number], {last[number].number, offset, size});
      offset += size;
    }
    for (uint32_t number = 0; number < copy_kernel.count; ++number) {
      finish(number);
      end_slot(copy_kernel.orders[number]);
    }
  }

  std::optional<Stream> stream_;
  PinnedBlock slots_;
  PinnedBlock control_;
};
INSTANTIATE_TEST_SUITE_P(On, CopyKernelTest, kTestDevices, device_name);

TEST_P(CopyKernelTest, MovesPiecesOfAnySize) {
  std::mt19937_64 random(test_seed());
  for (const size_t size : {size_t{0}, size_t{1}, size_t{15}, size_t{16}, size_t{17}, kSlotSize,
                            size_t{3} << 20, (size_t{3} << 20) + 13}) {
    SCOPED_TRACE(size);
    constexpr size_t kGuard = 64;
    std::vector<std::byte> sent = random_bytes(size, random());
    Result<Buffer> buffer = Buffer::allocate(device(), size + 2 * kGuard);
    ASSERT_TRUE(buffer && buffer->fill(std::byte{0xa5}));
    const CopyKernel up = copy_kernel_of(buffer->view().data + kGuard, true, kLong);
    ASSERT_TRUE(device().start_copy_kernel(up, stream_->handle()));
    move_all(up, sent, random);
    ASSERT_TRUE(stream_->synchronize());
    std::vector<std::byte> there(size + 2 * kGuard);
    ASSERT_TRUE(buffer->download(there));
    std::vector<std::byte> expected(size + 2 * kGuard, std::byte{0xa5});
    std::copy(sent.begin(), sent.end(), expected.begin() + kGuard);
    EXPECT_EQ(there, expected);

    std::vector<std::byte> received(size);
    const CopyKernel down = copy_kernel_of(buffer->view().data + kGuard, false, kLong);
    ASSERT_TRUE(device().start_copy_kernel(down, stream_->handle()));
    move_all(down, received, random);
    ASSERT_TRUE(stream_->synchronize());
    EXPECT_EQ(received, sent);
  }
}

TEST_P(CopyKernelTest, SlotsWithoutOrdersAreLeft) {
  Result<Buffer> buffer = Buffer::allocate(device(), kSlotSize);
  ASSERT_TRUE(buffer && buffer->fill(std::byte{0xa5}));
  CopyKernel copy_kernel = {};
  bool answered = false;
  for (int round = 0; round < 5 && !answered; ++round) {  // a busy machine may post too late
    copy_kernel = copy_kernel_of(buffer->view().data, true, kShort);
    ASSERT_TRUE(device().start_copy_kernel(copy_kernel, stream_->handle()));
    std::memset(slot(0), 1, 16);
    post(copy_kernel.orders[0], {1, 0, 16});
    ASSERT_TRUE(stream_->synchronize());  // nobody ends it
    answered = has_answered(copy_kernel.answers[0], 1);
  }
  EXPECT_TRUE(answered);
  for (uint32_t number = 0; number < kSlots; ++number) {
    EXPECT_TRUE(has_left(copy_kernel.answers[number]));
    EXPECT_FALSE(has_answered(copy_kernel.answers[number], number == 0 ? 2 : 1));
  }
  post(copy_kernel.orders[1], {1, 16, 16});  // too late
  std::vector<std::byte> there(kSlotSize);
  ASSERT_TRUE(buffer->download(there));
  std::vector<std::byte> expected(kSlotSize, std::byte{0xa5});
  std::fill_n(expected.begin(), 16, std::byte{1});
  EXPECT_EQ(there, expected);
}

TEST_P(CopyKernelTest, StreamsKeepTheirOrder) {
  Result<Buffer> buffer = Buffer::allocate(*stream_, 32);
  ASSERT_TRUE(buffer);
  ASSERT_TRUE(stream_->fill(buffer->data(), std::byte{1}, 32));
  const CopyKernel copy_kernel = copy_kernel_of(buffer->view().data, true, kLong);
  ASSERT_TRUE(device().start_copy_kernel(copy_kernel, stream_->handle()));
  ASSERT_TRUE(stream_->fill(buffer->view().data + 16, std::byte{3}, 16));
  std::memset(slot(2), 2, 32);
  post(copy_kernel.orders[2], {1, 0, 32});
  for (uint32_t number = 0; number < kSlots; ++number) {
    if (number == 2) wait(copy_kernel.answers[2], 1);
    end_slot(copy_kernel.orders[number]);
  }
  ASSERT_TRUE(stream_->synchronize());
  std::vector<std::byte> there(32);
  ASSERT_TRUE(buffer->download(there));
  std::vector<std::byte> expected(32, std::byte{2});
  std::fill_n(expected.begin() + 16, 16, std::byte{3});
  EXPECT_EQ(there, expected);
}

}  // namespace
}  // namespace hoist::device
