// Bodies in pieces: requests that a thread reads while they come, responses that are made while
// they go out.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/quiet_thread.h"
#include "net/http/body_pipe.h"
#include "net/http/server.h"
#include "net/http/testing/client.h"

namespace hoist::net {
namespace {

using testing_http::Answer;
using testing_http::Client;
using testing_http::RunningServer;

// Threads of handlers; joined before what they use goes.
class Threads {
 public:
  ~Threads() {
    for (std::thread& thread : threads_) thread.join();
  }
  void start(std::function<void()> body) {
    const std::lock_guard lock(mutex_);
    threads_.push_back(start_quiet_thread(std::move(body)).value());
  }

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

// Counts down from a number, a line a piece.
class Countdown : public HttpBodySource {
 public:
  Countdown(int from, int fail_at) : left_(from), fail_at_(fail_at) {}
  Next next(std::string& piece) override {
    if (left_ == fail_at_) return Next::failed;
    if (left_ == 0) return Next::end;
    piece += std::to_string(left_--) + "\n";
    return Next::piece;
  }

 private:
  int left_;
  const int fail_at_;
};

class Endless : public HttpBodySource {
 public:
  explicit Endless(std::atomic<size_t>& made) : made_(made) {}
  ~Endless() override { made_ = 0; }
  Next next(std::string& piece) override {
    piece.append(32 << 10, 'e');
    made_ += 32 << 10;
    return Next::piece;
  }

 private:
  std::atomic<size_t>& made_;
};

struct Sum {
  std::atomic<size_t> bytes = 0;
  std::atomic<bool> cancelled = false;
  std::atomic<bool> paused = false;  // reads nothing
};

HttpRouter routes(Threads& threads, Sum& sum, std::atomic<size_t>& made) {
  HttpRouter router;
  const auto upload = [&](HttpRequest, HttpBodyReader body, HttpReply reply) {
    const auto reader = std::make_shared<HttpBodyReader>(std::move(body));
    const auto answer = std::make_shared<HttpReply>(std::move(reply));
    threads.start([&, reader, answer] {
      std::vector<char> buffer(10'000);
      while (true) {
        while (sum.paused) ::usleep(1000);
        const auto count = reader->read(buffer);
        if (!count) {
          sum.cancelled = true;
          return;
        }
        if (*count == 0) break;
        sum.bytes += *count;
      }
      answer->send({.body = std::to_string(sum.bytes)});
    });
  };
  router.add_upload("POST", "/sum", upload);
  router.add_upload("POST", "/sum-some", upload, 1'000'000);
  // Has read its body, and works until somebody says so, or nobody waits for it any more.
  router.add_upload("POST", "/long", [&](HttpRequest, HttpBodyReader body, HttpReply reply) {
    const auto reader = std::make_shared<HttpBodyReader>(std::move(body));
    const auto answer = std::make_shared<HttpReply>(std::move(reply));
    threads.start([&, reader, answer, gone = answer->client_gone()] {
      char byte = 0;
      while (*reader->read({&byte, 1}) > 0) ++sum.bytes;
      while (sum.paused && !gone.stop_requested()) ::usleep(1000);
      sum.cancelled = gone.stop_requested();
      answer->send({.body = "done"});
    });
  });
  router.add_upload("POST", "/refused", [](HttpRequest, HttpBodyReader, HttpReply reply) {
    reply.send({.status = 403});
  });
  router.add("GET", "/countdown", [](HttpRequest request, HttpReply reply) {
    const std::string* from = request.argument("from");
    const std::string* fail_at = request.argument("fail_at");
    HttpResponse response;
    response.body = "go\n";
    response.source =
        std::make_shared<Countdown>(std::stoi(*from), fail_at ? std::stoi(*fail_at) : -1);
    reply.send(std::move(response));
  });
  router.add("GET", "/endless", [&](HttpRequest, HttpReply reply) {
    HttpResponse response;
    response.source = std::make_shared<Endless>(made);
    reply.send(std::move(response));
  });
  router.add("GET", "/written/{pieces}", [&](HttpRequest request, HttpReply reply) {
    const auto writer = std::make_shared<HttpBodyWriter>();
    HttpResponse response;
    response.source = writer->source();
    reply.send(std::move(response));
    threads.start([&, writer, pieces = std::stoi(request.parameters[0])] {
      for (int i = 0; i < pieces; ++i) {
        if (!writer->write(std::string(1000, 'w'))) {
          sum.cancelled = true;
          return;
        }
      }
      writer->finish();
    });
  });
  return router;
}

class HttpBodies : public testing::Test {
 protected:
  static HttpServerOptions options() {
    HttpServerOptions options;
    options.threads = 2;
    return options;
  }

  Sum sum_;
  std::atomic<size_t> made_ = 0;
  Threads threads_;
  RunningServer server_{routes(threads_, sum_, made_), options()};
};

std::string countdown(int from) {
  std::string text = "go\n";
  for (int i = from; i > 0; --i) text += std::to_string(i) + "\n";
  return text;
}

TEST_F(HttpBodies, AnUploadIsReadWhileItComes) {
  Client client(server_.address());
  const std::string piece(1'000'000, 'u');
  client.send("POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: 30000000\r\n\r\n");
  client.send(piece);
  while (sum_.bytes < 1'000'000) ::usleep(1000);
  for (int i = 1; i < 30; ++i) client.send(piece);
  EXPECT_EQ(client.receive().body, "30000000");
  client.send("POST /sum HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  while (sum_.bytes < 30'000'003) ::usleep(1000);
  client.send("0\r\n\r\n");
  EXPECT_EQ(client.receive().body, "30000003");
  client.send("POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(client.receive().body, "30000003");
}

// While nobody reads, only so much is taken from the client.
TEST_F(HttpBodies, AnUploadWaitsForItsReader) {
  sum_.paused = true;
  Client client(server_.address());
  client.send("POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n");
  std::atomic<size_t> sent = 0;
  Threads sender;
  sender.start([&] {
    const std::string piece(100'000, 'u');
    for (int i = 0; i < 500; ++i) {
      client.send(piece);
      sent += piece.size();
    }
  });
  size_t before = 1;
  while (sent != before) {  // until it stands still
    before = sent;
    ::usleep(100'000);
  }
  EXPECT_LT(sent, 50'000'000u);
  sum_.paused = false;
  EXPECT_EQ(client.receive().body, "50000000");
}

TEST_F(HttpBodies, AnUploadThatBreaksOffIsCancelled) {
  {
    Client client(server_.address());
    client.send("POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    while (sum_.bytes < 3) ::usleep(1000);
  }
  while (!sum_.cancelled) ::usleep(1000);
  Client large(server_.address());
  sum_.cancelled = false;
  large.send("POST /sum-some HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n");
  large.send(std::string(1'000'001, 'u'));
  EXPECT_EQ(large.receive().status, 413);
  while (!sum_.cancelled) ::usleep(1000);
}

TEST_F(HttpBodies, AnUploadIsToldThatItsClientIsGone) {
  for (const char* more : {"", "GET /countdown?from=1 HTTP/1.1\r\nHost: x\r\n\r\n"}) {
    sum_.bytes = 0;
    sum_.cancelled = false;
    sum_.paused = true;
    {
      Client client(server_.address());
      client.send("POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
      while (sum_.bytes < 3) ::usleep(1000);
      client.send(more);
    }
    while (!sum_.cancelled) ::usleep(1000);
  }
}

// It hears of an interim response before its answer, and its handler is not given up.
TEST_F(HttpBodies, AnUploadOfAHalfClosedConnectionIsAnswered) {
  sum_.paused = true;
  Client client(server_.address());
  client.send("POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
  ::shutdown(client.fd(), SHUT_WR);
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(client.take(interim.size()), interim);
  ::usleep(50'000);
  sum_.paused = false;
  EXPECT_EQ(client.receive().body, "done");
  EXPECT_EQ(client.rest(), "");
  EXPECT_FALSE(sum_.cancelled);
  // One that does not know of interim responses gets none.
  Client old(server_.address());
  old.send("POST /long HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc");
  ::shutdown(old.fd(), SHUT_WR);
  EXPECT_TRUE(old.rest().starts_with("HTTP/1.1 200 OK"));
}

TEST_F(HttpBodies, AnUploadMayBeAnsweredEarly) {
  Client client(server_.address());
  client.send("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  const Answer answer = client.receive();
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.header("connection"), "close");
  Client empty(server_.address());
  empty.send("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(empty.receive().header("connection"), "");
}

TEST_F(HttpBodies, ASourceIsSentInChunks) {
  Client client(server_.address());
  for (const int from : {0, 1, 100, 100'000}) {
    client.send("GET /countdown?from=" + std::to_string(from) + " HTTP/1.1\r\nHost: x\r\n\r\n");
    const Answer answer = client.receive();
    EXPECT_EQ(answer.header("transfer-encoding"), "chunked");
    EXPECT_TRUE(answer.body == countdown(from)) << from;
  }
  client.send(
      "HEAD /countdown?from=5 HTTP/1.1\r\nHost: x\r\n\r\nGET /countdown?from=1 HTTP/1.1\r\nHost: "
      "x\r\n\r\n");
  EXPECT_EQ(client.receive(true).status, 200);
  EXPECT_EQ(client.receive().body, "go\n1\n");
  Client old(server_.address());
  old.send("GET /countdown?from=2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_TRUE(old.rest().ends_with("connection: close\r\n\r\ngo\n2\n1\n"));
}

TEST_F(HttpBodies, AFailedSourceEndsTheConnection) {
  Client client(server_.address());
  client.send("GET /countdown?from=9&fail_at=3 HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string text = client.rest();
  EXPECT_FALSE(text.ends_with("0\r\n\r\n"));
}

// A source makes no more than the client takes, and ends with it.
TEST_F(HttpBodies, ASourceWaitsForItsClient) {
  {
    Client client(server_.address());
    client.send("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n");
    size_t before = 1;
    while (made_ != before || made_ == 0) {
      before = made_;
      ::usleep(100'000);
    }
    EXPECT_LT(made_, 100u << 20);
    Client other(server_.address());  // is served meanwhile
    other.send("GET /countdown?from=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(other.receive().body, "go\n1\n");
  }
  while (made_ > 0) ::usleep(1000);
}

TEST_F(HttpBodies, AThreadWritesAResponse) {
  Client client(server_.address());
  client.send("GET /written/3000 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(client.receive().body == std::string(3'000'000, 'w'));
  {
    Client leaves(server_.address());
    leaves.send("GET /written/1000000000 HTTP/1.1\r\nHost: x\r\n\r\n");
    leaves.receive(true);
  }
  while (!sum_.cancelled) ::usleep(1000);
}

}  // namespace
}  // namespace hoist::net
