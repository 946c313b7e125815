#include "daemon/endpoint.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/options.h"

namespace hoist::daemon {
namespace {

constexpr int kFirstPassed = 3;  // SD_LISTEN_FDS_START

// sd_listen_fds(3), without its library.
std::optional<UniqueFd> passed_socket() {
  const char* pid = std::getenv("LISTEN_PID");
  const char* count = std::getenv("LISTEN_FDS");
  if (pid == nullptr || count == nullptr || std::strtol(pid, nullptr, 10) != ::getpid() ||
      std::strcmp(count, "1") != 0) {
    return std::nullopt;
  }
  ::fcntl(kFirstPassed, F_SETFD, FD_CLOEXEC);
  ::fcntl(kFirstPassed, F_SETFL, O_NONBLOCK);
  return UniqueFd(kFirstPassed);
}

// A path that was named is taken as it is; the default one's folder is made, for its owner alone,
// or where a group may connect, for others to pass through.
Result<std::string> path_to_listen_at(const Options& options) {
  if (!options.socket.empty()) return options.socket;
  if (const char* named = option_text(OptionId::socket); *named != '\0') return std::string(named);
  Result<std::string> path = ::geteuid() == 0 ? std::string(device::remote::kSystemSocketPath)
                                              : device::remote::user_socket_path();
  if (path) {
    const std::filesystem::path folder = std::filesystem::path(*path).parent_path();
    ::mkdir(folder.c_str(), options.group.empty() ? 0700 : 0755);
  }
  return path;
}

Result<std::optional<gid_t>> group_number(const std::string& name) {
  if (name.empty()) return std::nullopt;
  const group* const entry = ::getgrnam(name.c_str());
  if (entry == nullptr) {
    return fail(ErrorCode::invalid_argument, fmt::format("no group {} (--group)", name));
  }
  return entry->gr_gid;
}

}  // namespace

Result<Endpoint> open_endpoint(const Options& options) {
  Endpoint endpoint;
  if (std::optional<UniqueFd> passed = passed_socket()) {
    endpoint.listener.socket = std::move(*passed);
    endpoint.for_others = endpoint.inherited = true;
    endpoint.path = "the socket that systemd passed";
    return endpoint;
  }
  const Result<std::string> path = path_to_listen_at(options);
  if (!path) return path.error();
  const Result<std::optional<gid_t>> group = group_number(options.group);
  if (!group) return group.error();
  Result<device::remote::Listener> listener = device::remote::listen_at(*path, *group);
  if (!listener) return listener.error();
  endpoint.listener = std::move(*listener);
  endpoint.path = *path;
  endpoint.for_others = group->has_value();
  return endpoint;
}

Result<UniqueFd> listen_on_loopback(uint16_t port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  if (!socket.valid() ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), 16) != 0) {
    const int code = errno;
    return fail(
        ErrorCode::io,
        fmt::format("cannot listen at 127.0.0.1:{} (--metrics): {}", port, std::strerror(code)),
        code);
  }
  return socket;
}

}  // namespace hoist::daemon
