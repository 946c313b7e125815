// The same answer by cpp-httplib, a thread for each of 64 connections: http_httplib PORT.
#include <httplib.h>

#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(64); };
  server.set_keep_alive_max_count(1'000'000'000);
  server.set_tcp_nodelay(true);
  const std::string body(1200, 'x');
  server.Get("/small", [&](const httplib::Request&, httplib::Response& response) {
    response.set_content(body, "application/json");
  });
  return server.listen("127.0.0.1", argc > 1 ? std::atoi(argv[1]) : 0) ? 0 : 1;
}
