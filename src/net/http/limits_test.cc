// What the server does where there is too much, too slowly, or no more.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/monotonic.h"
#include "base/quiet_thread.h"
#include "net/address.h"
#include "net/http/server.h"
#include "net/http/testing/client.h"

namespace hoist::net {
namespace {

using testing_http::Answer;
using testing_http::Client;
using testing_http::RunningServer;

const std::string kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string kHold = "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n";

// Replies that a test sends when it likes.
class Held {
 public:
  void add(HttpReply reply) {
    const std::lock_guard lock(mutex_);
    replies_.push_back(std::move(reply));
  }
  // Waits until there are so many.
  void wait(size_t count) {
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        if (replies_.size() >= count) return;
      }
      ::usleep(1000);
    }
  }
  void send_all() {
    const std::lock_guard lock(mutex_);
    for (HttpReply& reply : replies_) reply.send({.status = 200});
    replies_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<HttpReply> replies_;
};

HttpRouter routes(Held* held = nullptr) {
  HttpRouter router;
  router.add("GET", "/",
             [](HttpRequest request, HttpReply reply) { reply.send({.body = request.peer}); });
  router.add("POST", "/", [](HttpRequest, HttpReply reply) { reply.send({}); });
  router.add("GET", "/large", [](HttpRequest, HttpReply reply) {
    reply.send({.body = std::string(64 << 20, 'l')});
  });
  router.add("GET", "/hold", [held](HttpRequest, HttpReply reply) { held->add(std::move(reply)); });
  return router;
}

HttpServerOptions options() {
  HttpServerOptions options;
  options.threads = 2;
  return options;
}

TEST(HttpLimits, SlowHeadsAndBodiesAreTimedOut) {
  HttpServerOptions impatient = options();
  impatient.head_ms = impatient.body_ms = 50;
  RunningServer server(routes(), impatient);
  Client silent(server.address());  // idle: another patience
  Client head(server.address());
  head.send("GET / HTT");
  EXPECT_EQ(head.receive().status, 408);
  EXPECT_EQ(head.rest(), "");
  Client body(server.address());
  body.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(body.receive().status, 408);
  silent.send(kGet);
  EXPECT_EQ(silent.receive().status, 200);
  EXPECT_EQ(server.server().counters().timeouts, 2u);
}

// A byte now and then does not lengthen the time for a head.
TEST(HttpLimits, TricklingHeadsAreTimedOut) {
  HttpServerOptions impatient = options();
  impatient.head_ms = 100;
  RunningServer server(routes(), impatient);
  Client client(server.address());
  std::atomic<bool> answered = false;
  auto trickle = start_quiet_thread([&] {
    while (!answered) {
      client.send("a");
      ::usleep(10'000);
    }
  });
  EXPECT_EQ(client.receive().status, 408);
  answered = true;
  trickle.value().join();
}

TEST(HttpLimits, IdleConnectionsAreClosed) {
  HttpServerOptions impatient = options();
  impatient.idle_ms = 2000;
  RunningServer server(routes(), impatient);
  Client never(server.address());
  Client once(server.address());
  once.send(kGet);
  EXPECT_EQ(once.receive().status, 200);
  EXPECT_EQ(once.rest(), "");
  EXPECT_EQ(never.rest(), "");
}

TEST(HttpLimits, ReadersThatTakeNothingAreClosed) {
  HttpServerOptions impatient = options();
  impatient.write_ms = 100;
  RunningServer server(routes(), impatient);
  Client client(server.address());
  client.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  while (server.server().counters().timeouts == 0) ::usleep(1000);
  EXPECT_LT(client.rest().size(), 64u << 20);
}

// More requests than answers: the server stops reading, and holds a bounded part of both.
TEST(HttpLimits, ClientsThatOnlySendAreHeldBack) {
  HttpServerOptions impatient = options();
  impatient.write_ms = 200;
  RunningServer server(routes(), impatient);
  Client client(server.address());
  std::string many;
  while (many.size() < 1 << 20) many += kGet;
  for (int i = 0; i < 64; ++i) client.send(many);  // fails when it is closed
  EXPECT_GE(server.server().counters().timeouts, 1u);
  EXPECT_LT(server.server().counters().requests, 64 * (many.size() / kGet.size()));
}

TEST(HttpLimits, ConnectionsOverTheLimitAreToldToComeBack) {
  HttpServerOptions few = options();
  few.most_connections = 2;
  RunningServer server(routes(), few);
  Client one(server.address());
  Client two(server.address());
  one.send(kGet);
  two.send(kGet);
  EXPECT_EQ(one.receive().status, 200);
  EXPECT_EQ(two.receive().status, 200);
  Client three(server.address());
  const Answer answer = three.receive();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.header("retry-after"), "1");
}

TEST(HttpLimits, RequestsOverTheLimitAreToldToComeBack) {
  Held held;
  HttpServerOptions few = options();
  few.most_under_way = 2;
  RunningServer server(routes(&held), few);
  Client one(server.address());
  Client two(server.address());
  Client three(server.address());
  one.send(kHold);
  two.send(kHold);
  held.wait(2);
  three.send(kGet);
  Answer answer = three.receive();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.header("retry-after"), "1");
  held.send_all();
  EXPECT_EQ(one.receive().status, 200);
  EXPECT_EQ(two.receive().status, 200);
  three.send(kGet);
  EXPECT_EQ(three.receive().status, 200);
}

TEST(HttpLimits, BodiesTogetherAreBounded) {
  HttpServerOptions little = options();
  little.most_body_memory = 100'000;
  RunningServer server(routes(), little);
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 80000\r\n\r\n";
  Client one(server.address());
  one.send(head + std::string(79'999, 'b'));
  while (server.server().body_memory() < 79'999) ::usleep(1000);
  Client two(server.address());
  two.send(head + std::string(80'000, 'b'));
  const Answer answer = two.receive();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.header("retry-after"), "1");
  one.send("b");
  EXPECT_EQ(one.receive().status, 200);
  while (server.server().body_memory() != 0) ::usleep(1000);
}

// A request that waits to be answered has its body still.
TEST(HttpLimits, BodiesCountUntilTheirRequestIsGone) {
  HttpRouter router;
  std::mutex mutex;
  std::vector<std::pair<HttpRequest, HttpReply>> kept;
  router.add("POST", "/keep", [&](HttpRequest request, HttpReply reply) {
    const std::lock_guard lock(mutex);
    kept.emplace_back(std::move(request), std::move(reply));
  });
  HttpServerOptions little = options();
  little.most_body_memory = 100'000;
  RunningServer server(std::move(router), little);
  const std::string request =
      "POST /keep HTTP/1.1\r\nHost: x\r\nContent-Length: 80000\r\n\r\n" + std::string(80'000, 'b');
  const auto wait = [&] {
    while (true) {
      ::usleep(1000);
      const std::lock_guard lock(mutex);
      if (!kept.empty()) return;
    }
  };
  Client one(server.address()), two(server.address());
  one.send(request);
  wait();
  EXPECT_EQ(server.server().body_memory(), 80'000u);
  two.send(request);
  EXPECT_EQ(two.receive().status, 503);
  {
    const std::lock_guard lock(mutex);
    kept.front().second.send({.status = 200});
    kept.clear();
  }
  EXPECT_EQ(one.receive().status, 200);
  EXPECT_EQ(server.server().body_memory(), 0u);
  Client three(server.address());
  three.send(request);
  wait();
  const std::lock_guard lock(mutex);
  kept.clear();  // 500
  EXPECT_EQ(three.receive().status, 500);
}

TEST(HttpLimits, EachClientHasItsRate) {
  HttpServerOptions slow = options();
  slow.most_per_second = 5;
  RunningServer server(routes(), slow);
  Client client(server.address());
  int refused = 0;
  for (int i = 0; i < 50; ++i) {
    client.send(kGet);
    const Answer answer = client.receive();
    if (answer.status == 429) {
      EXPECT_EQ(answer.header("retry-after"), "1");
      ++refused;
    }
  }
  EXPECT_GE(refused, 1);
  EXPECT_LE(refused, 45);
}

TEST(HttpRateLimit, ABurstThenTheRate) {
  constexpr uint64_t kSecond = 1'000'000'000;
  HttpRateLimit limit(2);
  uint64_t now = 5 * kSecond;
  EXPECT_EQ(limit.take("a", now), 0u);
  EXPECT_EQ(limit.take("a", now), 0u);
  EXPECT_EQ(limit.take("a", now), 1u);
  EXPECT_EQ(limit.take("b", now), 0u);  // another's tokens
  now += kSecond / 2;
  EXPECT_EQ(limit.take("a", now), 0u);
  EXPECT_EQ(limit.take("a", now), 1u);
  EXPECT_EQ(limit.take("a", now - kSecond), 1u);  // clocks of threads differ
  now += 100 * kSecond;
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(limit.take("c" + std::to_string(i), now), 0u);
  EXPECT_EQ(limit.take("a", now), 0u);
  EXPECT_EQ(limit.take("a", now), 0u);  // no more than a burst is saved
  EXPECT_EQ(limit.take("a", now), 1u);
  HttpRateLimit slow(0.1);
  EXPECT_EQ(slow.take("a", now), 0u);
  EXPECT_EQ(slow.take("a", now), 10u);
}

TEST(HttpDrain, FinishesWhatIsUnderWay) {
  Held held;
  RunningServer server(routes(&held), options());
  Client idle(server.address());
  Client busy(server.address());
  busy.send(kHold + kGet);
  held.wait(1);
  server.server().stop(60'000);
  EXPECT_EQ(idle.rest(), "");
  held.send_all();
  const Answer answer = busy.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("connection"), "close");
  EXPECT_EQ(busy.rest(), "");
  server.join();
}

TEST(HttpDrain, EndsInTime) {
  Held held;
  RunningServer server(routes(&held), options());
  Client busy(server.address());
  busy.send(kHold);
  held.wait(1);
  server.server().stop(50);
  EXPECT_EQ(busy.rest(), "");
  server.join();
  held.send_all();  // in vain, and harmless
}

TEST(HttpDrain, AServerThatIsStoppedFirstEndsAtOnce) {
  HttpServerOptions free_port = options();
  free_port.listen = {"127.0.0.1:0"};
  const auto server = HttpServer::create(free_port, routes()).value();
  server->stop(60'000);
  EXPECT_TRUE(server->run());
}

// Replies may be sent when their server is gone.
TEST(HttpDrain, RepliesOutliveTheServer) {
  Held held;
  {
    RunningServer server(routes(&held), options());
    Client busy(server.address());
    busy.send(kHold);
    held.wait(1);
  }
  held.send_all();
}

TEST(HttpListen, EveryKindOfAddress) {
  const std::string path = testing::TempDir() + "hoist_http_test_" + std::to_string(::getpid());
  HttpServerOptions many = options();
  many.listen = {"127.0.0.1:0", "[::1]:0", "localhost:0", "unix:" + path};
  if (!listen_at("[::1]:0")) many.listen.erase(many.listen.begin() + 1);  // no IPv6 here
  {
    RunningServer server(routes(), many);
    ASSERT_EQ(server.server().addresses().size(), many.listen.size());
    for (const std::string& address : server.server().addresses()) {
      Client client(address);
      client.send(kGet);
      const Answer answer = client.receive();
      EXPECT_EQ(answer.status, 200) << address;
      EXPECT_EQ(answer.body, address.starts_with("unix:") ? "unix"
                             : address.starts_with("[")   ? "::1"
                                                          : "127.0.0.1");
    }
    EXPECT_FALSE(listen_at("unix:" + path));  // somebody listens there
    EXPECT_FALSE(listen_at(server.address()));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    const auto left_behind = listen_at("unix:" + path);
    ASSERT_TRUE(left_behind);
  }
  EXPECT_TRUE(listen_at("unix:" + path));  // an abandoned one gives way
  std::filesystem::remove(path);
  for (const char* wrong : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x",
                            "::1:80", "unix:", "256.0.0.1:0", "systemd"}) {
    EXPECT_FALSE(listen_at(wrong)) << wrong;
  }
}

TEST(HttpListen, EveryAddressTakesBothKindsOfClient) {
  HttpServerOptions everywhere = options();
  everywhere.listen = {"[::]:0"};
  if (!listen_at("[::]:0")) GTEST_SKIP() << "there is no IPv6";
  RunningServer server(routes(), everywhere);
  const std::string port = server.address().substr(server.address().rfind(':'));
  for (const char* host : {"127.0.0.1", "[::1]"}) {
    Client client(host + port);
    client.send(kGet);
    EXPECT_EQ(client.receive().body, host[0] == '[' ? "::1" : host);
  }
}

TEST(HttpListen, SocketsOfTheServiceManager) {
  // As after systemd's exec: the socket is descriptor 3.
  EXPECT_EXIT(
      {
        auto sockets = listen_at("127.0.0.1:0").value();
        const std::string address = listening_address(sockets[0].get());
        if (sockets[0].get() != 3) ::dup2(sockets[0].get(), 3);
        ::setenv("LISTEN_FDS", "1", 1);
        ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
        const auto passed = listen_at("systemd");
        const bool right = passed && passed->size() == 1 && passed->front().get() == 3 &&
                           listening_address(3) == address && !std::getenv("LISTEN_FDS");
        std::_Exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hoist::net
