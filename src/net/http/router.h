// Which handler answers which method and path.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/body_pipe.h"
#include "net/http/message.h"
#include "net/http/websocket.h"

namespace hoist::net {

// Called when the head has come; a thread of the handler's reads the body while it comes. The reply
// may be sent earlier, which ends the connection.
using HttpUploadHandler =
    std::function<void(HttpRequest request, HttpBodyReader body, HttpReply reply)>;

struct HttpRoute {
  std::string pattern;
  HttpHandler handler;  // or `upload`; neither where there is a WebSocket only
  HttpUploadHandler upload;
  WebSocketHandler websocket;
  size_t most_body = 0;  // bytes; more is 413
};

// Patterns are literal segments and parameters: "/sessions/{id}/observe". A literal segment is
// preferred to a parameter, which matches one segment that is not empty. The later of two handlers
// for one method and pattern replaces the earlier.
class HttpRouter {
 public:
  static constexpr size_t kMostBody = 16 << 20;
  static constexpr size_t kMostUpload = std::numeric_limits<size_t>::max();

  HttpRouter();
  HttpRouter(HttpRouter&&) noexcept;
  HttpRouter& operator=(HttpRouter&&) noexcept;
  ~HttpRouter();

  void add(std::string_view method, std::string_view pattern, HttpHandler handler,
           size_t most_body = kMostBody);
  void add_upload(std::string_view method, std::string_view pattern, HttpUploadHandler handler,
                  size_t most_body = kMostUpload);
  void add_websocket(std::string_view pattern, WebSocketHandler handler);

  struct Match {
    const HttpRoute* route = nullptr;  // null: `status` says why
    int status = 200;                  // 404, 405; 204 for OPTIONS of a path without its own
    std::string allow;                 // with 405 and 204: the methods that the path has
    std::vector<std::string> parameters;
  };
  // `path` as the request has it, percent-encoded. HEAD finds the route of GET.
  Match find(std::string_view method, std::string_view path) const;

 private:
  struct Node;
  HttpRoute& route(std::string_view method, std::string_view pattern);
  static const Node* walk(const Node& node, std::string_view rest,
                          std::vector<std::string>& parameters);

  std::unique_ptr<Node> root_;
};

}  // namespace hoist::net
