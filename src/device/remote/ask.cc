#include "device/remote/ask.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "device/remote/message.h"

namespace hoist::device::remote {

Result<std::string> ask_status(const std::string& path) {
  constexpr int kMilliseconds = 10'000;
  const std::vector<std::string> paths =
      path.empty() ? socket_paths() : std::vector<std::string>{path};
  for (const std::string& candidate : paths) {
    const Result<UniqueFd> socket = connect_to(candidate);
    if (!socket && socket.error().code == ErrorCode::not_found) continue;
    if (!socket) return socket.error();
    if (Status sent = send_message(socket->get(), make_message(HOIST_MESSAGE_STATUS)); !sent) {
      return sent.error();
    }
    return receive_text(socket->get(), kMilliseconds, kLongestStatus);
  }
  return fail(ErrorCode::not_found,
              fmt::format("no hoistd listens ({}): start `hoistd`", fmt::join(paths, ", ")));
}

}  // namespace hoist::device::remote
