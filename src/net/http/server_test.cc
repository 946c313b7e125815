#include "net/http/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <utility>

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

}  // namespace
}  // namespace hoist::net
