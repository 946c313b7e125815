// A response's head as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http/message.h"

namespace hoist::net {

// The current second as HTTP writes it, made anew when the second changes. One thread's.
class HttpDate {
 public:
  std::string_view text();

 private:
  int64_t second_ = -1;
  std::string text_;
};

struct HttpFraming {
  bool keep_alive = true;
  bool http11 = true;
  std::optional<uint64_t> length;  // none: chunked under HTTP/1.1, else until the connection closes
};

// Header names and values with line ends or NUL in them are left out: nobody splits a response. So
// are the handler's content-length, transfer-encoding, connection and date.
std::string http_head(const HttpResponse& response, const HttpFraming& framing,
                      std::string_view date);

}  // namespace hoist::net
