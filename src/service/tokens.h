// Who may ask: the tokens of a file, one a line, compared in constant time.
//
// Thread-safe.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http/message.h"

namespace hoist::service {

class Tokens {
 public:
  // Empty lines and those that begin with # are left out. `invalid_argument` where the file has no
  // token, one shorter than 16 bytes, or may be read by everybody.
  Status load(const std::string& file);

  // 401 unless the request brings one of them: `Authorization: Bearer TOKEN`. /ws/events, for which
  // browsers send no header, also takes ?token=. The status page and its script need none.
  std::optional<net::HttpResponse> check(const net::HttpRequest& request) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  static Digest digest(std::string_view token);
  bool is_known(std::string_view token) const;

  mutable std::mutex mutex_;
  std::vector<Digest> digests_;
};

}  // namespace hoist::service
