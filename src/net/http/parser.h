// Bytes to requests: HTTP/1.0 and 1.1, without I/O. Boost.Beast's parser does the tokens and the
// chunks; this refuses what two servers in a row may read differently (RFC 9112, section 11.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/message.h"

namespace hoist::net {

struct HttpHead {
  std::string method;
  std::string target;  // as it came: path and query, percent-encoded
  std::vector<HttpHeader> headers;
  bool http11 = true;
  bool keep_alive = true;
  bool upgrade = false;  // Connection names "upgrade"
  bool expects_continue = false;
  bool chunked = false;
  uint64_t content_length = 0;
};

class HttpParser {
 public:
  enum class State { head, body, complete, failed };

  // A head of more than `most_head` bytes is refused.
  explicit HttpParser(size_t most_head);
  ~HttpParser();

  // Begins the next request.
  void reset();
  // Parses the front of `bytes` and returns how many it took; it wants the rest again, with more
  // behind it. It stops after the head, after each piece of the body and at the request's end. 0
  // taken: it needs more bytes than these.
  size_t put(std::string_view bytes);

  State state() const;
  HttpHead& head();
  std::string_view piece() const;  // of the body, found by the last put(); a view into its bytes
  int error() const;               // the status to answer: 400, 431, 501 or 505

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace hoist::net
