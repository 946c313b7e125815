// So many requests a second for each client's address, and a burst of as many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace hoist::net {

// Calls from any thread.
class HttpRateLimit {
 public:
  explicit HttpRateLimit(double per_second) : per_second_(per_second) {}

  // 0: go on. Else: seconds after which it may be tried again.
  unsigned take(const std::string& peer, uint64_t now_ns);

 private:
  struct Bucket {
    double tokens;
    uint64_t at_ns;
  };
  double tokens_now(const Bucket& bucket, uint64_t now_ns) const;
  void forget_full(uint64_t now_ns);

  const double per_second_;
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
  size_t forget_at_ = 1024;
};

}  // namespace hoist::net
