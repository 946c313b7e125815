// Where hoistd listens.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "daemon/options.h"
#include "device/remote/message.h"

namespace hoist::daemon {

struct Endpoint {
  device::remote::Listener listener;
  std::string path;
  // Anybody whom the socket's mode lets in; else its owner and root only.
  bool for_others = false;
  // systemd made the socket (sd_listen_fds(3)): its path stays when we end.
  bool inherited = false;
};

// The socket that systemd passed, or one at --socket, $HOIST_SOCKET, root's or the user's path.
Result<Endpoint> open_endpoint(const Options& options);

// For a port of 127.0.0.1.
Result<UniqueFd> listen_on_loopback(uint16_t port);

}  // namespace hoist::daemon
