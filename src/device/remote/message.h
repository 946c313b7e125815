// hoistd's socket: packets of one hoist_message each (device/remote/ring_layout.h), a descriptor
// beside it where one travels along, and who is at the other end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "device/remote/ring_layout.h"

namespace hoist::device::remote {

// Where a client looks: HOIST_SOCKET where that is set, else user_socket_path(), then
// /run/hoist/hoistd.sock.
std::vector<std::string> socket_paths();
// $XDG_RUNTIME_DIR/hoist/hoistd.sock, or without that folder hoistd.sock in Counters::directory().
Result<std::string> user_socket_path();
constexpr const char* kSystemSocketPath = "/run/hoist/hoistd.sock";

// The other end's identity at the time of its connect() or listen(), by the kernel's word
// (SO_PEERCRED, unix(7)). pid 0: in another pid namespace.
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};
Result<Peer> peer_of(int socket);

// `not_found` where nothing listens.
Result<UniqueFd> connect_to(const std::string& path);

// A socket that only its owner may connect to, or with a group its members too. PATH.lock marks it
// as in use for as long as this lives, so what a killed daemon left is replaced, and a living one's
// is not: `exhausted`.
struct Listener {
  UniqueFd socket;
  UniqueFd lock;
};
Result<Listener> listen_at(const std::string& path, std::optional<gid_t> group);

// Removes PATH.lock, which `lock` still holds: the next hoistd makes its own.
void remove_lock(const std::string& path, const UniqueFd& lock);

hoist_message make_message(hoist_message_type type);
void set_text(std::span<char> field, std::string_view text);
// Up to the first NUL; all but ASCII's printable characters, which must not reach a terminal (C1
// controls are two bytes of UTF-8), become '?'.
std::string text_of(std::span<const char> field);

// Does not wait for room: `unavailable` where there is none.
Status send_message(int socket, const hoist_message& message, int descriptor = -1);

struct Received {
  hoist_message message;
  UniqueFd descriptor;
};
// The next message, waiting at most `milliseconds` (0: not at all) for it: nothing where none
// came, `unavailable` at the end of the connection, `corrupt` for what is no message of ours. Other
// descriptors than a message's first go to `unwanted`; null: they are closed.
Result<std::optional<Received>> receive_message(int socket, int milliseconds,
                                                std::vector<UniqueFd>* unwanted = nullptr);

inline constexpr size_t kLongestStatus = 256 * 1024;
// The packet of JSON that answers a status message; `size` bytes at most.
Status send_text(int socket, std::string_view text);
Result<std::string> receive_text(int socket, int milliseconds, size_t size);

}  // namespace hoist::device::remote
