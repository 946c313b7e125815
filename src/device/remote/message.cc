#include "device/remote/message.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/counters.h"
#include "base/options.h"
#include "device/remote/futex.h"

namespace hoist::device::remote {
namespace {

constexpr int kBacklog = 1024;

Error system_error(std::string_view what, std::string_view path = "socket") {
  const int code = errno;
  const ErrorCode kind =
      code == ENOENT || code == ECONNREFUSED ? ErrorCode::not_found : ErrorCode::io;
  return fail(kind, fmt::format("{} ({}): {}", what, path, std::strerror(code)), code);
}

Error ended() {
  return fail(ErrorCode::unavailable, "the other side closed the connection (hoistd's socket)");
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::invalid_argument, fmt::format("a socket's path has 1 to {} bytes ({})",
                                                         sizeof address.sun_path - 1, path));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

UniqueFd new_socket() {
  return UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Waits for a packet; false: none came in time.
Result<bool> wait_for_packet(int socket, int milliseconds) {
  const uint64_t end_ns = monotonic_ns() + static_cast<uint64_t>(milliseconds) * 1'000'000;
  pollfd ready = {socket, POLLIN, 0};
  while (true) {
    const int count = ::poll(&ready, 1, milliseconds);
    if (count >= 0) return count > 0;
    if (errno != EINTR) return system_error("wait");
    // Programs with an interval timer are interrupted again and again.
    const uint64_t now_ns = monotonic_ns();
    milliseconds = now_ns < end_ns ? static_cast<int>((end_ns - now_ns + 999'999) / 1'000'000) : 0;
  }
}

std::vector<UniqueFd> take_descriptors(msghdr& header) {
  std::vector<UniqueFd> taken;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int number;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
      taken.emplace_back(number);
    }
  }
  return taken;
}

}  // namespace

std::vector<std::string> socket_paths() {
  if (const char* named = option_text(OptionId::socket); *named != '\0') return {named};
  std::vector<std::string> paths;
  if (Result<std::string> path = user_socket_path(); path) paths.push_back(std::move(*path));
  paths.emplace_back(kSystemSocketPath);
  return paths;
}

Result<std::string> user_socket_path() {
  if (const char* folder = std::getenv("XDG_RUNTIME_DIR"); folder != nullptr && *folder == '/') {
    return std::string(folder) + "/hoist/hoistd.sock";
  }
  Result<std::string> folder = Counters::directory();
  if (!folder) return folder;
  return *folder + "/hoistd.sock";
}

Result<Peer> peer_of(int socket) {
  ucred credentials = {};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return system_error("ask who is there");
  }
  return Peer{credentials.pid, credentials.uid, credentials.gid};
}

Result<UniqueFd> connect_to(const std::string& path) {
  const Result<sockaddr_un> address = address_of(path);
  if (!address) return address.error();
  UniqueFd socket = new_socket();
  if (!socket.valid()) return system_error("make");
  // Local: it is accepted into the backlog at once or (EAGAIN) not at all.
  if (::connect(socket.get(), generic(*address), sizeof *address) != 0) {
    return system_error("connect", path);
  }
  return socket;
}

namespace {

// Whether `name` is still the open file: the one that held its lock may have removed it.
bool is_named(const UniqueFd& file, const std::string& name) {
  struct stat open = {};
  struct stat named = {};
  return ::fstat(file.get(), &open) == 0 && ::lstat(name.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

Result<UniqueFd> lock_path(const std::string& path) {
  const std::string name = path + ".lock";
  while (true) {
    Result<UniqueFd> lock = open_file(name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (!lock) {
      return fail(ErrorCode::io,
                  fmt::format("cannot listen ({}): name a socket in a folder of yours "
                              "(--socket)",
                              lock.error().message));
    }
    if (::flock(lock->get(), LOCK_EX | LOCK_NB) != 0) {
      return fail(
          ErrorCode::exhausted,
          fmt::format("another hoistd listens ({}): use it, or name another (--socket)", path));
    }
    if (is_named(*lock, name)) return lock;
  }
}

}  // namespace

void remove_lock(const std::string& path, const UniqueFd& lock) {
  const std::string name = path + ".lock";
  if (lock.valid() && is_named(lock, name)) ::unlink(name.c_str());
}

Result<Listener> listen_at(const std::string& path, std::optional<gid_t> group) {
  const Result<sockaddr_un> address = address_of(path);
  if (!address) return address.error();
  Result<UniqueFd> lock = lock_path(path);
  if (!lock) return lock.error();
  struct stat status;
  if (::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) ::unlink(path.c_str());
  UniqueFd socket = new_socket();
  if (!socket.valid()) return system_error("make");
  const mode_t before = ::umask(0177);  // never open to others, not even before chmod()
  const int bound = ::bind(socket.get(), generic(*address), sizeof *address);
  ::umask(before);
  if (bound != 0) return system_error("bind", path);
  if (group && (::chown(path.c_str(), static_cast<uid_t>(-1), *group) != 0 ||
                ::chmod(path.c_str(), 0660) != 0)) {
    return system_error("give to the group", path);
  }
  if (::listen(socket.get(), kBacklog) != 0) return system_error("listen", path);
  return Listener{std::move(socket), std::move(*lock)};
}

hoist_message make_message(hoist_message_type type) {
  hoist_message message = {};
  message.magic = HOIST_RING_MAGIC;
  message.type = type;
  message.version = HOIST_RING_VERSION;
  message.oldest_version = HOIST_RING_OLDEST_VERSION;
  return message;
}

void set_text(std::span<char> field, std::string_view text) {
  const size_t size = std::min(text.size(), field.size() - 1);
  std::copy_n(text.data(), size, field.data());
  std::fill(field.begin() + static_cast<ptrdiff_t>(size), field.end(), '\0');
}

std::string text_of(std::span<const char> field) {
  std::string text(field.data(), ::strnlen(field.data(), field.size()));
  for (char& c : text) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return text;
}

Status send_message(int socket, const hoist_message& message, int descriptor) {
  iovec part = {const_cast<hoist_message*>(&message), sizeof message};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  }
  if (::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return {};
  if (errno == EPIPE || errno == ECONNRESET) return ended();
  if (errno == EAGAIN) return fail(ErrorCode::unavailable, "no room for a message (socket)");
  return system_error("send");
}

Result<std::optional<Received>> receive_message(int socket, int milliseconds,
                                                std::vector<UniqueFd>* unwanted) {
  if (milliseconds > 0) {
    const Result<bool> ready = wait_for_packet(socket, milliseconds);
    if (!ready) return ready.error();
    if (!*ready) return std::nullopt;
  }
  Received received;
  iovec part = {&received.message, sizeof received.message};
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (size < 0) {
    if (errno == EAGAIN || errno == EINTR) return std::nullopt;
    if (errno == ECONNRESET) return ended();
    return system_error("receive");
  }
  std::vector<UniqueFd> descriptors = take_descriptors(header);
  const bool is_message = size == sizeof received.message && (header.msg_flags & MSG_TRUNC) == 0 &&
                          received.message.magic == HOIST_RING_MAGIC;
  if (is_message && !descriptors.empty()) {
    received.descriptor = std::move(descriptors.front());
    descriptors.erase(descriptors.begin());
  }
  if (unwanted != nullptr)
    std::move(descriptors.begin(), descriptors.end(), std::back_inserter(*unwanted));
  if (size == 0) return ended();
  if (!is_message) return fail(ErrorCode::corrupt, "not a message of hoistd's protocol (socket)");
  return received;
}

Status send_text(int socket, std::string_view text) {
  if (::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return {};
  return system_error("send");
}

Result<std::string> receive_text(int socket, int milliseconds, size_t size) {
  const Result<bool> ready = wait_for_packet(socket, milliseconds);
  if (!ready) return ready.error();
  std::string text(size, '\0');
  const ssize_t got = *ready ? ::recv(socket, text.data(), size, MSG_DONTWAIT) : 0;
  if (got < 0) return system_error("receive");
  if (got == 0) return fail(ErrorCode::unavailable, "no answer (hoistd's socket)");
  text.resize(static_cast<size_t>(got));
  return text;
}

}  // namespace hoist::device::remote
