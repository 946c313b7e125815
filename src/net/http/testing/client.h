// A plain client over a blocking socket, and a server on a thread of its own, for tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/file.h"
#include "net/http/server.h"

namespace hoist::net::testing_http {

struct Answer {
  int status = 0;  // 0: the connection ended before the answer did
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  std::string header(std::string_view name) const;  // "" without one
};

class Client {
 public:
  explicit Client(const std::string& address);  // as HttpServer::addresses() writes it

  void send(std::string_view bytes);  // a server that has hung up is no failure
  Answer receive(bool head_only = false);
  // What comes until the server closes, beyond what receive() took.
  std::string rest();
  std::string take(size_t size);  // so many bytes, fewer where the connection ends
  int fd() const { return socket_.get(); }

 private:
  bool more();

  UniqueFd socket_;
  std::string input_;
};

class RunningServer {
 public:
  explicit RunningServer(HttpRouter router, HttpServerOptions options = {.threads = 2});
  ~RunningServer();

  HttpServer& server() { return *server_; }
  const std::string& address() const { return server_->addresses().front(); }
  void join();  // after stop(): until run() returns

 private:
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

}  // namespace hoist::net::testing_http
