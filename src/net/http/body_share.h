// The memory of requests' bodies, counted for all connections together.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace hoist::net {

// What one body takes of it, given back once nobody has the request any more. It may outlive the
// server.
class HttpBodyShare {
 public:
  explicit HttpBodyShare(std::shared_ptr<std::atomic<size_t>> all) : all_(std::move(all)) {}
  ~HttpBodyShare() { *all_ -= bytes_; }
  HttpBodyShare(const HttpBodyShare&) = delete;
  HttpBodyShare& operator=(const HttpBodyShare&) = delete;

  // Returns what all take now.
  size_t add(size_t bytes) {
    bytes_ += bytes;
    return *all_ += bytes;
  }

 private:
  const std::shared_ptr<std::atomic<size_t>> all_;
  size_t bytes_ = 0;
};

}  // namespace hoist::net
