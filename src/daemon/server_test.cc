// hoistd and its clients in one process: with the CPU device by the queues' own threads, and by
// streams as on a GPU; and with a GPU where there is one.
#include "daemon/server.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/test_seed.h"
#include "daemon/daemon_testing.h"
#include "daemon/request_testing.h"
#include "device/buffer.h"
#include "device/stream.h"
#include "device/transfer.h"

namespace hoist::daemon {
namespace {

using device::Buffer;
using device::Event;
using device::Stream;
using device::remote::Connection;
using device::remote::RemoteDevice;
using device::remote::Ticket;

class ServerTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const bool on_gpu = GetParam() == "cuda";
    const Result<device::Device*> device = device::find_device(on_gpu ? "cuda" : "cpu");
    if (!device) GTEST_SKIP() << device.error().message;
    running.emplace(**device, GetParam() != "threads");
  }

  Result<std::shared_ptr<RemoteDevice>> connect(uint64_t pool_size = uint64_t{4} << 20,
                                                uint32_t queues = HOIST_RING_MAX_QUEUES) const {
    return running->connect(pool_size, queues);
  }

  std::optional<TestServer> running;
  std::mt19937_64 random{test_seed()};
};

INSTANTIATE_TEST_SUITE_P(Server, ServerTest, testing::Values("threads", "streams", "cuda"),
                         [](const auto& info) { return info.param; });

TEST_P(ServerTest, CopiesAnySizeThereAndBack) {
  const auto device = connect().value();
  constexpr size_t kMiB = 1 << 20;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{7}, size_t{4095}, size_t{4096},
                            size_t{4097}, kMiB - 1, kMiB, kMiB + 1, 4 * kMiB, 9 * kMiB + 13}) {
    const std::vector<std::byte> bytes = random_bytes(size, random);
    Buffer buffer = Buffer::allocate(*device, size).value();
    ASSERT_TRUE(buffer.upload(bytes)) << size;
    std::vector<std::byte> back(size);
    ASSERT_TRUE(buffer.download(back)) << size;
    ASSERT_EQ(back, bytes) << size;
    const Stream stream = Stream::create(*device).value();
    Buffer other = Buffer::allocate(stream, size).value();
    Stream& ordered = const_cast<Stream&>(stream);
    std::fill(back.begin(), back.end(), std::byte{0});
    ASSERT_TRUE(ordered.copy(other.data(), bytes.data(), size));
    ASSERT_TRUE(ordered.copy(back.data(), other.data(), size));
    ASSERT_TRUE(ordered.synchronize());
    ASSERT_EQ(back, bytes) << size;
  }
}

TEST_P(ServerTest, PoolMemoryIsCopiedWithoutStaging) {
  const auto device = connect(uint64_t{32} << 20).value();
  constexpr size_t kSize = (size_t{12} << 20) + 5;  // more than one turn of the copy engine
  auto* const from = static_cast<std::byte*>(device->allocate_pinned(kSize).value());
  auto* const to = static_cast<std::byte*>(device->allocate_pinned(kSize).value());
  EXPECT_TRUE(device->is_pinned(from, kSize));
  EXPECT_FALSE(device->is_pinned(&kSize, 1));
  const std::vector<std::byte> bytes = random_bytes(kSize, random);
  std::memcpy(from, bytes.data(), kSize);
  Stream stream = Stream::create(*device).value();
  Buffer buffer = Buffer::allocate(stream, kSize).value();
  ASSERT_TRUE(stream.copy(buffer.data(), from, kSize));
  ASSERT_TRUE(stream.copy(to, buffer.data(), kSize));
  ASSERT_TRUE(stream.synchronize());
  EXPECT_EQ(std::memcmp(to, bytes.data(), kSize), 0);
  EXPECT_TRUE(device->free_pinned(from, kSize));
  EXPECT_TRUE(device->free_pinned(to, kSize));
  EXPECT_EQ(device->connection().pool_used(), 0u);
}

TEST_P(ServerTest, BuffersBeginWithZeros) {
  const auto device = connect().value();
  const std::vector<std::byte> zeros(100'000);
  for (int round = 0; round < 5; ++round) {
    Buffer buffer = Buffer::allocate(*device, zeros.size()).value();
    std::vector<std::byte> bytes = random_bytes(zeros.size(), random);
    std::vector<std::byte> back(zeros.size(), std::byte{1});
    ASSERT_TRUE(buffer.download(back));
    ASSERT_EQ(back, zeros);
    ASSERT_TRUE(buffer.upload(bytes));
  }
}

TEST_P(ServerTest, FillsAndCopiesWithin) {
  const auto device = connect().value();
  Buffer a = Buffer::allocate(*device, 1000).value();
  Buffer b = Buffer::allocate(*device, 1000).value();
  ASSERT_TRUE(a.fill(std::byte{0xab}));
  auto* const target = static_cast<std::byte*>(b.data());
  ASSERT_TRUE(device->copy(target + 10, a.data(), 500, {}));
  std::vector<std::byte> back(1000);
  ASSERT_TRUE(b.download(back));
  for (size_t i = 0; i < back.size(); ++i) {
    ASSERT_EQ(back[i], i >= 10 && i < 510 ? std::byte{0xab} : std::byte{0}) << i;
  }
  EXPECT_EQ(device->copy(target + 1, target, 10, {}).error().code, ErrorCode::invalid_argument);
}

// Random work on a stream against the same work in host memory.
void do_random_work(RemoteDevice& remote, std::mt19937_64& random) {
  RemoteDevice* const device = &remote;
  constexpr size_t kSize = 300'000;
  constexpr size_t kBuffers = 3;
  Stream stream = Stream::create(*device).value();
  std::vector<Buffer> buffers;
  std::vector<std::vector<std::byte>> mirror(kBuffers, std::vector<std::byte>(kSize));
  for (size_t i = 0; i < kBuffers; ++i) buffers.push_back(Buffer::allocate(stream, kSize).value());
  for (int step = 0; step < 400; ++step) {
    const size_t i = random() % kBuffers;
    const size_t j = (i + 1 + random() % (kBuffers - 1)) % kBuffers;
    const size_t offset = random() % kSize;
    const size_t size = random() % (kSize - offset);
    auto* const data = static_cast<std::byte*>(buffers[i].data()) + offset;
    switch (random() % 4) {
      case 0: {
        const auto bytes = random_bytes(size, random);
        ASSERT_TRUE(stream.copy(data, bytes.data(), size));
        std::copy(bytes.begin(), bytes.end(), mirror[i].begin() + static_cast<ptrdiff_t>(offset));
        break;
      }
      case 1: {
        const auto value = static_cast<std::byte>(random());
        ASSERT_TRUE(stream.fill(data, value, size));
        std::fill_n(mirror[i].begin() + static_cast<ptrdiff_t>(offset), size, value);
        break;
      }
      case 2:
        ASSERT_TRUE(stream.copy(static_cast<std::byte*>(buffers[j].data()) + offset, data, size));
        std::copy_n(mirror[i].begin() + static_cast<ptrdiff_t>(offset), size,
                    mirror[j].begin() + static_cast<ptrdiff_t>(offset));
        break;
      default: {
        std::vector<std::byte> back(size);
        ASSERT_TRUE(stream.copy(back.data(), data, size));
        ASSERT_TRUE(std::equal(back.begin(), back.end(),
                               mirror[i].begin() + static_cast<ptrdiff_t>(offset)));
      }
    }
  }
  EXPECT_TRUE(stream.synchronize());
}

TEST_P(ServerTest, RandomWorkAgreesWithHostMemory) {
  for (uint32_t queues = 1; queues <= HOIST_RING_MAX_QUEUES; ++queues) {
    const auto device = connect(uint64_t{1} << 20, queues).value();
    ASSERT_NO_FATAL_FAILURE(do_random_work(*device, random)) << queues << " queues";
  }
}

TEST_P(ServerTest, EventsOrderStreams) {
  const auto device = connect().value();
  Stream first = Stream::create(*device).value();
  Stream second = Stream::create(*device).value();
  Event event = Event::create(*device).value();
  EXPECT_EQ(event.is_done(), true);
  Buffer buffer = Buffer::allocate(*device, 4096).value();
  for (int round = 0; round < 50; ++round) {
    const auto value = static_cast<std::byte>(round);
    ASSERT_TRUE(first.fill(buffer.data(), value, buffer.size()));
    ASSERT_TRUE(event.record(first));
    ASSERT_TRUE(second.wait(event));
    std::byte seen;
    ASSERT_TRUE(second.copy(&seen, buffer.data(), 1));
    ASSERT_EQ(seen, value);
    ASSERT_TRUE(event.synchronize());
    ASSERT_EQ(event.is_done(), true);
  }
  bool called = false;
  ASSERT_TRUE(first.call([&] { called = true; }));
  ASSERT_TRUE(first.synchronize());
  EXPECT_TRUE(called);
}

TEST_P(ServerTest, AStreamTakesMoreThanAQueueHolds) {
  const auto device = connect().value();
  Stream stream = Stream::create(*device).value();
  Buffer buffer = Buffer::allocate(stream, 1000).value();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(
        stream.fill(static_cast<std::byte*>(buffer.data()) + i, static_cast<std::byte>(i), 1));
  }
  ASSERT_TRUE(stream.synchronize());
  std::vector<std::byte> back(1000);
  ASSERT_TRUE(buffer.download(back));
  for (size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], static_cast<std::byte>(i));
}

TEST_P(ServerTest, JudgesEveryNumber) {
  const auto device = connect().value();
  Connection& connection = device->connection();
  (void)connection.allocate(4096).value();                     // block 0 of the pool
  const Buffer mine = Buffer::allocate(*device, 100).value();  // number 1
  constexpr uint64_t kMost = UINT64_MAX;
  using enum ErrorCode;
  const struct {
    hoist_request request;
    std::optional<ErrorCode> expected;
  } cases[] = {
      {request_with(HOIST_REQUEST_NONE, {}, {}), std::nullopt},
      {request_with(HOIST_REQUEST_NONE, {}, {1}), invalid_argument},
      {request_with(4711, {}, {}), unsupported},
      {request_with(HOIST_REQUEST_ALLOCATE, {}, {}), invalid_argument},
      {request_with(HOIST_REQUEST_ALLOCATE, {}, {1, 2}), invalid_argument},
      {request_with(HOIST_REQUEST_ALLOCATE, {}, {kMost}), exhausted},
      {request_with(HOIST_REQUEST_FREE, {}, {0}), not_found},
      {request_with(HOIST_REQUEST_FREE, {}, {2}), not_found},
      {request_with(HOIST_REQUEST_FREE, {{1, 0, 1}}, {1}), invalid_argument},
      {request_with(HOIST_REQUEST_FILL, {{1, 0, 100}}, {255}), std::nullopt},
      {request_with(HOIST_REQUEST_FILL, {{1, 0, 101}}, {0}), invalid_argument},
      {request_with(HOIST_REQUEST_FILL, {{1, 100, 0}}, {0}), std::nullopt},
      {request_with(HOIST_REQUEST_FILL, {{1, 101, 0}}, {0}), invalid_argument},
      {request_with(HOIST_REQUEST_FILL, {{1, kMost, 2}}, {0}), invalid_argument},
      {request_with(HOIST_REQUEST_FILL, {{1, 50, kMost}}, {0}), invalid_argument},
      {request_with(HOIST_REQUEST_FILL, {{1, 0, 1}}, {256}), invalid_argument},
      {request_with(HOIST_REQUEST_FILL, {{0, 0, 1}}, {0}), invalid_argument},
      {request_with(HOIST_REQUEST_FILL, {{2, 0, 1}}, {0}), not_found},
      {request_with(HOIST_REQUEST_COPY, {{1, 0, 4}, {0, 0, 4}}, {}), std::nullopt},
      {request_with(HOIST_REQUEST_COPY, {{1, 0, 4}, {0, 0, 5}}, {}), invalid_argument},
      {request_with(HOIST_REQUEST_COPY, {{0, 0, 4}, {0, 8, 4}}, {}), invalid_argument},
      {request_with(HOIST_REQUEST_COPY, {{1, 0, 4}, {1, 3, 4}}, {}), invalid_argument},
      {request_with(HOIST_REQUEST_COPY, {{1, 0, 4}, {1, 4, 4}}, {}), std::nullopt},
      {request_with(HOIST_REQUEST_COPY, {{1, 0, 4}}, {}), invalid_argument},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(failure_of(connection, test.request), test.expected) << &test - cases;
  }
  hoist_request reserved = request_with(HOIST_REQUEST_NONE, {}, {});
  reserved.reserved = 1;
  EXPECT_EQ(failure_of(connection, reserved), invalid_argument);
  hoist_request many = request_with(HOIST_REQUEST_NONE, {}, {});
  many.argument_count = HOIST_RING_MAX_ARGUMENTS + 1;
  EXPECT_EQ(failure_of(connection, many), invalid_argument);
}

TEST_P(ServerTest, ABufferOfAnotherClientIsNotFound) {
  const auto ours = connect().value();
  const auto theirs = connect().value();
  const Buffer buffer = Buffer::allocate(*theirs, 100).value();
  EXPECT_EQ(failure_of(ours->connection(), request_with(HOIST_REQUEST_FILL, {{1, 0, 1}}, {0})),
            ErrorCode::not_found);
  EXPECT_EQ(ours->fill(buffer.data(), std::byte{1}, 1, {}).error().code,
            ErrorCode::invalid_argument);
}

TEST_P(ServerTest, ABrokenRingEndsItsOwnSessionOnly) {
  const auto good = connect().value();
  const auto bad = connect(uint64_t{4} << 20, /*queues=*/2).value();
  // The client's own memory: its queue begins a page and the pool's start apart.
  std::byte* const pool = static_cast<std::byte*>(bad->allocate_pinned(1).value());
  auto* const queue = reinterpret_cast<hoist_ring_queue*>(pool - hoist_ring_pool_offset(2) +
                                                          hoist_ring_queue_offset(1));
  queue->tail = 1'000'000;
  device::remote::Receiver::wake(queue);  // rings the doorbell
  while (bad->status()) std::this_thread::yield();
  EXPECT_NE(bad->status().error().message.find("ring"), std::string::npos);
  EXPECT_EQ(bad->allocate(1, {}).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(Buffer::allocate(*good, 100));
  EXPECT_NE(running->status().find("\"broken\":1"), std::string::npos);
}

TEST_P(ServerTest, EndsGracefully) {
  const auto device = connect().value();
  Connection& connection = device->connection();
  std::vector<Ticket> tickets;
  for (int i = 0; i < HOIST_RING_ENTRIES; ++i) {
    tickets.push_back(connection.submit(0, request_with(HOIST_REQUEST_NONE, {}, {})).value());
  }
  EXPECT_TRUE(running->stop());
  for (const Ticket& ticket : tickets) EXPECT_TRUE(connection.wait(ticket));
  EXPECT_NE(connection.status().error().message.find("hoistd ends"), std::string::npos);
  EXPECT_FALSE(connect());
}

TEST_P(ServerTest, ServesManyClientsAtOnce) {
  constexpr int kClients = 64;
  std::vector<std::thread> threads;
  for (int i = 0; i < kClients; ++i) {
    threads.emplace_back([&, seed = test_seed() + static_cast<uint64_t>(i)] {
      std::mt19937_64 own(seed);
      const auto device = connect(uint64_t{256} << 10, 1);
      ASSERT_TRUE(device) << device.error().message;
      Buffer buffer = Buffer::allocate(**device, 200'000).value();
      for (int round = 0; round < 3; ++round) {
        const auto bytes = random_bytes(buffer.size(), own);
        std::vector<std::byte> back(bytes.size());
        ASSERT_TRUE(buffer.upload(bytes));
        ASSERT_TRUE(buffer.download(back));
        ASSERT_EQ(back, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(running->status().find("\"connections\":64"), std::string::npos);
}

TEST_P(ServerTest, ThreadsShareADevice) {
  const auto device = connect(uint64_t{1} << 20).value();  // less than they use at once
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937_64 own(test_seed() + i);
      Stream stream = Stream::create(*device).value();
      for (int round = 0; round < 10; ++round) {
        const auto bytes = random_bytes(own() % 100'000, own);
        Buffer buffer = Buffer::allocate(stream, bytes.size()).value();
        std::vector<std::byte> back(bytes.size());
        const Status sent = stream.copy(buffer.data(), bytes.data(), bytes.size());
        ASSERT_TRUE(sent) << sent.error().message;
        ASSERT_TRUE(stream.copy(back.data(), buffer.data(), bytes.size()));
        ASSERT_EQ(back, bytes);
      }
      EXPECT_TRUE(stream.synchronize());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A transfer's copies go down one stream, each taken from what another has freed.
TEST_P(ServerTest, TransfersArriveWhole) {
  const auto device = connect(uint64_t{64} << 20).value();
  device::PinnedPool pool(*device);
  constexpr size_t kChunk = size_t{64} << 10;
  device::Transfer transfer(
      pool, {.threads = 8, .largest_chunk = kChunk, .chunks = 8, .ring = 16 * kChunk, .direct = 0});
  constexpr size_t kSize = (size_t{4} << 20) + 77;
  Buffer buffer = Buffer::allocate(*device, kSize).value();
  std::vector<std::byte> bytes = random_bytes(kSize, random);
  std::vector<std::byte> back(kSize);
  for (int round = 0; round < 40; ++round) {
    for (size_t i = 0; i < kSize; i += 512) bytes[i] = static_cast<std::byte>(random());
    ASSERT_TRUE(transfer.upload(std::span<const std::byte>(bytes), buffer.view()));
    ASSERT_TRUE(transfer.download(buffer.view<const std::byte>(), std::span<std::byte>(back)));
    ASSERT_EQ(std::memcmp(back.data(), bytes.data(), kSize), 0) << "round " << round;
  }
}

// No ring of the size that a transfer would like best fits, but a smaller one does.
TEST_P(ServerTest, TransfersThroughASmallPool) {
  const auto device = connect(uint64_t{16} << 20).value();
  device::PinnedPool pool(*device);
  device::Transfer transfer(pool);
  for (const size_t size : {size_t{3} << 20, (size_t{20} << 20) + 5, size_t{1} << 20}) {
    Buffer buffer = Buffer::allocate(*device, size).value();
    const std::vector<std::byte> bytes = random_bytes(size, random);
    std::vector<std::byte> back(size);
    const Status up = transfer.upload(std::span<const std::byte>(bytes), buffer.view());
    ASSERT_TRUE(up) << up.error().message;
    ASSERT_TRUE(transfer.download(buffer.view<const std::byte>(), std::span<std::byte>(back)));
    ASSERT_EQ(back, bytes);
  }
}

TEST(Server, KeepsToItsLimits) {
  Options options;
  options.memory_limit = 1000;
  options.pool_limit = 1 << 20;
  options.client_limit = 2;
  TestServer server(device::cpu_device(), /*on_streams=*/false, options);
  EXPECT_EQ(server.connect(2 << 20).error().code, ErrorCode::unavailable);
  auto device = server.connect(1 << 20).value();
  {
    const Buffer some = Buffer::allocate(*device, 600).value();
    EXPECT_EQ(Buffer::allocate(*device, 401).error().code, ErrorCode::exhausted);
    EXPECT_TRUE(Buffer::allocate(*device, 400));
  }
  EXPECT_TRUE(Buffer::allocate(*device, 1000));  // what was freed may be had again
  const auto second = server.connect(4096).value();
  EXPECT_EQ(server.connect(4096).error().code, ErrorCode::unavailable);
  device.reset();
  Result<std::shared_ptr<RemoteDevice>> third = server.connect(4096);
  while (!third) third = server.connect(4096);  // once the server has seen the first leave
}

TEST(Server, EndsWithoutClients) {
  Options options;
  options.idle = std::chrono::seconds(0);
  EXPECT_TRUE(TestServer(device::cpu_device(), false, options).stop());
}

TEST(Server, OneSocketOneServer) {
  const TestServer server;
  Options options;
  options.socket = server.path();
  EXPECT_EQ(open_endpoint(options).error().code, ErrorCode::exhausted);
}

TEST(Server, AForksEndChangesNothing) {
  const TestServer server;
  const auto device = server.connect().value();
  Buffer buffer = Buffer::allocate(*device, 100).value();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool refused = !device->status() && !device->fill(buffer.data(), std::byte{1}, 1, {});
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(buffer.fill(std::byte{2}));
}

}  // namespace
}  // namespace hoist::daemon
