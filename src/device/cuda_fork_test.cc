// What a process has of a GPU, in its child after fork(): refused at once, and left to the parent.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include "base/fork_testing.h"
#include "device/buffer.h"
#include "device/cuda_memory.h"
#include "device/cuda_plugin.h"
#include "device/device.h"
#include "device/pinned_pool.h"
#include "device/stream.h"
#include "device/transfer.h"

namespace hoist::device {
namespace {

template <typename Answer>
bool is_refused(const Answer& answer) {
  return !answer && answer.error().code == ErrorCode::unavailable &&
         !answer.error().message.empty();
}

constexpr size_t kSize = size_t{9} << 20;

// Everything that a process may hold of a device.
struct Held {
  explicit Held(Device& device)
      : device(device),
        stream(Stream::create(device).value()),
        event(Event::create(device).value()),
        ordered(Buffer::allocate(*stream, kSize).value()),
        buffer(Buffer::allocate(device, kSize).value()),
        timer(CudaTimer::create(*stream).value()),
        pool(std::in_place, device),
        block(pool->allocate(5000).value()),
        transfer(std::in_place, *pool) {}

  // Destructors and all.
  void leave() {
    transfer.reset();
    block.reset();
    pool.reset();
    timer.reset();
    buffer.reset();
    ordered.reset();
    event.reset();
    stream.reset();
  }

  bool round_trip(std::byte value) {
    std::vector<std::byte> bytes(kSize, value);
    if (!transfer->upload(std::span<const std::byte>(bytes), buffer->view())) return false;
    if (!stream->copy(ordered->data(), buffer->data(), kSize) || !event->record(*stream) ||
        !event->synchronize()) {
      return false;
    }
    std::vector<std::byte> back(kSize);
    return ordered->download(back) && back == bytes;
  }

  Device& device;
  std::optional<Stream> stream;
  std::optional<Event> event;
  std::optional<Buffer> ordered;
  std::optional<Buffer> buffer;
  std::optional<CudaTimer> timer;
  std::optional<PinnedPool> pool;
  std::optional<PinnedBlock> block;
  std::optional<Transfer> transfer;
};

bool are_memory_calls_refused(Held& held) {
  std::vector<std::byte> bytes(kSize);
  return is_refused(held.buffer->upload(bytes)) && is_refused(held.buffer->download(bytes)) &&
         is_refused(held.buffer->fill(std::byte{1})) && is_refused(held.ordered->download(bytes)) &&
         is_refused(Buffer::allocate(held.device, 10)) &&
         is_refused(Buffer::allocate(*held.stream, 10)) && is_refused(held.device.trim()) &&
         is_refused(held.device.pin(bytes.data(), bytes.size())) &&
         !held.device.is_pinned(held.block->data(), 1) && is_refused(held.pool->allocate(5000)) &&
         is_refused(
             held.transfer->upload(std::span<const std::byte>(bytes), held.buffer->view())) &&
         is_refused(held.transfer->download(held.buffer->view<const std::byte>(), bytes));
}

bool are_stream_calls_refused(Held& held) {
  std::array<std::byte, 4> bytes;
  return is_refused(held.device.status()) && is_refused(Stream::create(held.device)) &&
         is_refused(Event::create(held.device)) && is_refused(held.stream->synchronize()) &&
         is_refused(held.stream->copy(bytes.data(), held.buffer->data(), bytes.size())) &&
         is_refused(held.stream->fill(held.buffer->data(), std::byte{1}, 4)) &&
         is_refused(held.stream->call([] {})) && is_refused(held.stream->wait(*held.event)) &&
         is_refused(held.event->record(*held.stream)) && is_refused(held.event->is_done()) &&
         is_refused(held.event->synchronize());
}

bool is_the_plug_in_refused(Held& held) {
  return is_refused(cuda_available()) && is_refused(cuda_device()) &&
         is_refused(find_device("cuda")) && is_refused(cuda_symbol("hoist_cuda_copy")) &&
         is_refused(allocate_on_cuda(10)) && is_refused(stream_on_cuda()) &&
         is_refused(CudaTimer::create(*held.stream)) && is_refused(held.timer->start()) &&
         is_refused(held.timer->stop());
}

bool does_the_cpu_answer() {
  std::array<std::byte, 4> to = {};
  constexpr std::array<std::byte, 4> from = {std::byte{1}, std::byte{2}, std::byte{3},
                                             std::byte{4}};
  const Result<Device*> any = find_device("auto");
  return any && (*any)->copy(to.data(), from.data(), to.size(), {}) && to == from;
}

class CudaFork : public testing::Test {
 protected:
  void SetUp() override {
    const Result<Device*> found = find_device("cuda");
    if (!found) GTEST_SKIP() << found.error().message;
    device_ = *found;
  }

  Device* device_ = nullptr;
};

TEST_F(CudaFork, WhatTheParentHoldsIsRefusedInTheChildAndGoesOnInTheParent) {
  Held held(*device_);
  ASSERT_TRUE(held.round_trip(std::byte{1}));
  EXPECT_TRUE(in_child([&] { return are_stream_calls_refused(held); }));
  EXPECT_TRUE(in_child([&] { return are_memory_calls_refused(held); }));
  EXPECT_TRUE(in_child([&] { return is_the_plug_in_refused(held); }));
  EXPECT_TRUE(in_child(does_the_cpu_answer));
  EXPECT_TRUE(held.round_trip(std::byte{2}));
}

// By the destructors of objects, of static ones, and by the CUDA runtime's own exit handlers.
TEST_F(CudaFork, AChildEndsWithoutWaiting) {
  Held held(*device_);
  ASSERT_TRUE(held.round_trip(std::byte{1}));
  EXPECT_TRUE(in_child([&] {
    held.leave();
    return true;
  }));
  EXPECT_TRUE(in_child([&]() -> bool {
    held.leave();
    std::exit(0);
  }));
  EXPECT_TRUE(in_child([&]() -> bool { std::exit(is_refused(held.device.status()) ? 0 : 1); }));
  EXPECT_TRUE(held.round_trip(std::byte{2}));
}

TEST_F(CudaFork, WhileOtherThreadsAreAtWork) {
  Held held(*device_);
  std::atomic<bool> stop = false;
  std::atomic<int> rounds = 0;
  std::thread other([&] {
    while (!stop && held.round_trip(std::byte{3})) ++rounds;
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(in_child([&] {
      const bool is_right = are_stream_calls_refused(held) && are_memory_calls_refused(held);
      held.leave();
      return is_right;
    }));
  }
  const int before = rounds;
  while (rounds < before + 2 && held.device.status()) std::this_thread::yield();
  stop = true;
  other.join();
  EXPECT_GE(rounds, before + 2);
}

}  // namespace
}  // namespace hoist::device
