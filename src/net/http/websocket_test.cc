#include "net/http/websocket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/test_seed.h"
#include "net/http/server.h"
#include "net/http/testing/client.h"
#include "net/http/websocket_frames.h"

namespace hoist::net {
namespace {

using testing_http::Answer;
using testing_http::Client;
using testing_http::RunningServer;
using Event = WebSocketParser::Event;

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

// A client's frame: masked. `first`: FIN, RSV and opcode.
std::string masked(int first, std::string_view payload) {
  std::string frame = bytes({first});
  if (payload.size() < 126) {
    frame += static_cast<char>(0x80 | payload.size());
  } else if (payload.size() < 65536) {
    frame += bytes(
        {0xfe, static_cast<int>(payload.size() >> 8), static_cast<int>(payload.size() & 255)});
  } else {
    frame += bytes({0xff});
    for (int shift = 56; shift >= 0; shift -= 8) {
      frame += static_cast<char>(payload.size() >> shift & 255);
    }
  }
  const std::string mask = bytes({0x37, 0xfa, 0x21, 0x3d});
  frame += mask;
  for (size_t i = 0; i < payload.size(); ++i) frame += static_cast<char>(payload[i] ^ mask[i & 3]);
  return frame;
}

// All events of a stream that comes in pieces of `step` bytes.
std::string events(std::string_view stream, size_t step, size_t most = 1 << 20) {
  WebSocketParser parser(most);
  std::string text;
  while (!stream.empty()) {
    std::string_view piece = stream.substr(0, step);
    stream.remove_prefix(piece.size());
    while (!piece.empty()) {
      piece.remove_prefix(parser.put(piece));
      static constexpr const char* kNames[] = {"",     "text",  "binary", "ping",
                                               "pong", "close", "failed"};
      if (parser.event() == Event::none) continue;
      text += kNames[static_cast<int>(parser.event())];
      if (parser.event() == Event::failed) return text + ' ' + std::to_string(parser.code());
      if (parser.event() == Event::close) text += ' ' + std::to_string(parser.code());
      text += ' ' + parser.payload() + '\n';
    }
  }
  return text;
}

// RFC 6455, section 5.7, the masked ones; and 1.3.
TEST(WebSocketFrames, TheStandardsExamples) {
  EXPECT_EQ(events(bytes({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}), 99),
            "text Hello\n");
  EXPECT_EQ(events(bytes({0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}), 99),
            "pong Hello\n");
  EXPECT_EQ(websocket_frame(WebSocketOpcode::text, "Hello"),
            bytes({0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f}));
  EXPECT_EQ(websocket_frame(WebSocketOpcode::ping, "Hello"),
            bytes({0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f}));
  EXPECT_EQ(websocket_frame(WebSocketOpcode::binary, std::string(256, 'b')).substr(0, 4),
            bytes({0x82, 0x7e, 0x01, 0x00}));
  EXPECT_EQ(websocket_frame(WebSocketOpcode::binary, std::string(65536, 'b')).substr(0, 10),
            bytes({0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(websocket_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  for (const char* wrong :
       {"", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZSA=", "????????????????????????"}) {
    EXPECT_EQ(websocket_accept(wrong), "") << wrong;
  }
}

TEST(WebSocketFrames, FragmentsWithControlFramesBetweenThem) {
  const std::string stream =
      masked(0x01, "Hell") + masked(0x89, "p") + masked(0x00, "") + masked(0x80, "o") +
      masked(0x82, std::string(70'000, 'b')) + masked(0x81, "") + masked(0x8a, "") +
      masked(0x81, std::string(126, 't')) + masked(0x88, bytes({0x03, 0xe8}) + "bye");
  const std::string expected = "ping p\ntext Hello\nbinary " + std::string(70'000, 'b') +
                               "\ntext \npong \ntext " + std::string(126, 't') +
                               "\nclose 1000 bye\n";
  for (const size_t step : {1, 2, 3, 7, 1000, 1 << 20}) {
    EXPECT_TRUE(events(stream, step) == expected) << step;
  }
}

TEST(WebSocketFrames, RefusesWhatTheStandardForbids) {
  const struct {
    std::string stream;
    int code;
  } cases[] = {
      {bytes({0x81, 0x05}) + "Hello", 1002},  // not masked
      {masked(0xc1, "x"), 1002},              // a reserved bit
      {masked(0x83, "x"), 1002},              // a reserved opcode
      {masked(0x8b, "x"), 1002},
      {masked(0x80, "x"), 1002},                        // goes on with nothing
      {masked(0x01, "x") + masked(0x81, "y"), 1002},    // begins within a message
      {masked(0x09, "x"), 1002},                        // a ping in fragments
      {masked(0x89, std::string(126, 'x')), 1002},      // a long one
      {bytes({0x82, 0xfe, 0, 125, 0, 0, 0, 0}), 1002},  // lengths that would be shorter
      {bytes({0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0}), 1002},
      {bytes({0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), 1002},
      {masked(0x81, "\xc3\x28"), 1007},  // no UTF-8
      {masked(0x01, "\xc3") + masked(0x80, "\x28"), 1007},
      {masked(0x81, "\xed\xa0\x80"), 1007},       // a surrogate
      {masked(0x88, "x"), 1002},                  // closes
      {masked(0x88, bytes({0x03, 0xe7})), 1002},  // 999
      {masked(0x88, bytes({0x03, 0xec})), 1002},  // 1004
      {masked(0x88, bytes({0x03, 0xed})), 1002},  // 1005
      {masked(0x88, bytes({0x03, 0xee})), 1002},  // 1006
      {masked(0x88, bytes({0x13, 0x88})), 1002},  // 5000
      {masked(0x88, bytes({0x03, 0xe8, 0xff})), 1007},
      {masked(0x82, std::string(101, 'b')), 1009},  // over the limit of 100
      {masked(0x02, std::string(60, 'b')) + masked(0x80, std::string(41, 'b')), 1009},
      {bytes({0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}), 1009},
  };
  for (const auto& each : cases) {
    for (const size_t step : {1, 1000}) {
      EXPECT_TRUE(events(each.stream, step, 100).ends_with("failed " + std::to_string(each.code)))
          << testing::PrintToString(each.stream) << events(each.stream, step, 100);
    }
  }
  EXPECT_EQ(events(masked(0x01, "\xc3") + masked(0x80, "\xb6"), 1), "text \xc3\xb6\n");
  EXPECT_EQ(events(masked(0x88, ""), 1), "close 1005 \n");
  EXPECT_EQ(events(masked(0x82, std::string(100, 'b')), 1, 100).size(), 108u);
}

// Whatever comes, an answer: no event is told after a failure, and no payload is over the limit.
TEST(WebSocketFrames, RandomBytes) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 20'000; ++round) {
    std::string stream = masked(0x01, "ab");
    const size_t length = random() % 40;
    for (size_t i = 0; i < length; ++i) stream += static_cast<char>(random());
    if (random() % 2 == 0) stream[random() % stream.size()] = static_cast<char>(random());
    EXPECT_EQ(events(stream, 1, 50), events(stream, 1 + random() % 9, 50));
  }
}

// What a test's handler heard.
struct Heard {
  std::atomic<int> messages = 0;
  std::atomic<int> closed = 0;  // the last code
  std::shared_ptr<WebSocket> socket;
};

HttpRouter routes(Heard& heard, WebSocketGroup& group) {
  HttpRouter router;
  router.add_websocket("/echo", [&](const HttpRequest&, std::shared_ptr<WebSocket> socket) {
    heard.socket = socket;
    group.add(socket);
    WebSocketEvents events;
    events.message = [&heard, socket](std::string message, bool binary) {
      ++heard.messages;
      if (binary) {
        socket->send_binary(message);
      } else {
        socket->send_text(message);
      }
    };
    events.closed = [&heard](uint16_t code) { heard.closed = code; };
    return events;
  });
  router.add_websocket("/both", [](const HttpRequest&, std::shared_ptr<WebSocket> socket) {
    socket->close(4000, "enough");
    return WebSocketEvents();
  });
  router.add("GET", "/both", [](HttpRequest, HttpReply reply) { reply.send({.body = "plain"}); });
  return router;
}

std::string handshake(const std::string& path, const std::string& version = "13") {
  return "GET " + path +
         " HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"
         "Sec-WebSocket-Version: " +
         version + "\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
}

class WebSockets : public testing::Test {
 protected:
  static HttpServerOptions options() {
    HttpServerOptions options;
    options.threads = 2;
    options.most_websocket_queue = 1 << 20;
    return options;
  }
  std::unique_ptr<Client> open() { return open(server_); }
  static std::unique_ptr<Client> open(RunningServer& server) {
    auto client = std::make_unique<Client>(server.address());
    client->send(handshake("/echo"));
    const Answer answer = client->receive();
    EXPECT_EQ(answer.status, 101);
    EXPECT_EQ(answer.header("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    return client;
  }

  Heard heard_;
  WebSocketGroup group_;
  RunningServer server_{routes(heard_, group_), options()};
};

TEST_F(WebSockets, EchoesAndCloses) {
  const auto client = open();
  const std::string large(70'000, 'l');
  client->send(masked(0x81, "hello") + masked(0x89, "p") + masked(0x82, large));
  client->send(masked(0x88, bytes({0x0f, 0xa1})));  // 4001
  const std::string all = client->rest();
  // Messages go by the socket, which any thread may use; pongs and closes are the loop's own.
  EXPECT_NE(all.find(bytes({0x8a, 0x01}) + "p"), std::string::npos);
  EXPECT_TRUE(all.ends_with(bytes({0x88, 0x02, 0x0f, 0xa1})));
  EXPECT_EQ(heard_.messages, 2);
  while (heard_.closed == 0) ::usleep(1000);
  EXPECT_EQ(heard_.closed, 4001);
  EXPECT_FALSE(heard_.socket->send_text("late"));
}

TEST_F(WebSockets, AnswersEachMessage) {
  const auto client = open();
  for (int i = 0; i < 100; ++i) {
    const std::string text = "message " + std::to_string(i);
    client->send(masked(0x81, text));
    EXPECT_EQ(client->take(text.size() + 2), websocket_frame(WebSocketOpcode::text, text));
  }
}

TEST_F(WebSockets, BadFramesCloseWithTheirCode) {
  const auto client = open();
  client->send(masked(0x81, "\xff"));
  EXPECT_EQ(client->rest(), websocket_close_frame(1007, ""));
  EXPECT_EQ(heard_.closed, 1007);
}

TEST_F(WebSockets, ALostConnectionIsTold) {
  open();
  while (heard_.closed == 0) ::usleep(1000);
  EXPECT_EQ(heard_.closed, 1006);
}

TEST_F(WebSockets, SilentClientsArePingedThenClosed) {
  HttpServerOptions impatient = options();
  impatient.ping_ms = 100;
  RunningServer server(routes(heard_, group_), impatient);
  const auto client = open(server);
  EXPECT_EQ(client->take(2), bytes({0x89, 0x00}));
  client->send(masked(0x8a, ""));
  EXPECT_EQ(client->take(2), bytes({0x89, 0x00}));
  EXPECT_EQ(client->rest(), "");
  EXPECT_EQ(heard_.closed, 1006);
}

TEST_F(WebSockets, ABroadcastReachesAllAndDropsTheSlow) {
  const auto one = open();
  const auto two = open();
  group_.broadcast("news");
  EXPECT_EQ(one->take(6), websocket_frame(WebSocketOpcode::text, "news"));
  EXPECT_EQ(two->take(6), websocket_frame(WebSocketOpcode::text, "news"));
  EXPECT_EQ(group_.size(), 2u);
  // Nobody reads: in the end both queues are full.
  const std::string large(100'000, 'n');
  for (int i = 0; i < 1000 && group_.size() > 0; ++i) group_.broadcast(large);
  EXPECT_EQ(group_.size(), 0u);
  EXPECT_NE(one->rest().find(websocket_close_frame(1013, "too slow to be told everything")),
            std::string::npos);
}

TEST_F(WebSockets, HandshakesThatAreNone) {
  Client client(server_.address());
  client.send("GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
  Answer answer = client.receive();
  EXPECT_EQ(answer.status, 426);
  EXPECT_EQ(answer.header("sec-websocket-version"), "13");
  client.send(handshake("/echo", "8"));
  EXPECT_EQ(client.receive().status, 426);
  client.send("GET /both HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.receive().body, "plain");
  client.send(handshake("/both"));
  EXPECT_EQ(client.receive().status, 101);
  EXPECT_EQ(client.take(10), websocket_close_frame(4000, "enough"));
  client.send(masked(0x88, bytes({0x0f, 0xa0})));
  EXPECT_EQ(client.rest(), "");
}

TEST_F(WebSockets, ADrainSaysGoodbye) {
  const auto client = open();
  server_.server().stop(10'000);
  EXPECT_EQ(client->take(4), websocket_close_frame(1001, ""));
  client->send(masked(0x88, bytes({0x03, 0xe9})));
  EXPECT_EQ(client->rest(), "");
  server_.join();
}

}  // namespace
}  // namespace hoist::net
