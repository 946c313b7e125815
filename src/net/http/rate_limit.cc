#include "net/http/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace hoist::net {

double HttpRateLimit::tokens_now(const Bucket& bucket, uint64_t now_ns) const {
  const double seconds = static_cast<double>(now_ns - std::min(now_ns, bucket.at_ns)) * 1e-9;
  return std::min(std::max(per_second_, 1.0), bucket.tokens + seconds * per_second_);
}

// Who has waited long enough is as good as new.
void HttpRateLimit::forget_full(uint64_t now_ns) {
  std::erase_if(buckets_, [&](const auto& entry) {
    return tokens_now(entry.second, now_ns) >= std::max(per_second_, 1.0);
  });
  forget_at_ = std::max<size_t>(1024, 2 * buckets_.size());
}

unsigned HttpRateLimit::take(const std::string& peer, uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (buckets_.size() >= forget_at_) forget_full(now_ns);
  Bucket& bucket =
      buckets_.try_emplace(peer, Bucket{std::max(per_second_, 1.0), now_ns}).first->second;
  bucket.tokens = tokens_now(bucket, now_ns);
  bucket.at_ns = std::max(bucket.at_ns, now_ns);
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return 0;
  }
  return static_cast<unsigned>(std::ceil(std::min((1 - bucket.tokens) / per_second_, 3600.0)));
}

}  // namespace hoist::net
