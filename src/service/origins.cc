#include "service/origins.h"

#include <algorithm>

namespace hoist::service {
namespace {

// "localhost", "127.0.0.1", "[::1]" with or without a port.
bool is_local(std::string_view host) {
  const auto is = [&](std::string_view name) {
    return host == name || (host.starts_with(name) && host.substr(name.size()).starts_with(":"));
  };
  return is("localhost") || is("127.0.0.1") || is("[::1]");
}

}  // namespace

bool Origins::is_allowed(std::string_view origin) const {
  return std::any_of(allowed_.begin(), allowed_.end(), [&](const std::string& allowed) {
    return allowed == "*" || allowed == origin;
  });
}

std::optional<net::HttpResponse> Origins::check(const net::HttpRequest& request) const {
  const std::string* origin = request.header("origin");
  const bool reads =
      request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS";
  if (origin == nullptr || (reads && request.header("upgrade") == nullptr)) return std::nullopt;
  if (is_allowed(*origin)) return std::nullopt;
  const std::string* host = request.header("host");
  const size_t scheme = origin->find("://");
  const bool is_own = host != nullptr && scheme != origin->npos &&
                      std::string_view(*origin).substr(scheme + 3) == *host &&
                      (has_tokens_ || is_local(*host));
  if (is_own) return std::nullopt;
  return net::http_error(403, "Pages of this origin may not ask: start the service with --origin");
}

}  // namespace hoist::service
