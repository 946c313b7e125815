// The request that a connection reads or answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "net/http/body_pipe.h"
#include "net/http/connection.h"
#include "net/http/message.h"
#include "net/http/parser.h"
#include "net/http/router.h"

namespace hoist::net {

struct HttpConnection::Incoming {
  explicit Incoming(std::unique_ptr<HttpParser> given) : parser(std::move(given)) {}
  ~Incoming() {
    if (upload) upload->abandon();
  }

  std::unique_ptr<HttpParser> parser;  // null when its last byte has come
  HttpRequest request;
  const HttpRoute* route = nullptr;
  std::optional<HttpResponse> refusal;  // to be sent when its body has been read
  std::shared_ptr<HttpPipe> upload;     // where its body goes while it comes
  bool upload_full = false;
  std::optional<std::stop_source> gone;  // where the handler asked for it
  bool asked = false;                    // the client, whether it is still there
  uint64_t body = 0;                     // bytes so far
  uint64_t paid = 0;                     // bytes when the deadline was set
  uint64_t begun_ns = 0;
  std::string method;  // for on_response
  std::string origin;
  bool timed = false;  // the head's deadline is set
  bool begun = false;  // the head is complete
  bool http11 = true;
  bool keep_alive = true;
};

}  // namespace hoist::net
