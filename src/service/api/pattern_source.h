// The patterns of a request's body that comes in pieces.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "base/result.h"
#include "net/http/body_pipe.h"
#include "service/api/body.h"
#include "service/api/pattern_format.h"
#include "service/node/node.h"

namespace hoist::service {

class PatternSource {
 public:
  virtual ~PatternSource() = default;
  // Nothing at the end. `cancelled` where the client is gone, `unavailable` where the service ends;
  // other errors say what is wrong.
  virtual Result<std::optional<PatternRecord>> next() = 0;
  // Where the last call of next() was, in the format's words.
  virtual Json place() const = 0;
};

std::unique_ptr<PatternSource> pattern_source(PatternFormat format, net::HttpBodyReader body,
                                              std::stop_token stop, std::stop_token client_gone);

}  // namespace hoist::service
