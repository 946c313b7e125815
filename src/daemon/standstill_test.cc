// hoistd whose device stands still: what may go on meanwhile, what may not, and what comes after.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
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
#include "device/cpu_device.h"
#include "device/stream.h"
#include "device/transfer.h"

namespace hoist::daemon {
namespace {

using device::Buffer;
using device::Stream;
using device::remote::Connection;
using device::remote::RemoteDevice;
using device::remote::Ticket;

// A device whose streams, or callers without a stream, stand still from a fill() on until they are
// told to go on.
class StandingDevice : public device::CpuDevice {
 public:
  Status fill(void* data, std::byte value, size_t size, device::StreamHandle stream) override {
    if (stands_) {
      ++fills_;
      if (Status stopped = call(stream, [this] { go_on_.wait(); }); !stopped) return stopped;
    }
    return CpuDevice::fill(data, value, size, stream);
  }
  Status copy(void* to, const void* from, size_t size, device::StreamHandle stream) override {
    ++copies_;
    if (copies_stand_) go_on_.wait();
    return CpuDevice::copy(to, from, size, stream);
  }
  void stand() { stands_ = true; }
  void let_copies_stand() { copies_stand_ = true; }  // their callers, without streams
  void go_on() { go_on_.count_down(); }
  int copies() const { return copies_; }
  int fills() const { return fills_; }

 private:
  std::atomic<bool> stands_ = false;
  std::atomic<bool> copies_stand_ = false;
  std::latch go_on_{1};
  std::atomic<int> copies_ = 0;
  std::atomic<int> fills_ = 0;  // that stand
};

std::vector<std::byte> content(Buffer& buffer) {
  std::vector<std::byte> bytes(buffer.size());
  EXPECT_TRUE(buffer.download(bytes));
  return bytes;
}

// A buffer of a standing device, and a stream that stands in a fill() of it.
struct StandingStream {
  explicit StandingStream(bool on_streams, uint32_t queues)
      : server(standing, on_streams),
        device(server.connect(uint64_t{4} << 20, queues).value()),
        buffer(Buffer::allocate(*device, 4096).value()),
        stream(Stream::create(*device).value()) {
    std::mt19937_64 random(test_seed());
    bytes = random_bytes(buffer.size(), random);
    standing.stand();
    EXPECT_TRUE(stream.fill(buffer.data(), std::byte{1}, buffer.size()));
  }
  void copy() { ASSERT_TRUE(stream.copy(buffer.data(), bytes.data(), bytes.size())); }

  StandingDevice standing;
  const TestServer server;
  const std::shared_ptr<RemoteDevice> device;
  Buffer buffer;
  Stream stream;
  std::vector<std::byte> bytes;  // that copy() copies
};

TEST(Standstill, ACopyWhoseTurnComesTooLateIsNotDone) {
  StandingDevice standing;
  const TestServer server(standing);
  device::remote::ConnectOptions options;
  options.path = server.path();
  options.handshake = std::chrono::seconds(60);
  options.queues = 1;
  options.patience = std::chrono::seconds(4);
  const auto device = RemoteDevice::connect(options).value();
  Buffer buffer = Buffer::allocate(*device, 4096).value();
  std::mt19937_64 random(test_seed());
  const std::vector<std::byte> before = random_bytes(4096, random);
  ASSERT_TRUE(buffer.upload(before));
  Stream stream = Stream::create(*device).value();
  standing.stand();
  ASSERT_TRUE(stream.fill(buffer.data(), std::byte{1}, 1));
  const std::vector<std::byte> late = random_bytes(4096, random);
  ASSERT_TRUE(stream.copy(buffer.data(), late.data(), late.size()));
  std::this_thread::sleep_for(options.patience);
  standing.go_on();
  while (server.status().find("\"cancelled\":1,") == std::string::npos) std::this_thread::yield();
  const Status status = stream.synchronize();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::cancelled) << status.error().message;
  std::vector<std::byte> expected = before;
  expected[0] = std::byte{1};
  std::vector<std::byte> now(4096);
  ASSERT_TRUE(buffer.download(now));  // and the connection serves on
  EXPECT_EQ(now, expected);
}

// An operation that takes long holds up no copy, whatever streams were made before.
TEST(Standstill, CopiesGoOnBesideAnOperation) {
  StandingDevice standing;
  const TestServer server(standing);
  const auto device = server.connect().value();
  Buffer filled = Buffer::allocate(*device, 4096).value();
  Buffer copied = Buffer::allocate(*device, 4096).value();
  std::mt19937_64 random(test_seed());
  standing.stand();
  std::vector<Stream> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(Stream::create(*device).value());
  ASSERT_TRUE(streams[0].fill(filled.data(), std::byte{1}, filled.size()));
  for (Stream& stream : std::span(streams).subspan(1)) {
    const std::vector<std::byte> bytes = random_bytes(copied.size(), random);
    std::vector<std::byte> back(bytes.size());
    ASSERT_TRUE(stream.copy(copied.data(), bytes.data(), bytes.size()));
    ASSERT_TRUE(stream.synchronize());
    ASSERT_TRUE(stream.copy(back.data(), copied.data(), back.size()));
    ASSERT_EQ(back, bytes);
  }
  standing.go_on();
  ASSERT_TRUE(streams[0].synchronize());
}

TEST(Standstill, AStreamsCopyWaitsForItsOperation) {
  StandingStream one(/*on_streams=*/false, /*queues=*/4);
  one.copy();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // in another queue it would be done
  EXPECT_EQ(one.standing.copies(), 0);
  one.standing.go_on();
  ASSERT_TRUE(one.stream.synchronize());
  EXPECT_EQ(content(one.buffer), one.bytes);
}

// Nor in another queue, whose answers are not late.
TEST(Standstill, AStreamThatGaveUpWaitingDoesNotOvertakeItself) {
  StandingDevice standing;
  const TestServer server(standing);
  device::remote::ConnectOptions options;
  options.path = server.path();
  options.handshake = std::chrono::seconds(60);
  options.patience = std::chrono::seconds(3);
  const auto device = RemoteDevice::connect(options).value();
  Buffer buffer = Buffer::allocate(*device, 4096).value();
  Stream stream = Stream::create(*device).value();
  const std::vector<std::byte> bytes(buffer.size(), std::byte{7});
  standing.stand();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(stream.fill(buffer.data(), std::byte{1}, buffer.size()));
  }
  EXPECT_EQ(stream.synchronize().error().code, ErrorCode::unavailable);
  EXPECT_EQ(stream.call([] { ADD_FAILURE(); }).error().code, ErrorCode::unavailable);
  const Status copied = stream.copy(buffer.data(), bytes.data(), bytes.size());
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, ErrorCode::unavailable);
  EXPECT_EQ(standing.copies(), 0);
  standing.go_on();
  while (!device->status()) std::this_thread::yield();  // until the late answers
  // What was done in vain has been told.
  EXPECT_TRUE(stream.synchronize());
  ASSERT_TRUE(stream.copy(buffer.data(), bytes.data(), bytes.size()));
  std::vector<std::byte> back(bytes.size());
  ASSERT_TRUE(stream.copy(back.data(), buffer.data(), back.size()));
  EXPECT_EQ(back, bytes);
}

// A FREE that waits for longer than anybody has patience is done all the same.
TEST(Standstill, FreesWhatWasFreedBehindIt) {
  StandingDevice standing;
  const TestServer server(standing);
  device::remote::ConnectOptions options;
  options.path = server.path();
  options.handshake = std::chrono::seconds(60);
  options.queues = 1;
  options.patience = std::chrono::seconds(3);
  const auto device = RemoteDevice::connect(options).value();
  {
    Stream stream = Stream::create(*device).value();
    Buffer buffer = Buffer::allocate(stream, 4096).value();
    ASSERT_TRUE(stream.synchronize());
    standing.stand();
    ASSERT_TRUE(stream.fill(buffer.data(), std::byte{1}, buffer.size()));
  }
  std::this_thread::sleep_for(2 * options.patience);
  standing.go_on();
  const std::string freed = "\"device_bytes\":0},\"quarantine\"";  // of all clients
  while (server.status().find(freed) == std::string::npos) {
    std::this_thread::yield();
  }
  EXPECT_NE(server.status().find("\"cancelled\":0,"), std::string::npos) << server.status();
}

// The ring of a transfer that gave up is free again when their copies were answered, and so is
// device memory that could not be freed meanwhile.
void transfer_around_a_standstill(bool upload) {
  constexpr size_t kSize = size_t{3} << 20;
  StandingDevice standing;
  const TestServer server(standing);
  device::remote::ConnectOptions options;
  options.path = server.path();
  options.handshake = std::chrono::seconds(60);
  options.pool_size = uint64_t{16} << 20;
  options.patience = std::chrono::seconds(3);
  const auto device = RemoteDevice::connect(options).value();
  Buffer buffer = Buffer::allocate(*device, kSize).value();
  std::optional<Buffer> other = Buffer::allocate(*device, kSize).value();
  std::mt19937_64 random(test_seed());
  const std::vector<std::byte> bytes = random_bytes(kSize, random);
  std::vector<std::byte> back(kSize);
  device::PinnedPool pool(*device);
  std::optional<device::Transfer> transfer;
  transfer.emplace(pool, device::TransferTuning{.threads = 2,
                                                .piece = size_t{64} << 10,
                                                .largest_chunk = size_t{1} << 20,
                                                .ring = size_t{2} << 20});
  const auto move = [&](bool up) {
    if (up) return transfer->upload(std::span<const std::byte>(bytes), buffer.view());
    return transfer->download(buffer.view<const std::byte>(), std::span<std::byte>(back));
  };
  ASSERT_TRUE(move(true));
  standing.let_copies_stand();
  const Status stopped = move(upload);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::unavailable) << stopped.error().message;
  EXPECT_FALSE(move(upload));  // refused at once
  other.reset();
  standing.go_on();
  while (!device->status()) std::this_thread::yield();
  for (int round = 0; round < 10; ++round) ASSERT_TRUE(move(upload)) << round;
  ASSERT_TRUE(move(false));
  EXPECT_EQ(back, bytes);
  transfer.reset();
  pool.trim();
  EXPECT_EQ(pool.statistics().quarantined, 0u);
  EXPECT_EQ(pool.statistics().pinned, 0u);
  const Buffer small = Buffer::allocate(*device, 1).value();
  EXPECT_NE(server.status().find(fmt::format("\"device_bytes\":{}", kSize + 1)), std::string::npos)
      << server.status();
}

TEST(Standstill, AnUploadGoesOnAfterAStandstill) { transfer_around_a_standstill(true); }
TEST(Standstill, ADownloadGoesOnAfterAStandstill) { transfer_around_a_standstill(false); }

TEST(BufferTable, CountsWhatHasNoNumberYet) {
  BufferTable table({1000, 2}, std::make_shared<UserMemory>(UINT64_MAX));
  auto first = table.allocate(device::cpu_device(), nullptr, 600).value();
  EXPECT_EQ(table.allocate(device::cpu_device(), nullptr, 401).error().code, ErrorCode::exhausted);
  EXPECT_EQ(table.bytes(), 600u);
  EXPECT_EQ(table.count(), 0u);
  EXPECT_EQ(table.find(1), nullptr);
  first.reset();
  EXPECT_EQ(table.bytes(), 0u);
  auto second = table.allocate(device::cpu_device(), nullptr, 1000).value();
  EXPECT_EQ(table.publish(std::move(second)), 1u);
  EXPECT_EQ(table.count(), 1u);
  EXPECT_TRUE(table.free(1));
  EXPECT_EQ(table.bytes(), 0u);
}

TEST(BufferTable, CountsWhatIsFreedAndStillHeld) {
  BufferTable table({1000, 2}, std::make_shared<UserMemory>(UINT64_MAX));
  table.publish(table.allocate(device::cpu_device(), nullptr, 600).value());
  auto held = table.find(1);
  EXPECT_TRUE(table.free(1));
  EXPECT_EQ(table.count(), 0u);
  EXPECT_EQ(table.bytes(), 600u);
  EXPECT_EQ(table.allocate(device::cpu_device(), nullptr, 401).error().code, ErrorCode::exhausted);
  held.reset();
  EXPECT_EQ(table.bytes(), 0u);
}

TEST(BufferTable, OfOneUserShareALimit) {
  const auto of_user = std::make_shared<UserMemory>(1500);
  BufferTable one({1000, 5}, of_user);
  BufferTable other({1000, 5}, of_user);
  auto first = one.allocate(device::cpu_device(), nullptr, 1000).value();
  EXPECT_EQ(other.allocate(device::cpu_device(), nullptr, 501).error().code, ErrorCode::exhausted);
  EXPECT_EQ(other.bytes(), 0u);
  const auto second = other.allocate(device::cpu_device(), nullptr, 500).value();
  EXPECT_EQ(other.allocate(device::cpu_device(), nullptr, 1).error().code, ErrorCode::exhausted);
  first.reset();
  EXPECT_TRUE(other.allocate(device::cpu_device(), nullptr, 500));
  EXPECT_TRUE(one.allocate(device::cpu_device(), nullptr, 1000));
  BufferTable another({1000, 5}, std::make_shared<UserMemory>(1500));
  EXPECT_TRUE(another.allocate(device::cpu_device(), nullptr, 1000));
}

// What comes while a queue waits for its stream is on the stream, too, before that gets on.
TEST(Standstill, AQueueTakesRequestsWhileItWaits) {
  StandingStream one(/*on_streams=*/true, /*queues=*/1);
  for (int i = 1; i <= 40; ++i) {  // more than go on the stream at once
    one.copy();
    while (one.standing.copies() < std::min(i, 15)) std::this_thread::yield();
  }
  EXPECT_EQ(one.standing.copies(), 15);
  one.standing.go_on();
  ASSERT_TRUE(one.stream.synchronize());
  EXPECT_EQ(content(one.buffer), one.bytes);
}

// What is on a stream is answered before the end, and a client that is gone does not hold it up.
TEST(Standstill, EndsWhenItsStreamsAreDone) {
  StandingDevice standing;
  TestServer server(standing, /*on_streams=*/true);
  const auto device = server.connect().value();
  auto gone = server.connect().value();
  Connection& connection = device->connection();
  const hoist_request fill = request_with(HOIST_REQUEST_FILL, {{1, 0, 1}}, {0});
  for (Connection* const one : {&connection, &gone->connection()}) {  // number 1 of either
    const hoist_request make = request_with(HOIST_REQUEST_ALLOCATE, {}, {4096});
    ASSERT_EQ(failure_of(*one, make), std::nullopt);
  }
  standing.stand();
  std::vector<Ticket> tickets;
  for (int i = 0; i < 40; ++i) {
    tickets.push_back(connection.submit(2, fill).value());
    (void)gone->connection().submit(2, fill).value();
  }
  while (standing.fills() < 32) std::this_thread::yield();  // all that go on two streams at once
  gone.reset();
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    standing.go_on();
  });
  EXPECT_TRUE(server.stop());
  opener.join();
  for (const Ticket& ticket : tickets) {
    const Result<hoist_completion> answer = connection.wait(ticket);
    EXPECT_TRUE(answer) << ticket.sequence() << ": " << answer.error().message;
  }
}

// Its number is guessed in another queue before its bytes are zero.
TEST(Standstill, ABufferIsFoundWhenItIsZero) {
  StandingDevice standing;
  const TestServer server(standing, /*on_streams=*/true);
  const auto device = server.connect().value();
  Connection& connection = device->connection();
  (void)connection.allocate(4096).value();  // block 0 of the pool
  const hoist_request copy = request_with(HOIST_REQUEST_COPY, {{1, 0, 4096}, {0, 0, 4096}}, {});
  standing.stand();
  const Ticket made =
      connection.submit(1, request_with(HOIST_REQUEST_ALLOCATE, {}, {4096})).value();
  while (standing.fills() == 0) std::this_thread::yield();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(failure_of(connection, copy), ErrorCode::not_found);
  standing.go_on();
  EXPECT_EQ(connection.wait(made).value().result, 1u);
  EXPECT_EQ(failure_of(connection, copy), std::nullopt);
}

// Large copies that wait for their streams leave the turns to others.
TEST(Standstill, ACopyTakesItsTurnWhenItsStreamIsThere) {
  constexpr uint64_t kLarge = uint64_t{9} << 20;
  StandingDevice standing;
  const TestServer server(standing, /*on_streams=*/true);
  const auto device = server.connect(kLarge).value();
  Connection& connection = device->connection();
  (void)connection.allocate(kLarge).value();
  std::vector<Buffer> buffers;  // of the numbers 1 to 4
  for (int i = 0; i < 4; ++i) buffers.push_back(Buffer::allocate(*device, kLarge).value());
  const auto fill = [](uint64_t number) {
    return request_with(HOIST_REQUEST_FILL, {{number, 0, 1}}, {0});
  };
  const auto copy = [](uint64_t number) {
    return request_with(HOIST_REQUEST_COPY, {{0, 0, kLarge}, {number, 0, kLarge}}, {});
  };
  standing.stand();
  std::vector<Ticket> tickets;
  for (const uint32_t queue : {1, 2, 3}) {  // more than have a turn at once
    tickets.push_back(connection.submit(queue, fill(queue)).value());
    tickets.push_back(connection.submit(queue, copy(queue)).value());
  }
  while (standing.fills() < 3) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for them to ask for a turn
  EXPECT_EQ(failure_of(connection, copy(4)), std::nullopt);
  standing.go_on();
  for (const Ticket& ticket : tickets) EXPECT_TRUE(connection.wait(ticket));
}

}  // namespace
}  // namespace hoist::daemon
