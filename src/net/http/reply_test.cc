// What a reply is good for before it is sent: whether its client is still there, and the way back
// to the loop.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "base/quiet_thread.h"
#include "net/http/server.h"
#include "net/http/testing/client.h"

namespace hoist::net {
namespace {

using testing_http::Client;
using testing_http::RunningServer;

std::string get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"; }

// A handler that keeps its reply, and asks for the client's end.
class Kept {
 public:
  HttpRouter routes() {
    HttpRouter router;
    router.add("GET", "/kept", [this](HttpRequest, HttpReply reply) {
      const std::lock_guard lock(mutex_);
      gone_ = reply.client_gone();
      loop_ = std::this_thread::get_id();
      reply_ = std::make_shared<HttpReply>(std::move(reply));
      changed_.notify_all();
    });
    router.add("GET", "/other",
               [](HttpRequest, HttpReply reply) { reply.send({.body = "other"}); });
    return router;
  }
  std::shared_ptr<HttpReply> reply() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reply_ != nullptr; });
    return std::exchange(reply_, nullptr);
  }
  const std::stop_token& gone() const { return gone_; }
  void wait_until_gone() {
    const std::stop_callback told(gone_, [this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return gone_.stop_requested(); });
  }
  std::thread::id loop() const { return loop_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<HttpReply> reply_;
  std::stop_token gone_;
  std::thread::id loop_;
};

TEST(HttpReply, ClientsThatHangUpAreGone) {
  Kept kept;
  RunningServer server(kept.routes());
  for (const bool reset : {false, true}) {
    auto client = std::make_unique<Client>(server.address());
    client->send(get("/kept"));
    const auto reply = kept.reply();
    EXPECT_FALSE(kept.gone().stop_requested());
    const linger at_once = {.l_onoff = reset, .l_linger = 0};
    ::setsockopt(client->fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    client.reset();
    kept.wait_until_gone();
    reply->send({.body = "to nobody"});
  }
}

// With a request behind the one that is under way, which nobody has read.
TEST(HttpReply, ClientsThatHangUpWithMoreToSayAreGone) {
  Kept kept;
  RunningServer server(kept.routes());
  auto client = std::make_unique<Client>(server.address());
  client->send(get("/kept"));
  const auto reply = kept.reply();
  client->send(get("/other"));
  client.reset();
  kept.wait_until_gone();
}

TEST(HttpReply, ClientsThatHaveSaidTheirLastWordAreNotGone) {
  Kept kept;
  RunningServer server(kept.routes());
  Client client(server.address());
  client.send(get("/kept"));
  const auto reply = kept.reply();
  ::shutdown(client.fd(), SHUT_WR);
  EXPECT_EQ(client.receive().status, 100);  // is somebody there?
  EXPECT_FALSE(kept.gone().stop_requested());
  reply->send({.body = "whole"});
  EXPECT_EQ(client.receive().body, "whole");
  EXPECT_EQ(client.rest(), "");
  EXPECT_FALSE(kept.gone().stop_requested());
}

// An answer of HTTP/1.0 has nothing before it.
TEST(HttpReply, OldClientsAreNotAsked) {
  Kept kept;
  RunningServer server(kept.routes());
  Client client(server.address());
  client.send("GET /kept HTTP/1.0\r\n\r\n");
  const auto reply = kept.reply();
  ::shutdown(client.fd(), SHUT_WR);
  reply->send({.body = "whole"});
  EXPECT_TRUE(client.rest().starts_with("HTTP/1.1 200"));
}

TEST(HttpReply, TheNextRequestIsAnothers) {
  Kept kept;
  RunningServer server(kept.routes());
  Client client(server.address());
  client.send(get("/kept"));
  kept.reply()->send({.body = "first"});
  EXPECT_EQ(client.receive().body, "first");
  client.send(get("/other"));
  ::shutdown(client.fd(), SHUT_WR);
  EXPECT_EQ(client.receive().body, "other");
  EXPECT_EQ(client.rest(), "");
  EXPECT_FALSE(kept.gone().stop_requested());
}

TEST(HttpReply, AServerThatEndsTellsOfItsClientsToo) {
  Kept kept;
  RunningServer server(kept.routes());
  Client client(server.address());
  client.send(get("/kept"));
  const auto reply = kept.reply();
  server.server().stop(0);
  kept.wait_until_gone();
  server.join();
}

TEST(HttpReply, WorkGoesBackToTheLoop) {
  Kept kept;
  RunningServer server(kept.routes());
  Client client(server.address());
  client.send(get("/kept"));
  std::shared_ptr<HttpReply> reply = kept.reply();
  std::thread::id ran_on;
  auto other = start_quiet_thread([&] {
    HttpReply& path = *reply;
    path.run([&ran_on, reply = std::move(reply)] {
      EXPECT_FALSE(reply->client_gone().stop_requested());
      ran_on = std::this_thread::get_id();
      reply->send({.body = "back"});
    });
  });
  ASSERT_TRUE(other);
  EXPECT_EQ(client.receive().body, "back");
  EXPECT_EQ(ran_on, kept.loop());
  other->join();
}

// What it throws ends its request alone.
TEST(HttpReply, WorkThatFailsAnswers500) {
  Kept kept;
  RunningServer server(kept.routes());
  Client client(server.address());
  client.send(get("/kept"));
  std::shared_ptr<HttpReply> reply = kept.reply();
  HttpReply& path = *reply;
  path.run([reply = std::move(reply)] { throw std::bad_alloc(); });
  EXPECT_EQ(client.receive().status, 500);
  client.send(get("/other"));
  EXPECT_EQ(client.receive().body, "other");
}

// Nor is it lost: the reply that it holds is dropped.
TEST(HttpReply, WorkAfterTheEndIsDropped) {
  Kept kept;
  std::shared_ptr<HttpReply> reply;
  {
    RunningServer server(kept.routes());
    Client client(server.address());
    client.send(get("/kept"));
    reply = kept.reply();
  }
  bool ran = false;
  reply->run([&ran] { ran = true; });
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace hoist::net
