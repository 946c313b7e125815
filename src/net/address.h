// Listening sockets by the text that names them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace hoist::net {

// "127.0.0.1:8000", "[::1]:8000", ":8000" (every IPv4 address), "localhost:8000" (all that the name
// stands for) or "unix:/path"; port 0 is a free one, at the name's first address. "systemd": the
// sockets that the service manager passed (sd_listen_fds(3)), once. A UNIX socket's file that
// nobody listens on is replaced. All non-blocking.
Result<std::vector<UniqueFd>> listen_at(std::string_view address);

// "127.0.0.1:41233", "[::1]:80", "unix:/path": where the socket listens.
std::string listening_address(int socket);
// The client's address without its port; "unix" on a UNIX socket.
std::string peer_address(int socket);

}  // namespace hoist::net
