// Random conversations: requests of every kind on kept connections, sent in pieces that end
// anywhere, and each answer compared with what it must be; among clients that leave, or talk
// nonsense.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/quiet_thread.h"
#include "base/test_seed.h"
#include "net/http/body_pipe.h"
#include "net/http/server.h"
#include "net/http/testing/client.h"

namespace hoist::net {
namespace {

using testing_http::Answer;
using testing_http::Client;
using testing_http::RunningServer;

// Answers what waits, on a thread of its own.
class Worker {
 public:
  Worker() : thread_(start_quiet_thread([this] { run(); }).value()) {}
  ~Worker() {
    add({});
    thread_.join();
  }
  void add(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }

 private:
  void run() {
    while (true) {
      std::vector<std::function<void()>> work;
      {
        const std::lock_guard lock(mutex_);
        work.swap(work_);
      }
      for (const auto& each : work) {
        if (!each) return;
        each();
      }
      if (work.empty()) ::usleep(100);
    }
  }

  std::mutex mutex_;
  std::vector<std::function<void()>> work_;
  std::thread thread_;
};

class Pieces : public HttpBodySource {
 public:
  explicit Pieces(std::string text) : text_(std::move(text)) {}
  void set_wake(std::function<void()> wake) override { wake_ = std::move(wake); }
  Next next(std::string& piece) override {
    if (at_ == text_.size()) return Next::end;
    if (++calls_ % 3 == 0) return wake_(), Next::later;
    const size_t count = std::min<size_t>(text_.size() - at_, 1 + at_ / 2);
    piece += text_.substr(at_, count);
    at_ += count;
    return Next::piece;
  }

 private:
  const std::string text_;
  size_t at_ = 0;
  int calls_ = 0;
  std::function<void()> wake_;
};

HttpRouter routes(Worker& worker, Worker& readers) {
  HttpRouter router;
  router.add("POST", "/now", [](HttpRequest request, HttpReply reply) {
    reply.send({.body = std::move(request.body)});
  });
  router.add("POST", "/later", [&](HttpRequest request, HttpReply reply) {
    const auto shared = std::make_shared<HttpReply>(std::move(reply));
    worker.add([shared, body = std::move(request.body)] { shared->send({.body = body}); });
  });
  router.add("POST", "/pieces", [](HttpRequest request, HttpReply reply) {
    HttpResponse response;
    response.source = std::make_shared<Pieces>(std::move(request.body));
    reply.send(std::move(response));
  });
  router.add_upload("POST", "/upload", [&](HttpRequest, HttpBodyReader body, HttpReply reply) {
    const auto reader = std::make_shared<HttpBodyReader>(std::move(body));
    const auto shared = std::make_shared<HttpReply>(std::move(reply));
    readers.add([reader, shared] {
      std::string text;
      std::vector<char> buffer(3000);
      while (true) {
        const auto count = reader->read(buffer);
        if (!count) return;
        if (*count == 0) break;
        text.append(buffer.data(), *count);
      }
      shared->send({.body = std::move(text)});
    });
  });
  return router;
}

std::string random_body(std::mt19937_64& random) {
  const size_t sizes[] = {0, 1, 100, 20'000, 300'000};
  std::string body(random() % (sizes[random() % 5] + 1), '\0');
  for (char& byte : body) byte = static_cast<char>(random());
  return body;
}

std::string in_chunks(std::mt19937_64& random, std::string_view body) {
  std::string text;
  while (!body.empty()) {
    const size_t count = 1 + random() % body.size();
    char size[32];
    std::snprintf(size, sizeof size, random() % 2 ? "%zx\r\n" : "%04zX;e=\"f\"\r\n", count);
    text.append(size).append(body.substr(0, count)).append("\r\n");
    body.remove_prefix(count);
  }
  return text + (random() % 2 ? "0\r\n\r\n" : "00\r\nTrailer: x\r\n\r\n");
}

struct Exchange {
  std::string request;
  int status = 200;
  std::string body;
};

Exchange random_exchange(std::mt19937_64& random) {
  static constexpr const char* kPaths[] = {"/now", "/later", "/pieces", "/upload", "/none"};
  const char* path = kPaths[random() % 5];
  Exchange exchange;
  exchange.body = random_body(random);
  std::string framed = exchange.body;
  if (path == std::string_view("/none")) {
    exchange.status = 404;
    framed.resize(std::min<size_t>(framed.size(), 1000));  // a longer one costs the connection
    exchange.body = "{\"detail\":\"Not Found\"}";
  }
  exchange.request = std::string("POST ") + path + " HTTP/1.1\r\nHost: x\r\n";
  if (random() % 2) {
    exchange.request += "Transfer-Encoding: chunked\r\n\r\n" + in_chunks(random, framed);
  } else {
    exchange.request += "Content-Length: " + std::to_string(framed.size()) + "\r\n\r\n" + framed;
  }
  if (random() % 5 == 0) exchange.request += "\r\n";
  return exchange;
}

void converse(const std::string& address, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Exchange> exchanges(1 + random() % 20);
  std::string stream;
  for (Exchange& exchange : exchanges) {
    exchange = random_exchange(random);
    stream += exchange.request;
  }
  Client client(address);
  auto sender = start_quiet_thread([&] {
    const size_t most = random() % 2 ? 30 : 100'000;
    for (size_t at = 0; at < stream.size();) {
      // Small pieces for the first kilobytes; else it would take for ever.
      const size_t count =
          std::min(stream.size() - at, 1 + random() % (at < 3000 ? most : 100'000));
      client.send(std::string_view(stream).substr(at, count));
      at += count;
      if (random() % 16 == 0) ::usleep(300);
    }
  });
  for (const Exchange& exchange : exchanges) {
    const Answer answer = client.receive();
    EXPECT_EQ(answer.status, exchange.status) << exchange.request.substr(0, 100);
    EXPECT_TRUE(answer.body == exchange.body) << exchange.request.substr(0, 100);
  }
  sender.value().join();
}

// Says something of what it should, and leaves or goes on with noise.
void misbehave(const std::string& address, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 10; ++i) {
    Client client(address);
    const timeval patience = {.tv_sec = 0, .tv_usec = 10'000};
    ::setsockopt(client.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    std::string stream = random_exchange(random).request + random_exchange(random).request;
    stream.resize(random() % (stream.size() + 1));
    if (random() % 2) stream += random_body(random).substr(0, 1000);
    client.send(stream);
    if (random() % 2) ::shutdown(client.fd(), SHUT_WR);
    if (random() % 4 == 0) client.take(random() % 1000);
  }
}

TEST(HttpConversations, RandomOnesAreUnderstood) {
  Worker worker;
  Worker readers;
  HttpServerOptions options;
  options.threads = 2;
  RunningServer server(routes(worker, readers), options);
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.push_back(
          start_quiet_thread([&, seed = random()] { converse(server.address(), seed); }).value());
    }
    threads.push_back(
        start_quiet_thread([&, seed = random()] { misbehave(server.address(), seed); }).value());
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace hoist::net
