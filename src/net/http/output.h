// What a connection still has to send: responses in order, the small ones joined.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "net/http/transport.h"

namespace hoist::net {

class HttpOutput {
 public:
  void add(std::string text);
  size_t pending() const { return pending_; }
  // Sends what the transport takes now.
  Transport::Outcome flush(Transport& transport);

 private:
  std::vector<std::string> pieces_;
  size_t first_ = 0;  // pieces before it are sent
  size_t sent_ = 0;   // of the first
  size_t pending_ = 0;
};

}  // namespace hoist::net
