#include "net/http/router.h"

#include <algorithm>
#include <map>
#include <utility>

#include "net/http/target.h"

namespace hoist::net {

struct HttpRouter::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literal;
  std::unique_ptr<Node> parameter;
  std::map<std::string, HttpRoute, std::less<>> methods;
};

namespace {

// Takes "/segment" off the front of `rest`; returns "segment".
std::string_view take_segment(std::string_view& rest) {
  const size_t end = std::min(rest.find('/', 1), rest.size());
  const std::string_view segment = rest.substr(1, end - 1);
  rest.remove_prefix(end);
  return segment;
}

}  // namespace

HttpRouter::HttpRouter() : root_(std::make_unique<Node>()) {}
HttpRouter::HttpRouter(HttpRouter&&) noexcept = default;
HttpRouter& HttpRouter::operator=(HttpRouter&&) noexcept = default;
HttpRouter::~HttpRouter() = default;

HttpRoute& HttpRouter::route(std::string_view method, std::string_view pattern) {
  Node* node = root_.get();
  for (std::string_view rest = pattern; !rest.empty();) {
    const std::string_view segment = take_segment(rest);
    const bool parameter = segment.starts_with('{') && segment.ends_with('}');
    std::unique_ptr<Node>& next = parameter ? node->parameter : node->literal[std::string(segment)];
    if (!next) next = std::make_unique<Node>();
    node = next.get();
  }
  HttpRoute& route = node->methods[std::string(method)];
  route.pattern = pattern;
  return route;
}

void HttpRouter::add(std::string_view method, std::string_view pattern, HttpHandler handler,
                     size_t most_body) {
  HttpRoute& added = route(method, pattern);
  added.handler = std::move(handler);
  added.upload = nullptr;
  added.most_body = most_body;
}

void HttpRouter::add_upload(std::string_view method, std::string_view pattern,
                            HttpUploadHandler handler, size_t most_body) {
  HttpRoute& added = route(method, pattern);
  added.upload = std::move(handler);
  added.handler = nullptr;
  added.most_body = most_body;
}

void HttpRouter::add_websocket(std::string_view pattern, WebSocketHandler handler) {
  route("GET", pattern).websocket = std::move(handler);
}

// A literal that leads nowhere gives way to the parameter beside it. Each segment is tried at most
// twice for each parameter before it; patterns have few.
const HttpRouter::Node* HttpRouter::walk(const Node& node, std::string_view rest,
                                         std::vector<std::string>& parameters) {
  if (rest.empty()) return node.methods.empty() ? nullptr : &node;
  const std::string_view segment = take_segment(rest);
  const auto decoded = percent_decoded(segment);
  if (!decoded) return nullptr;
  if (const auto found = node.literal.find(*decoded); found != node.literal.end()) {
    if (const Node* end = walk(*found->second, rest, parameters)) return end;
  }
  if (!node.parameter || decoded->empty()) return nullptr;
  parameters.push_back(*decoded);
  if (const Node* end = walk(*node.parameter, rest, parameters)) return end;
  parameters.pop_back();
  return nullptr;
}

HttpRouter::Match HttpRouter::find(std::string_view method, std::string_view path) const {
  Match match;
  const Node* node = path.starts_with('/') ? walk(*root_, path, match.parameters) : nullptr;
  if (!node) {
    match.status = path == "*" && method == "OPTIONS" ? 204 : 404;
    return match;
  }
  auto found = node->methods.find(method);
  if (found == node->methods.end() && method == "HEAD") found = node->methods.find("GET");
  if (found != node->methods.end()) {
    match.route = &found->second;
    return match;
  }
  match.status = method == "OPTIONS" ? 204 : 405;
  for (const auto& [name, route] : node->methods) {
    match.allow += match.allow.empty() ? name : ", " + name;
    if (name == "GET" && !node->methods.contains("HEAD")) match.allow += ", HEAD";
  }
  if (!node->methods.contains("OPTIONS")) match.allow += ", OPTIONS";
  return match;
}

}  // namespace hoist::net
