// The client against a daemon that the test plays: one that stops, dies, lies.
#include "device/remote/connection.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "device/remote/futex.h"
#include "device/remote/message.h"

namespace hoist::device::remote {
namespace {

using std::chrono::milliseconds;

// Answers hello on a thread; everything after that is the test's to do, when it wants.
class FakeDaemon {
 public:
  FakeDaemon() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hoistd-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    Result<Listener> listener = listen_at(path(), std::nullopt);
    EXPECT_TRUE(listener.has_value());
    listener_ = std::move(*listener);
  }
  ~FakeDaemon() { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "socket").string(); }

  // Connects a client while answering with `answer`, after `thinking`.
  Result<std::shared_ptr<Connection>> connect(hoist_message answer, milliseconds patience,
                                              uint64_t pool_size = 1 << 20,
                                              milliseconds thinking = {}) {
    std::thread greeting([&] {
      sigset_t alarm;
      ::sigemptyset(&alarm);
      ::sigaddset(&alarm, SIGALRM);
      ::pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
      while (!socket_.valid()) {
        socket_ = UniqueFd(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
      }
      Result<std::optional<Received>> hello = receive_message(socket_.get(), 60'000);
      ASSERT_TRUE(hello && *hello);
      hello_ = (*hello)->message;
      Result<SharedMemory> memory =
          SharedMemory::adopt((*hello)->descriptor.get(), hello_.queues, hello_.pool_size);
      ASSERT_TRUE(memory.has_value());
      memory_ = std::move(*memory);
      receiver_.emplace(memory_.queue(0));
      std::this_thread::sleep_for(thinking);
      ASSERT_TRUE(send_message(socket_.get(), answer));
    });
    ConnectOptions options;
    options.path = path();
    options.patience = patience;
    options.handshake = std::chrono::seconds(60);
    options.pool_size = pool_size;
    Result<std::shared_ptr<Connection>> connection = Connection::open(options);
    greeting.join();
    return connection;
  }
  std::shared_ptr<Connection> connect(milliseconds patience = milliseconds(10'000)) {
    Result<std::shared_ptr<Connection>> connection =
        connect(make_message(HOIST_MESSAGE_WELCOME), patience);
    EXPECT_TRUE(connection.has_value());
    return *connection;
  }

  // Answers all that was asked in queue 0.
  size_t answer_all(uint64_t result = 0) {
    std::array<hoist_request, HOIST_RING_ENTRIES> batch;
    const size_t count = receiver_->drain(batch).value();
    for (size_t i = 0; i < count; ++i) receiver_->complete(HOIST_RING_OK, result, 1);
    return count;
  }

  void die() { socket_.reset(); }
  int socket() const { return socket_.get(); }
  const SharedMemory& memory() const { return memory_; }
  const hoist_message& hello() const { return hello_; }

 private:
  std::filesystem::path folder_;
  Listener listener_;
  UniqueFd socket_;
  hoist_message hello_ = {};
  SharedMemory memory_;
  std::optional<Receiver> receiver_;
};

hoist_request nothing() { return {}; }

hoist_request copy_out(uint64_t pool_offset, uint64_t size) {
  hoist_request request = {};
  request.operation = HOIST_REQUEST_COPY;
  request.range_count = 2;
  request.ranges[0] = {1, 0, size};
  request.ranges[1] = {0, pool_offset, size};
  return request;
}

TEST(Connection, SaysHelloAndAsks) {
  FakeDaemon daemon;
  const auto connection = daemon.connect();
  EXPECT_EQ(daemon.hello().version, static_cast<uint32_t>(HOIST_RING_VERSION));
  EXPECT_FALSE(text_of(daemon.hello().name).empty());
  const Result<Ticket> ticket = connection->submit(0, nothing());
  ASSERT_TRUE(ticket.has_value());
  EXPECT_EQ(connection->is_done(*ticket), false);
  EXPECT_EQ(daemon.answer_all(99), 1u);
  EXPECT_EQ(connection->wait(*ticket).value().result, 99u);
  EXPECT_EQ(connection->wait(*ticket).value().result, 99u);  // again
  EXPECT_TRUE(connection->status());
}

TEST(Connection, NobodyThere) {
  ConnectOptions options;
  options.path = "/nonexistent/socket";
  EXPECT_EQ(Connection::open(options).error().code, ErrorCode::not_found);
  options.path = std::string(200, 'x');
  EXPECT_EQ(Connection::open(options).error().code, ErrorCode::invalid_argument);
}

TEST(Connection, OfAnotherVersion) {
  hoist_message refusal = make_message(HOIST_MESSAGE_REFUSED);
  refusal.version = refusal.oldest_version = HOIST_RING_VERSION + 1;
  EXPECT_EQ(FakeDaemon().connect(refusal, milliseconds(100)).error().code, ErrorCode::unsupported);
  hoist_message welcome = make_message(HOIST_MESSAGE_WELCOME);
  welcome.version = HOIST_RING_VERSION + 1;
  EXPECT_EQ(FakeDaemon().connect(welcome, milliseconds(100)).error().code, ErrorCode::corrupt);
}

TEST(Connection, Refused) {
  hoist_message refusal = make_message(HOIST_MESSAGE_REFUSED);
  set_text(refusal.text, "not\ntoday");
  const auto refused = FakeDaemon().connect(refusal, milliseconds(100));
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_NE(refused.error().message.find("not?today"), std::string::npos);
}

// Profilers have such timers.
TEST(Connection, ATimerDoesNotEndTheHandshake) {
  static std::atomic<int> alarms = 0;
  struct sigaction before;
  struct sigaction count = {};
  count.sa_handler = [](int) { ++alarms; };
  ASSERT_EQ(::sigaction(SIGALRM, &count, &before), 0);
  itimerval often = {{0, 2000}, {0, 2000}};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &often, nullptr), 0);
  FakeDaemon daemon;
  const auto connection =
      daemon.connect(make_message(HOIST_MESSAGE_WELCOME), milliseconds(100), 1 << 20,
                     /*thinking=*/milliseconds(100));
  often = {};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_TRUE(connection) << connection.error().message;
  EXPECT_GT(alarms, 0);
}

TEST(Connection, WaitsLongerForWorkThatTakesLonger) {
  FakeDaemon daemon;
  const auto connection = daemon.connect(milliseconds(50));
  const Ticket ticket = connection->submit(0, nothing(), std::chrono::hours(1)).value();
  const Ticket behind = connection->submit(0, nothing()).value();
  const Ticket beside = connection->submit(1, nothing()).value();
  std::thread daemons([&] {
    std::this_thread::sleep_for(milliseconds(300));
    daemon.answer_all();
    Receiver other(daemon.memory().queue(1));
    std::array<hoist_request, 1> batch;
    ASSERT_EQ(other.drain(batch).value(), 1u);
    EXPECT_GT(batch[0].deadline_ns, monotonic_ns());
    other.complete(HOIST_RING_OK, 0, 1);
  });
  EXPECT_TRUE(connection->wait(beside));
  EXPECT_TRUE(connection->wait(ticket));
  EXPECT_TRUE(connection->wait(behind));
  daemons.join();
  // It is done, so that nobody waits so long for what comes then.
  const Ticket next = connection->submit(0, nothing()).value();
  EXPECT_EQ(connection->wait(next).error().code, ErrorCode::unavailable);
}

TEST(Connection, AFullQueueRefusesAtOnce) {
  FakeDaemon daemon;
  const auto connection = daemon.connect();
  for (int i = 0; i < HOIST_RING_ENTRIES; ++i) ASSERT_TRUE(connection->submit(0, nothing()));
  const auto refused = connection->submit(0, nothing());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(connection->submit(1, nothing()));  // the other queue has room
  EXPECT_EQ(daemon.answer_all(), size_t{HOIST_RING_ENTRIES});
  EXPECT_TRUE(connection->submit(0, nothing()));
}

TEST(Connection, AFullPoolRefusesAtOnce) {
  FakeDaemon daemon;
  const auto connection = daemon.connect();
  const Result<void*> half = connection->allocate(512 << 10);
  ASSERT_TRUE(half && connection->allocate(512 << 10));
  EXPECT_EQ(connection->allocate(1).error().code, ErrorCode::exhausted);
  connection->free(*half);
  EXPECT_TRUE(connection->allocate(512 << 10));
}

TEST(Connection, AStoppedDaemonsSlotsAreQuarantined) {
  FakeDaemon daemon;
  const auto connection = daemon.connect(milliseconds(30));
  void* const memory = connection->allocate(4096).value();
  const Ticket ticket = connection->submit(0, copy_out(0, 4096)).value();
  const auto late = connection->wait(ticket);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::unavailable);
  connection->free(memory);
  // From now on refused at once, and the memory that a late copy would write is not given again.
  EXPECT_FALSE(connection->status());
  for (const uint32_t queue : {0, 1}) {  // in whatever queue
    EXPECT_EQ(connection->submit(queue, nothing()).error().code, ErrorCode::unavailable);
  }
  EXPECT_EQ(connection->pool_used(), 4096u);
  EXPECT_NE(connection->allocate(4096).value(), memory);
  // It goes on: the late answer is taken, and all is as it was.
  daemon.answer_all();
  EXPECT_TRUE(connection->status());
  EXPECT_EQ(connection->pool_used(), 4096u);
  EXPECT_EQ(connection->allocate(4096).value(), memory);
  EXPECT_TRUE(connection->wait(ticket));
}

TEST(Connection, ADeadDaemonIsNoticedByWhoWaits) {
  FakeDaemon daemon;
  const auto connection = daemon.connect();
  const Ticket answered = connection->submit(0, nothing()).value();
  daemon.answer_all();
  const Ticket ticket = connection->submit(0, nothing()).value();
  daemon.die();
  EXPECT_EQ(connection->wait(ticket).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(connection->wait(answered));  // what it answered before counts
  EXPECT_TRUE(connection->lost());
  EXPECT_FALSE(connection->status());
  EXPECT_EQ(connection->submit(0, nothing()).error().code, ErrorCode::unavailable);
  EXPECT_EQ(connection->allocate(1).error().code, ErrorCode::unavailable);
}

TEST(Connection, AGoodbyeSaysWhy) {
  FakeDaemon daemon;
  const auto connection = daemon.connect();
  hoist_message goodbye = make_message(HOIST_MESSAGE_GOODBYE);
  set_text(goodbye.text, "time for bed");
  ASSERT_TRUE(send_message(daemon.socket(), goodbye));
  EXPECT_NE(connection->status().error().message.find("time for bed"), std::string::npos);
}

TEST(Connection, ALyingDaemonIsLeft) {
  FakeDaemon daemon;
  const auto connection = daemon.connect();
  const Ticket ticket = connection->submit(0, nothing()).value();
  daemon.memory().queue(0)->entries[1].completion.completed = 77;
  EXPECT_EQ(connection->wait(ticket).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(connection->lost());
}

TEST(Connection, UnknownStatusesAreErrors) {
  FakeDaemon daemon;
  const auto connection = daemon.connect();
  const Ticket ticket = connection->submit(0, nothing()).value();
  std::array<hoist_request, 1> batch;
  Receiver receiver(daemon.memory().queue(0));
  ASSERT_EQ(receiver.drain(batch).value(), 1u);
  receiver.complete(4711, 0, 0);
  EXPECT_EQ(connection->wait(ticket).error().code, ErrorCode::corrupt);
}

TEST(Connection, ChecksItsOwnRequests) {
  FakeDaemon daemon;
  const auto connection = daemon.connect();
  EXPECT_EQ(connection->submit(7, nothing()).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(connection->submit(0, copy_out(0, 1)).error().code, ErrorCode::invalid_argument);
  hoist_request request = {};
  request.range_count = HOIST_RING_MAX_RANGES + 1;
  EXPECT_EQ(connection->submit(0, request).error().code, ErrorCode::invalid_argument);
}

TEST(Connection, IsNotForAChild) {
  FakeDaemon daemon;
  const auto connection = daemon.connect();
  const Ticket ticket = connection->submit(0, nothing()).value();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool refused = !connection->status() && !connection->submit(0, nothing()) &&
                         !connection->wait(ticket) && !connection->is_done(ticket) &&
                         !connection->allocate(1) && !connection->wait_for_room(0);
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  daemon.answer_all();
  EXPECT_TRUE(connection->wait(ticket));
}

// What came by itself is news as well: memory may have become free.
TEST(Connection, WaitsForAnyThatIsAnswered) {
  FakeDaemon daemon;
  const auto connection = daemon.connect();
  EXPECT_FALSE(connection->wait_for_any());
  ASSERT_TRUE(connection->submit(0, nothing()));
  daemon.answer_all();
  EXPECT_TRUE(connection->wait_for_any());
  EXPECT_FALSE(connection->wait_for_any());
}

TEST(Connection, ManyThreadsShareAQueue) {
  FakeDaemon daemon;
  const auto connection = daemon.connect();
  constexpr int kThreads = 8;
  constexpr int kEach = 300;
  std::atomic<bool> stop = false;
  std::thread server([&] {
    while (!stop) {
      if (daemon.answer_all() == 0) std::this_thread::yield();
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kEach; ++round) {
        ASSERT_TRUE(connection->wait_for_room(0));
        const Result<Ticket> ticket = connection->submit(0, nothing());
        if (!ticket) continue;  // another thread was faster
        ASSERT_TRUE(connection->wait(*ticket));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop = true;
  server.join();
}

// One that ends removes the file by which another knows that somebody listens.
TEST(Listening, OneAtATimeWhileLocksAreRemoved) {
  std::string folder = (std::filesystem::temp_directory_path() / "hoistd-test-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/socket";
  const mode_t umask_before = ::umask(077);  // listen_at() changes it, which is the process's
  std::atomic<int> listeners = 0;
  std::atomic<int> most = 0;
  std::atomic<int> times = 0;
  std::vector<std::thread> daemons;
  for (int i = 0; i < 4; ++i) {
    daemons.emplace_back([&] {
      for (int k = 0; k < 2000; ++k) {
        Result<Listener> listener = listen_at(path, std::nullopt);
        if (!listener) continue;
        const int now = ++listeners;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        ++times;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        --listeners;
        remove_lock(path, listener->lock);
      }
    });
  }
  for (std::thread& daemon : daemons) daemon.join();
  ::umask(umask_before);
  EXPECT_EQ(most, 1);
  EXPECT_GT(times, 0);
  EXPECT_FALSE(std::filesystem::exists(path + ".lock"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hoist::device::remote
