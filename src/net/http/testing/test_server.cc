// A server for tests/http_server_test.py: http_test_server [--listen ADDRESS]… [--tls CERT KEY].
// Prints its addresses, a line each. SIGTERM drains it; SIGHUP reads the certificate again.
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/quiet_thread.h"
#include "net/http/server.h"

namespace hoist::net {
namespace {

HttpServer* server = nullptr;

void stop(int) { server->stop(10'000); }

class Bytes : public HttpBodySource {
 public:
  explicit Bytes(size_t size) : left_(size) {}
  Next next(std::string& piece) override {
    const size_t count = std::min<size_t>(left_, 64 << 10);
    piece.append(count, 'd');
    left_ -= count;
    return left_ > 0 ? Next::piece : Next::end;
  }

 private:
  size_t left_;
};

void count_upload(HttpRequest, HttpBodyReader body, HttpReply reply) {
  const auto reader = std::make_shared<HttpBodyReader>(std::move(body));
  const auto answer = std::make_shared<HttpReply>(std::move(reply));
  auto thread = start_quiet_thread([reader, answer] {
    std::vector<char> buffer(64 << 10);
    size_t sum = 0;
    while (true) {
      const auto count = reader->read(buffer);
      if (!count) return;
      if (*count == 0) break;
      sum += *count;
    }
    answer->send({.content_type = "text/plain", .body = std::to_string(sum)});
  });
  if (thread) thread->detach();
}

HttpRouter routes() {
  HttpRouter router;
  router.add("GET", "/hello/{name}", [](HttpRequest request, HttpReply reply) {
    reply.send({.content_type = "text/plain", .body = "hello " + request.parameters[0]});
  });
  router.add("POST", "/echo", [](HttpRequest request, HttpReply reply) {
    reply.send({.content_type = "application/octet-stream", .body = std::move(request.body)});
  });
  router.add("GET", "/download/{bytes}", [](HttpRequest request, HttpReply reply) {
    reply.send({.source = std::make_shared<Bytes>(std::stoull(request.parameters[0]))});
  });
  router.add_upload("POST", "/upload", count_upload);
  router.add_upload("PUT", "/upload", count_upload);
  router.add_websocket("/socket", [](const HttpRequest&, std::shared_ptr<WebSocket> socket) {
    return WebSocketEvents{.message = [socket](std::string message, bool binary) {
      if (binary) {
        socket->send_binary(message);
      } else {
        socket->send_text(message);
      }
    }};
  });
  return router;
}

int main_program(const std::vector<std::string>& arguments) {
  HttpServerOptions options;
  options.listen.clear();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--listen") {
      options.listen.push_back(arguments.at(++i));
    } else if (arguments[i] == "--tls") {
      options.certificate_file = arguments.at(++i);
      options.key_file = arguments.at(++i);
    }
  }
  if (options.listen.empty()) options.listen = {"127.0.0.1:0"};
  // Threads inherit what is blocked: SIGHUP comes to the one that waits for it.
  sigset_t reload;
  ::sigemptyset(&reload);
  ::sigaddset(&reload, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &reload, nullptr);
  auto created = HttpServer::create(std::move(options), routes());
  if (!created) return std::fprintf(stderr, "%s\n", created.error().message.c_str()), 1;
  server = created->get();
  ::signal(SIGTERM, stop);
  auto reloads = start_quiet_thread([reload] {
    for (int number = 0; ::sigwait(&reload, &number) == 0;) {
      const Status reloaded = server->reload_certificate();
      std::printf("reload: %s\n", reloaded ? "done" : reloaded.error().message.c_str());
      std::fflush(stdout);
    }
  });
  reloads.value().detach();
  for (const std::string& address : server->addresses()) std::printf("%s\n", address.c_str());
  std::fflush(stdout);
  const Status ended = server->run();
  std::fflush(stdout);
  std::_Exit(ended ? 0 : 1);  // the waiting thread has no end
}

}  // namespace
}  // namespace hoist::net

int main(int argc, char** argv) { return hoist::net::main_program({argv + 1, argv + argc}); }
