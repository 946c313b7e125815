#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "base/quiet_thread.h"
#include "net/event_loop.h"
#include "net/mailbox.h"
#include "net/metrics_server.h"

namespace hoist::net {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    from = UniqueFd(ends[0]);
    to = UniqueFd(ends[1]);
  }
  UniqueFd from;
  UniqueFd to;
};

TEST(EventLoop, HandlersMayRemoveThemselvesAndOthers) {
  EventLoop loop = EventLoop::create().value();
  const Pipe one;
  const Pipe other;
  int calls = 0;
  const auto handler = [&] {
    ++calls;
    loop.remove(one.from.get());
    loop.remove(other.from.get());
  };
  ASSERT_TRUE(loop.add(one.from.get(), handler));
  ASSERT_TRUE(loop.add(other.from.get(), handler));
  EXPECT_FALSE(loop.add(one.from.get(), handler));  // it is there
  ASSERT_EQ(::write(one.to.get(), "x", 1), 1);
  ASSERT_EQ(::write(other.to.get(), "x", 1), 1);
  ASSERT_TRUE(loop.run_once(1000));
  ASSERT_TRUE(loop.run_once(0));
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, CallsForWhatIsAskedOf) {
  EventLoop loop = EventLoop::create().value();
  Pipe pipe;
  int writable = 0;
  bool broken = false;
  ASSERT_TRUE(loop.watch(pipe.to.get(), {.write = true}, [&](EventLoop::Ready ready) {
    writable += ready.write ? 1 : 0;
    broken = broken || ready.broken;
  }));
  ASSERT_TRUE(loop.run_once(1000));
  EXPECT_EQ(writable, 1);
  ASSERT_TRUE(loop.change(pipe.to.get(), {}));
  ASSERT_TRUE(loop.run_once(0));
  EXPECT_EQ(writable, 1);
  EXPECT_FALSE(broken);
  pipe.from.reset();  // nobody reads any more: told though nothing is asked
  ASSERT_TRUE(loop.run_once(1000));
  EXPECT_TRUE(broken);
}

TEST(EventLoop, TellsThatTheOtherSideSendsNoMore) {
  EventLoop loop = EventLoop::create().value();
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const UniqueFd watched(pair[0]), other(pair[1]);
  EventLoop::Ready told;
  int calls = 0;
  ASSERT_TRUE(loop.watch(watched.get(), {}, [&](EventLoop::Ready ready) {
    told = ready;
    ++calls;
  }));
  ASSERT_EQ(::write(other.get(), "x", 1), 1);
  ASSERT_EQ(::shutdown(other.get(), SHUT_WR), 0);
  ASSERT_TRUE(loop.run_once(0));
  EXPECT_EQ(calls, 0);
  ASSERT_TRUE(loop.change(watched.get(), {.end = true}));
  ASSERT_TRUE(loop.run_once(1000));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(told.end && !told.read && !told.broken);
}

TEST(Mailbox, RunsWhatOtherThreadsPostInTheirOrder) {
  EventLoop loop = EventLoop::create().value();
  const auto mailbox = Mailbox::create(loop).value();
  std::vector<int> done;
  auto poster = start_quiet_thread([&] {
    for (int i = 0; i < 1000; ++i) {
      mailbox->post([&, i] {
        done.push_back(i);
        if (i == 500) mailbox->post([&] { done.push_back(-1); });
      });
    }
  });
  while (done.size() < 1001) ASSERT_TRUE(loop.run_once(1000));
  poster.value().join();
  EXPECT_EQ(done.front(), 0);
  EXPECT_EQ(done.back() == -1 ? done[done.size() - 2] : done.back(), 999);
  mailbox->close();
  EXPECT_FALSE(mailbox->post([&] { done.clear(); }));
  ASSERT_TRUE(loop.run_once(0));
  EXPECT_EQ(done.size(), 1001u);
}

class MetricsServerTest : public testing::Test {
 protected:
  MetricsServerTest() : loop_(EventLoop::create().value()) {
    UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener.get(), 64), 0);
    EXPECT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    address_ = address;
    server_.emplace(loop_, std::move(listener), [] { return std::string("answer 42\n"); });
    EXPECT_TRUE(server_->start());
  }

  UniqueFd visit(const std::string& says) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address_), sizeof address_), 0);
    EXPECT_EQ(::send(socket.get(), says.data(), says.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(says.size()));
    return socket;
  }

  // What it is told until the connection ends; nothing where it stays open.
  std::string told(const UniqueFd& socket) {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(loop_.run_once(10));
    std::string text;
    char bytes[4096];
    while (true) {
      const ssize_t count = ::recv(socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
      if (count <= 0) return text;
      text.append(bytes, static_cast<size_t>(count));
    }
  }

  EventLoop loop_;
  sockaddr_in address_ = {};
  std::optional<MetricsServer> server_;
};

TEST_F(MetricsServerTest, AnswersAWholeRequestOnly) {
  const UniqueFd half = visit("GET /metrics HTTP/1.1\r\nHost: x\r\n");
  EXPECT_EQ(told(half), "");
  EXPECT_EQ(::send(half.get(), "\r\n", 2, MSG_NOSIGNAL), 2);
  const std::string answer = told(half);
  EXPECT_TRUE(answer.starts_with("HTTP/1.0 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nanswer 42\n")) << answer;
}

TEST_F(MetricsServerTest, VisitorsThatSayNothingOrTooMuchAreDropped) {
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(visit(""));
  const UniqueFd endless = visit(std::string(20'000, 'x'));
  EXPECT_EQ(told(endless), "");
  const UniqueFd usual = visit("GET / HTTP/1.1\r\n\r\n");
  EXPECT_NE(told(usual).find("answer 42"), std::string::npos);
  EXPECT_GE(server_->expire(), 0);  // somebody waits
}

}  // namespace
}  // namespace hoist::net
