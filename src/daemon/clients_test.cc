// hoistd and clients that come in numbers, leave something behind, or send what they should not.
#include <arpa/inet.h>
#include <fmt/core.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/daemon_testing.h"
#include "daemon/request_testing.h"
#include "device/buffer.h"
#include "device/remote/message.h"
#include "device/test_devices.h"

namespace hoist::daemon {
namespace {

using device::Buffer;
using device::remote::ConnectOptions;
using device::remote::make_message;
using device::remote::RemoteDevice;
using device::remote::send_message;

bool says(const TestServer& server, const std::string& text) {
  return server.status().find(text) != std::string::npos;
}

void wait_until_it_says(const TestServer& server, const std::string& text) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!says(server, text)) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << text << " in " << server.status();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// As programs connect: with the pool that they like best, as long as there is that much.
TEST(Clients, SixtyFourOfOneUserWithTheUsualPool) {
  const TestServer server;
  ConnectOptions options;
  options.path = server.path();
  options.handshake = std::chrono::seconds(60);
  std::vector<std::shared_ptr<RemoteDevice>> clients;
  for (int i = 0; i < 64; ++i) {
    Result<std::shared_ptr<RemoteDevice>> client = RemoteDevice::connect(options);
    ASSERT_TRUE(client) << i << ": " << client.error().message;
    clients.push_back(std::move(*client));
  }
  EXPECT_TRUE(says(server, "\"total\":{\"clients\":64,"));
  for (const auto& client : {clients.front(), clients.back()}) {
    std::mt19937_64 random(7);
    const std::vector<std::byte> bytes = random_bytes(size_t{20} << 20, random);
    Buffer buffer = Buffer::allocate(*client, bytes.size()).value();
    std::vector<std::byte> back(bytes.size());
    ASSERT_TRUE(buffer.upload(bytes));
    ASSERT_TRUE(buffer.download(back));
    EXPECT_EQ(back, bytes);
  }
}

// Clients that come at once each have the pool that they were offered, or a smaller one.
TEST(Clients, ThatComeAtOnceAllHavePools) {
  Options options;
  options.pool_limit = uint64_t{64} << 20;
  const TestServer server(device::cpu_device(), /*on_streams=*/false, options);
  std::vector<std::shared_ptr<RemoteDevice>> held;
  for (int i = 0; i < 14; ++i) {
    auto client = server.connect(options.pool_limit, 1);
    ASSERT_TRUE(client) << client.error().message;
    held.push_back(std::move(*client));
  }
  std::vector<std::shared_ptr<RemoteDevice>> clients(12);
  std::vector<std::thread> threads;
  for (auto& client : clients) {
    threads.emplace_back([&] {
      auto connected = server.connect(options.pool_limit, 1);
      ASSERT_TRUE(connected) << connected.error().message;
      client = std::move(*connected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Clients, OfOneUserShareSoMuchMemory) {
  Options options;
  options.pool_limit = uint64_t{16} << 20;
  const TestServer server(device::cpu_device(), /*on_streams=*/false, options);
  std::vector<std::shared_ptr<RemoteDevice>> clients;
  ErrorCode refused = ErrorCode::internal;
  for (int i = 0; i < 1000; ++i) {
    Result<std::shared_ptr<RemoteDevice>> client = server.connect(options.pool_limit, 1);
    if (!client) {
      refused = client.error().code;
      break;
    }
    clients.push_back(std::move(*client));
  }
  EXPECT_EQ(refused, ErrorCode::unavailable);
  EXPECT_GE(clients.size(), 24u);
  EXPECT_LE(clients.size(), 256u);
  // Less than a useful pool is left, and who leaves makes room.
  clients.resize(clients.size() - 2);
  Result<std::shared_ptr<RemoteDevice>> next = server.connect(options.pool_limit, 1);
  while (!next) next = server.connect(options.pool_limit, 1);
}

// As large as the CPU device, but with nothing behind its addresses.
class HollowDevice : public device::CpuDevice {
 public:
  Result<void*> allocate(size_t, device::StreamHandle stream) override {
    return CpuDevice::allocate(1, stream);
  }
  Status fill(void*, std::byte, size_t, device::StreamHandle) override { return {}; }
};

// Three quarters of the device's memory, where other users may come.
TEST(Clients, OfOneUserLeaveDeviceMemoryToOthers) {
  HollowDevice device;
  const uint64_t memory = device.properties().memory;
  const uint64_t half = memory / 2;
  for (const bool for_others : {true, false}) {
    Options options;
    const group* const own = ::getgrgid(::getegid());
    ASSERT_NE(own, nullptr);
    if (for_others) options.group = own->gr_name;
    const TestServer server(device, /*on_streams=*/false, options);
    const std::string said = fmt::format(
        "\"device_bytes\":{}{}}}", half,
        for_others ? fmt::format(",\"user_device_bytes\":{}", memory - memory / 4) : "");
    EXPECT_TRUE(says(server, said)) << server.status();
    const auto one = server.connect().value();
    const auto other = server.connect().value();
    Buffer first = Buffer::allocate(*one, half).value();
    EXPECT_EQ(Buffer::allocate(*one, 1).error().code, ErrorCode::exhausted);
    const Result<Buffer> second = Buffer::allocate(*other, half);
    EXPECT_EQ(second.has_value(), !for_others);
    if (!for_others) continue;
    EXPECT_EQ(second.error().code, ErrorCode::exhausted);
    EXPECT_TRUE(Buffer::allocate(*other, half / 2));
  }
}

TEST(Clients, OfOneUserMayHaveWhatOneMay) {
  HollowDevice device;
  Options options;
  const group* const own = ::getgrgid(::getegid());
  ASSERT_NE(own, nullptr);
  options.group = own->gr_name;
  options.memory_limit = device.properties().memory;
  const TestServer server(device, /*on_streams=*/false, options);
  EXPECT_TRUE(says(server, fmt::format("\"user_device_bytes\":{}", options.memory_limit)));
}

constexpr std::chrono::milliseconds kSoon(5);  // until what a pool keeps is given back

// Counts how often it was asked to give back what its pool keeps.
class TrimmedDevice : public device::CpuDevice {
 public:
  Status trim() override {
    ++trims;
    return {};
  }
  std::atomic<int> trims = 0;
};

TEST(Clients, LeaveNothingInThePoolOfAnIdleDevice) {
  TrimmedDevice device;
  const TestServer server(device, /*on_streams=*/false, {}, kSoon);
  const auto is_trimmed_after = [&](const auto& use) {
    int before = device.trims;
    for (int quiet = 0; quiet < 10; ++quiet) {  // what was used before is trimmed by now
      std::this_thread::sleep_for(kSoon);
      if (std::exchange(before, device.trims.load()) != device.trims) quiet = 0;
    }
    use();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (device.trims == before && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return device.trims > before;
  };
  auto client = server.connect().value();
  std::optional<Buffer> buffer;
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(is_trimmed_after([&] { buffer = Buffer::allocate(*client, 100).value(); }));
    EXPECT_TRUE(is_trimmed_after([&] { buffer.reset(); }));
  }
  EXPECT_TRUE(is_trimmed_after([&] { client.reset(); }));  // with all that it had
}

// Is lost while nobody uses it.
class LostWhenTrimmed : public device::CpuDevice {
 public:
  Status trim() override {
    lost_ = true;
    return status();
  }
  Status status() const override {
    return lost_ ? Status(fail(ErrorCode::unavailable, "lost (test)")) : Status();
  }

 private:
  std::atomic<bool> lost_ = false;
};

TEST(Clients, AreNotKeptByADaemonWhoseDeviceWasLostWhileItWasIdle) {
  LostWhenTrimmed device;
  TestServer server(device, /*on_streams=*/false, {}, kSoon);
  server.connect().value().reset();
  const Status ended = server.wait();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "lost (test)");
}

TEST(Clients, TakeThePoolThatIsOffered) {
  Options options;
  options.pool_limit = uint64_t{32} << 20;
  const TestServer server(device::cpu_device(), /*on_streams=*/false, options);
  const auto client = server.connect(uint64_t{256} << 20).value();
  EXPECT_TRUE(says(server, fmt::format("\"pool_bytes\":{},\"buffers\"", options.pool_limit)));
  EXPECT_EQ(client->connection().allocate(options.pool_limit + 1).error().code,
            ErrorCode::exhausted);
  EXPECT_TRUE(client->connection().allocate(options.pool_limit));
}

// A worker that a program forks while it has a connection, and that lives on.
TEST(Clients, AChildKeepsNoSession) {
  const TestServer server;
  auto client = server.connect().value();
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  client.reset();
  wait_until_it_says(server, "\"total\":{\"clients\":0,");
  wait_until_it_says(server, "\"quarantine\":{\"clients\":0,");
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

// A connection whose close() waits for a peer that does not read, and that peer.
struct Lingering {
  Lingering() {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener.get(), generic, size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), generic, &size), 0);
    socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), generic, size), 0);
    peer = UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const linger slow = {1, 60};
    EXPECT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &slow, sizeof slow), 0);
    const std::vector<char> bytes(1 << 20);
    while (::send(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
  }
  ~Lingering() {
    peer.reset();
    if (closing.joinable()) closing.join();
  }
  // Aside, because where the daemon was faster the last one is this.
  void let_go() {
    closing = std::thread([this] { socket.reset(); });
  }

  UniqueFd socket;
  UniqueFd peer;
  std::thread closing;
};

class WhatLingers : public testing::TestWithParam<hoist_message_type> {};

INSTANTIATE_TEST_SUITE_P(Clients, WhatLingers,
                         testing::Values(HOIST_MESSAGE_HELLO, HOIST_MESSAGE_STATUS,
                                         HOIST_MESSAGE_GOODBYE, hoist_message_type{}));

// In a greeting, behind one that nobody reads, and in the middle of a session: others are served.
TEST_P(WhatLingers, HoldsNobodyUp) {
  const TestServer server;
  Lingering lingering;
  const UniqueFd greeting = device::remote::connect_to(server.path()).value();
  auto message = make_message(GetParam());
  message.queues = 1;
  if (GetParam() == hoist_message_type{}) message.magic = 0;
  for (int i = 0; i < 2; ++i) {
    (void)send_message(greeting.get(), message, lingering.socket.get());
  }
  lingering.let_go();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) {
    const auto client = server.connect();
    ASSERT_TRUE(client) << client.error().message;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(says(server, "\"connections\":3,"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(Clients, WhatLingersInASessionHoldsUpNobodyElse) {
  const TestServer server;
  Lingering lingering;
  const auto honest = server.connect().value();
  const UniqueFd socket = device::remote::connect_to(server.path()).value();
  auto hello = make_message(HOIST_MESSAGE_HELLO);
  hello.queues = 1;
  hello.pool_size = 1 << 20;
  auto memory = device::remote::SharedMemory::create(1, hello.pool_size).value();
  ASSERT_TRUE(send_message(socket.get(), hello, memory.fd()));
  ASSERT_TRUE(device::remote::receive_message(socket.get(), 10'000).value());
  ASSERT_TRUE(send_message(socket.get(), hello, lingering.socket.get()));
  lingering.let_go();
  wait_until_it_says(server, "\"total\":{\"clients\":1,");
  EXPECT_TRUE(Buffer::allocate(*honest, 100));
  EXPECT_TRUE(server.connect());
}

// In a child that has nobody's allocator: another user's connections, ever new ones, the last 200
// of which are kept. 'y' on `ready`: it could become that user.
[[noreturn]] void crowd(const sockaddr_un& address, int ready) {
  ::alarm(900);
  const bool is_other =
      ::setgid(65534) == 0 && ::setuid(65534) == 0 && ::access(address.sun_path, W_OK) == 0;
  (void)!::write(ready, is_other ? "y" : "n", 1);
  constexpr size_t kKept = 200;
  int kept[kKept];
  std::fill(std::begin(kept), std::end(kept), -1);
  if (!is_other) ::_exit(0);
  for (size_t at = 0;; at = (at + 1) % kKept) {
    ::close(kept[at]);
    kept[at] = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    while (::connect(kept[at], generic, sizeof address) != 0) ::usleep(100);
    ::usleep(100);  // so that the backlog is not full of them
  }
}

uint64_t refused(const TestServer& server) {
  const std::string name = "\"refused\":";
  while (true) {
    const std::string status = server.status();
    const size_t at = status.find(name);
    if (at != std::string::npos) return std::stoull(status.substr(at + name.size()));
  }
}

// One user's crowd at the door does not turn another away who has not spoken yet.
TEST(Clients, ACrowdKeepsToItsOwn) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  const TestServer server;
  const std::filesystem::path socket = server.path();
  ASSERT_EQ(::chmod(socket.parent_path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(socket.c_str(), 0666), 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  server.path().copy(address.sun_path, sizeof address.sun_path - 1);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) crowd(address, ready[1]);
  ::close(ready[1]);
  char is_other = 0;
  EXPECT_EQ(::read(ready[0], &is_other, 1), 1);
  // Who says nothing for two seconds is turned away: on a busy machine not everybody is as fast.
  bool is_answered = false;
  for (int attempt = 0; is_other == 'y' && !is_answered && attempt < 50; ++attempt) {
    Result<UniqueFd> honest = device::remote::connect_to(server.path());
    for (int again = 0; !honest && again < 2000; ++again) {  // the backlog may be full
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      honest = device::remote::connect_to(server.path());
    }
    if (!honest) continue;
    const uint64_t before = refused(server);
    while (refused(server) < before + 130) std::this_thread::yield();
    is_answered = send_message(honest->get(), make_message(HOIST_MESSAGE_STATUS)) &&
                  device::remote::receive_text(honest->get(), 10'000, 100'000);
  }
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(ready[0]);
  if (is_other != 'y') GTEST_SKIP() << "cannot be another user here, or the folder is shut";
  EXPECT_TRUE(is_answered);
}

// A daemon whose device is lost ends, for only a new process has it again.
TEST(Clients, HearThatTheDeviceIsLost) {
  device::FailingDevice failing(200);
  TestServer server(failing, /*on_streams=*/true);
  const auto client = server.connect().value();
  const auto other = server.connect().value();
  Status last;
  for (int i = 0; last && i < 1000; ++i) {
    Result<Buffer> buffer = Buffer::allocate(*client, 4096);
    last = buffer ? buffer->fill(std::byte{1}) : buffer.error();
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, ErrorCode::unavailable) << last.error().message;
  const Status ended = server.wait();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::unavailable);
  for (const auto& each : {client, other}) {
    const Status status = each->status();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::unavailable) << status.error().message;
  }
}

}  // namespace
}  // namespace hoist::daemon
