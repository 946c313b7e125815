#include "net/http/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/quiet_thread.h"
#include "net/http/testing/client.h"

namespace hoist::net {
namespace {

using testing_http::Answer;
using testing_http::Client;
using testing_http::RunningServer;

HttpRouter routes() {
  HttpRouter router;
  router.add("GET", "/hello/{name}", [](HttpRequest request, HttpReply reply) {
    HttpResponse response;
    response.content_type = "text/plain";
    response.body = "hello " + request.parameters[0];
    reply.send(std::move(response));
  });
  router.add("POST", "/echo", [](HttpRequest request, HttpReply reply) {
    HttpResponse response;
    response.body = std::move(request.body);
    reply.send(std::move(response));
  });
  router.add(
      "POST", "/small", [](HttpRequest, HttpReply reply) { reply.send({}); }, 100);
  router.add("GET", "/forgotten", [](HttpRequest, HttpReply) {});
  router.add("GET", "/later", [](HttpRequest, HttpReply reply) {
    const auto shared = std::make_shared<HttpReply>(std::move(reply));
    auto thread = start_quiet_thread([shared] {
      HttpResponse response;
      response.body = "later";
      shared->send(std::move(response));
    });
    thread.value().detach();
  });
  return router;
}

TEST(HttpServer, AnswersAndKeepsTheConnection) {
  RunningServer server(routes());
  Client client(server.address());
  for (int i = 0; i < 3; ++i) {
    client.send("GET /hello/w%C3%B6rld?x=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    const Answer answer = client.receive();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "hello w\xc3\xb6rld");
    EXPECT_EQ(answer.header("content-type"), "text/plain");
    EXPECT_EQ(answer.header("connection"), "");
  }
}

TEST(HttpServer, PipelinedRequestsAreAnsweredInOrder) {
  RunningServer server(routes());
  Client client(server.address());
  std::string requests;
  for (int i = 0; i < 200; ++i) {
    requests += i % 3 == 0 ? "GET /later HTTP/1.1\r\nHost: x\r\n\r\n"
                           : "GET /hello/" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  client.send(requests);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(client.receive().body, i % 3 == 0 ? "later" : "hello " + std::to_string(i));
  }
}

TEST(HttpServer, BodiesByLengthAndInChunks) {
  RunningServer server(routes());
  Client client(server.address());
  const std::string body(3'000'000, 'b');
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n" + body);
  EXPECT_TRUE(client.receive().body == body);
  client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\n");
  EXPECT_EQ(client.receive().body, "hello world");
}

TEST(HttpServer, ADroppedReplyIsAnError) {
  RunningServer server(routes());
  Client client(server.address());
  client.send("GET /forgotten HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.receive().status, 500);
  client.send("GET /hello/you HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.receive().body, "hello you");
}

std::string get(const std::string& path, const std::string& headers = {}) {
  return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
}

TEST(HttpServer, PathsAndMethods) {
  RunningServer server(routes());
  Client client(server.address());
  client.send(get("/nowhere"));
  Answer answer = client.receive();
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, "{\"detail\":\"Not Found\"}");
  client.send(get("/echo"));
  answer = client.receive();
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.header("allow"), "POST, OPTIONS");
  client.send("OPTIONS /hello/x HTTP/1.1\r\nHost: x\r\n\r\n");
  answer = client.receive();
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.header("allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(answer.header("content-length"), "");
  client.send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.receive().status, 204);
  client.send("HEAD /hello/you HTTP/1.1\r\nHost: x\r\n\r\n");
  answer = client.receive(true);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("content-length"), "9");
  client.send(get("/hello/%zz") + get("/hello/%00") + get("/hello/") + get("http://y/hello/you?a"));
  EXPECT_EQ(client.receive().status, 400);
  EXPECT_EQ(client.receive().status, 400);
  EXPECT_EQ(client.receive().status, 404);
  EXPECT_EQ(client.receive().body, "hello you");
}

// A refused request's short body is read over; a long one costs the connection.
TEST(HttpServer, BodiesOverTheRoutesLimit) {
  RunningServer server(routes());
  Client client(server.address());
  const std::string post = "POST /small HTTP/1.1\r\nHost: x\r\n";
  client.send(post + "Content-Length: 101\r\n\r\n" + std::string(101, 'b') + get("/hello/you"));
  EXPECT_EQ(client.receive().status, 413);
  EXPECT_EQ(client.receive().body, "hello you");
  client.send(post + "Transfer-Encoding: chunked\r\n\r\n65\r\n" + std::string(101, 'b') + "\r\n");
  Answer answer = client.receive();
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.header("connection"), "close");
  EXPECT_EQ(client.rest(), "");

  Client large(server.address());
  large.send(post + "Content-Length: 30000000\r\n\r\n" + std::string(3'000'000, 'b'));
  EXPECT_EQ(large.receive().status, 413);  // though it still sends
  Client patient(server.address());
  patient.send(post + "Content-Length: 101\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(patient.receive().status, 413);
  EXPECT_EQ(patient.rest(), "");
}

TEST(HttpServer, AsksForTheBodyThatAClientHoldsBack) {
  RunningServer server(routes());
  Client client(server.address());
  client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.receive().status, 100);
  client.send("abc");
  EXPECT_EQ(client.receive().body, "abc");
}

TEST(HttpServer, MalformedRequestsEndTheConnection) {
  RunningServer server(routes());
  for (const std::string_view request :
       {"nonsense\r\n\r\n", "GET / HTTP/1.1\n\n", "GET / HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
    Client client(server.address());
    client.send(get("/hello/you") + std::string(request) + get("/hello/smuggled"));
    EXPECT_EQ(client.receive().body, "hello you");
    const Answer answer = client.receive();
    EXPECT_EQ(answer.status, 400) << request;
    EXPECT_EQ(answer.header("connection"), "close");
    EXPECT_EQ(client.rest(), "") << request;
  }
  Client client(server.address());
  client.send("GET /" + std::string(40'000, 'a'));
  EXPECT_EQ(client.receive().status, 431);
}

TEST(HttpServer, OldClientsGetWhatTheyAskFor) {
  RunningServer server(routes());
  Client closing(server.address());
  closing.send("GET /hello/you HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(closing.rest().ends_with("connection: close\r\n\r\nhello you"));
  Client keeping(server.address());
  keeping.send("GET /hello/you HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(keeping.receive().header("connection"), "keep-alive");
  keeping.send(get("/hello/me", "Connection: close\r\n"));
  EXPECT_TRUE(keeping.rest().ends_with("connection: close\r\n\r\nhello me"));
}

// A client that has said its last word still gets its answers.
TEST(HttpServer, HalfClosedConnectionsAreAnswered) {
  RunningServer server(routes());
  Client client(server.address());
  client.send(get("/later") + get("/hello/you"));
  ::shutdown(client.fd(), SHUT_WR);
  EXPECT_EQ(client.receive().body, "later");
  EXPECT_EQ(client.receive().body, "hello you");
  EXPECT_EQ(client.rest(), "");
}

// Some clients end a body with a line end that belongs to nothing.
TEST(HttpServer, EmptyLinesBetweenRequestsBeginNone) {
  HttpServerOptions impatient;
  impatient.threads = 2;
  impatient.head_ms = 50;
  RunningServer server(routes(), impatient);
  Client client(server.address());
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc\r\n");
  EXPECT_EQ(client.receive().body, "abc");
  Client slow(server.address());
  slow.send("GET");
  EXPECT_EQ(slow.receive().status, 408);  // the first would have been, too
  client.send("\r\n" + get("/hello/you"));
  EXPECT_EQ(client.receive().body, "hello you");
}

// A handler may answer requests of other connections, on its own thread too.
TEST(HttpServer, RepliesFromAnotherRequestsHandler) {
  std::vector<HttpReply> held;
  HttpRouter router = routes();
  router.add("GET", "/hold",
             [&](HttpRequest, HttpReply reply) { held.push_back(std::move(reply)); });
  router.add("GET", "/release", [&](HttpRequest, HttpReply reply) {
    for (HttpReply& each : held) each.send({.body = "released"});
    held.clear();
    reply.send({.body = "done"});
  });
  HttpServerOptions one;
  one.threads = 1;
  RunningServer server(std::move(router), one);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(std::make_unique<Client>(server.address()));
    clients.back()->send(get("/hold") + get("/hello/next"));
  }
  while (server.server().counters().under_way < 50) std::this_thread::yield();
  Client last(server.address());
  last.send(get("/release"));
  EXPECT_EQ(last.receive().body, "done");
  for (const auto& client : clients) {
    EXPECT_EQ(client->receive().body, "released");
    EXPECT_EQ(client->receive().body, "hello next");
  }
}

TEST(HttpServer, EveryResponseIsSeenBeforeItGoes) {
  HttpServerOptions options;
  options.threads = 2;
  options.on_response = [](const HttpExchange& exchange, HttpResponse& response) {
    std::string told(exchange.method);
    told += ' ';
    told += exchange.pattern;
    told += ' ';
    told += exchange.origin;
    response.headers.push_back({"told", told + (exchange.begun_ns > 0 ? " begun" : "")});
    if (exchange.method == "OPTIONS") response.status = 200;
  };
  RunningServer server(routes(), options);
  Client client(server.address());
  client.send(get("/hello/you", "Origin: http://o\r\n") + get("/none") +
              "OPTIONS /echo HTTP/1.1\r\nHost: x\r\n\r\n" + "bad\r\n\r\n");
  EXPECT_EQ(client.receive().header("told"), "GET /hello/{name} http://o begun");
  EXPECT_EQ(client.receive().header("told"), "GET   begun");
  const Answer answer = client.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("told"), "OPTIONS   begun");
  EXPECT_EQ(client.receive().header("told"), "  ");
}

TEST(HttpServer, RequestsMayBeRefusedByTheirHeads) {
  HttpServerOptions options;
  options.threads = 2;
  options.check = [](const HttpRequest& request) -> std::optional<HttpResponse> {
    const std::string* token = request.header("authorization");
    if (request.path == "/hello/all" || (token && *token == "Bearer t")) return std::nullopt;
    HttpResponse response = http_error(401, "say who you are");
    response.headers.push_back({"www-authenticate", "Bearer"});
    return response;
  };
  RunningServer server(routes(), options);
  Client client(server.address());
  client.send(get("/hello/all") + get("/hello/you") + get("/none") +
              get("/hello/you", "Authorization: Bearer t\r\n"));
  EXPECT_EQ(client.receive().status, 200);
  const Answer answer = client.receive();
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.header("www-authenticate"), "Bearer");
  EXPECT_EQ(answer.body, "{\"detail\":\"say who you are\"}");
  EXPECT_EQ(client.receive().status, 404);
  EXPECT_EQ(client.receive().body, "hello you");
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n");
  EXPECT_EQ(client.receive().status, 401);  // before the body
}

}  // namespace
}  // namespace hoist::net
