// A small answer by Hoist's HTTP server, for wrk: http_hoist PORT [THREADS].
#include <cstdio>
#include <cstdlib>
#include <string>

#include "net/http/server.h"

int main(int argc, char** argv) {
  using namespace hoist::net;
  HttpRouter router;
  router.add("GET", "/small", [](HttpRequest, HttpReply reply) {
    HttpResponse response;
    response.body.assign(1200, 'x');
    reply.send(std::move(response));
  });
  HttpServerOptions options;
  options.listen = {std::string("127.0.0.1:") + (argc > 1 ? argv[1] : "0")};
  options.threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  auto server = HttpServer::create(std::move(options), std::move(router));
  if (!server) return std::fprintf(stderr, "%s\n", server.error().message.c_str()), 1;
  std::printf("%s\n", (*server)->addresses().front().c_str());
  std::fflush(stdout);
  return (*server)->run() ? 0 : 1;
}
