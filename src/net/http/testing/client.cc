#include "net/http/testing/client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "base/quiet_thread.h"

namespace hoist::net::testing_http {
namespace {

UniqueFd connect_to(const std::string& address) {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  if (address.starts_with("unix:")) {
    auto& local = reinterpret_cast<sockaddr_un&>(storage);
    std::memcpy(local.sun_path, address.data() + 5, address.size() - 5);
    size = sizeof local;
    storage.ss_family = AF_UNIX;
  } else if (address.starts_with('[')) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
    const size_t end = address.find(']');
    EXPECT_EQ(::inet_pton(AF_INET6, address.substr(1, end - 1).c_str(), &v6.sin6_addr), 1);
    v6.sin6_port = ::htons(static_cast<uint16_t>(std::stoi(address.substr(end + 2))));
    size = sizeof v6;
    storage.ss_family = AF_INET6;
  } else {
    auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
    const size_t colon = address.find(':');
    EXPECT_EQ(::inet_pton(AF_INET, address.substr(0, colon).c_str(), &v4.sin_addr), 1);
    v4.sin_port = ::htons(static_cast<uint16_t>(std::stoi(address.substr(colon + 1))));
    size = sizeof v4;
    storage.ss_family = AF_INET;
  }
  UniqueFd socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&storage), size), 0)
      << address << ": " << std::strerror(errno);
  return socket;
}

}  // namespace

std::string Answer::header(std::string_view name) const {
  for (const auto& [each, value] : headers) {
    if (each == name) return value;
  }
  return {};
}

Client::Client(const std::string& address) : socket_(connect_to(address)) {}

void Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

bool Client::more() {
  char bytes[65536];
  const ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
  if (count > 0) input_.append(bytes, static_cast<size_t>(count));
  return count > 0;
}

std::string Client::rest() {
  while (more()) {
  }
  return std::exchange(input_, {});
}

std::string Client::take(size_t size) {
  while (input_.size() < size && more()) {
  }
  std::string taken = input_.substr(0, size);
  input_.erase(0, size);
  return taken;
}

Answer Client::receive(bool head_only) {
  size_t end = 0;
  while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
    if (!more()) return {};
  }
  Answer answer;
  std::string head = input_.substr(0, end + 2);
  input_.erase(0, end + 4);
  answer.status = std::stoi(head.substr(9, 3));
  for (size_t at = head.find("\r\n") + 2; at < head.size();) {
    const size_t line_end = head.find("\r\n", at);
    const size_t colon = head.find(": ", at);
    answer.headers.emplace_back(head.substr(at, colon - at),
                                head.substr(colon + 2, line_end - colon - 2));
    at = line_end + 2;
  }
  if (head_only || answer.status < 200 || answer.status == 204) return answer;
  if (answer.header("transfer-encoding") == "chunked") {
    while (true) {
      while ((end = input_.find("\r\n")) == std::string::npos) {
        if (!more()) return {};
      }
      const size_t size = std::stoull(input_.substr(0, end), nullptr, 16);
      while (input_.size() < end + 2 + size + 2) {
        if (!more()) return {};
      }
      answer.body += input_.substr(end + 2, size);
      input_.erase(0, end + 2 + size + 2);
      if (size == 0) return answer;
    }
  }
  if (answer.header("content-length").empty()) {
    answer.body = rest();
    return answer;
  }
  const size_t size = std::stoull(answer.header("content-length"));
  while (input_.size() < size) {
    if (!more()) return {};
  }
  answer.body = input_.substr(0, size);
  input_.erase(0, size);
  return answer;
}

RunningServer::RunningServer(HttpRouter router, HttpServerOptions options) {
  if (options.listen == HttpServerOptions().listen) options.listen = {"127.0.0.1:0"};
  server_ = std::move(HttpServer::create(std::move(options), std::move(router)).value());
  thread_ = start_quiet_thread([this] { EXPECT_TRUE(server_->run()); }).value();
}

RunningServer::~RunningServer() {
  if (!thread_.joinable()) return;
  server_->stop(0);
  thread_.join();
}

void RunningServer::join() { thread_.join(); }

}  // namespace hoist::net::testing_http
