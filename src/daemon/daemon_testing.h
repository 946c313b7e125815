// For tests and benchmarks: hoistd's server on a thread of this process.
#pragma once

#include <fmt/core.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "daemon/server.h"
#include "device/remote/ask.h"
#include "device/remote/remote_device.h"

namespace hoist::daemon {

class TestServer {
 public:
  explicit TestServer(device::Device& device = device::cpu_device(), bool on_streams = false,
                      Options options = {},
                      std::chrono::milliseconds trim_after = std::chrono::seconds(10))
      : options_(std::move(options)) {
    std::string pattern = (std::filesystem::temp_directory_path() / "hoistd-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    options_.socket = (folder_ / "socket").string();
    UniqueFd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    stop_ = UniqueFd(::dup(stop.get()));
    Result<Endpoint> endpoint = open_endpoint(options_);
    if (!endpoint) fail(endpoint.error());
    Result<std::unique_ptr<Server>> server =
        Server::create({options_, device, std::move(*endpoint), std::move(stop), UniqueFd(),
                        on_streams, trim_after});
    if (!server) fail(server.error());
    server_ = std::move(*server);
    thread_ = std::thread([this] { ended_ = server_->run(); });
  }
  ~TestServer() {
    (void)stop();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  // As SIGTERM does.
  Status stop() {
    const uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    return wait();
  }
  // Until it ends by itself.
  Status wait() {
    if (thread_.joinable()) thread_.join();
    return ended_;
  }

  const std::string& path() const { return options_.socket; }
  std::string status() const {
    Result<std::string> text = device::remote::ask_status(path());
    for (int again = 0; !text && again < 10; ++again) text = device::remote::ask_status(path());
    return text ? *text : text.error().message;
  }
  Result<std::shared_ptr<device::remote::RemoteDevice>> connect(
      uint64_t pool_size = uint64_t{4} << 20, uint32_t queues = HOIST_RING_MAX_QUEUES) const {
    device::remote::ConnectOptions options;
    options.path = path();
    options.pool_size = pool_size;
    options.queues = queues;
    options.handshake = std::chrono::seconds(60);
    return device::remote::RemoteDevice::connect(options);
  }

 private:
  [[noreturn]] static void fail(const Error& error) {
    fmt::print(stderr, "no server: {}\n", error.message);
    std::abort();
  }

  Options options_;
  std::filesystem::path folder_;
  UniqueFd stop_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  Status ended_;
};

}  // namespace hoist::daemon
