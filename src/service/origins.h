// Which pages may ask from a browser.
//
// A browser lets any page send requests to any server, this one on 127.0.0.1 too, and tells it the
// page's origin. Others than browsers send none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/message.h"

namespace hoist::service {

class Origins {
 public:
  // `allowed`: as --origin says; "*" is all. `has_tokens`: requests must bring one, so that the
  // name by which a page reaches the server tells nothing.
  Origins(std::vector<std::string> allowed, bool has_tokens)
      : allowed_(std::move(allowed)), has_tokens_(has_tokens) {}

  bool is_allowed(std::string_view origin) const;
  // 403 for what changes something, and for a WebSocket, from a page that is neither the server's
  // own nor allowed. A page is the server's own where its origin is what the request calls the
  // server; without tokens that must be an address of this machine, for a name of somebody else's
  // may lead here, too.
  std::optional<net::HttpResponse> check(const net::HttpRequest& request) const;

 private:
  const std::vector<std::string> allowed_;
  const bool has_tokens_;
};

}  // namespace hoist::service
