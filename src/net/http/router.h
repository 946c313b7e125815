// Which handler answers which method and path.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/message.h"

namespace hoist::net {

struct HttpRoute {
  HttpHandler handler;
  size_t most_body = 0;  // bytes; more is 413
};

// Patterns are literal segments and parameters: "/sessions/{id}/observe". A literal segment is
// preferred to a parameter, which matches one segment that is not empty.
class HttpRouter {
 public:
  static constexpr size_t kMostBody = 16 << 20;

  HttpRouter();
  HttpRouter(HttpRouter&&) noexcept;
  HttpRouter& operator=(HttpRouter&&) noexcept;
  ~HttpRouter();

  // The later of two for one method and pattern replaces the earlier.
  void add(std::string_view method, std::string_view pattern, HttpHandler handler,
           size_t most_body = kMostBody);

  struct Match {
    const HttpRoute* route = nullptr;  // null: `status` says why
    int status = 200;                  // 400, 404, 405; 204 for OPTIONS of a path without its own
    std::string allow;                 // with 405 and 204: the methods that the path has
    std::vector<std::string> parameters;
  };
  // `path` as the request has it, percent-encoded. HEAD finds the route of GET.
  Match find(std::string_view method, std::string_view path) const;

 private:
  struct Node;
  static const Node* walk(const Node& node, std::string_view rest,
                          std::vector<std::string>& parameters);

  std::unique_ptr<Node> root_;
};

}  // namespace hoist::net
