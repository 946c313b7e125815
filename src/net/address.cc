#include "net/address.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

namespace hoist::net {
namespace {

constexpr int kBacklog = 4096;   // the system's own limit may be lower
constexpr int kFirstPassed = 3;  // SD_LISTEN_FDS_START

Error cannot_listen(std::string_view address, std::string_view why, int code = 0) {
  return fail(code == 0 ? ErrorCode::invalid_argument : ErrorCode::io,
              fmt::format("cannot listen at {}: {}", address, why), code);
}

Error cannot_listen(std::string_view address) {
  const int code = errno;
  return cannot_listen(address, std::strerror(code), code);
}

template <typename Address>
socklen_t local_name(int socket, Address& address) {
  socklen_t size = sizeof address;
  return ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0 ? size : 0;
}

// Whether the file is a socket that refuses: its server is gone.
bool is_abandoned(const sockaddr_un& address) {
  struct stat status = {};
  if (::stat(address.sun_path, &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

Result<std::vector<UniqueFd>> alone(Result<UniqueFd> socket) {
  if (!socket) return socket.error();
  std::vector<UniqueFd> sockets;
  sockets.push_back(std::move(*socket));
  return sockets;
}

Result<UniqueFd> listen_unix(std::string_view text, std::string_view path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return cannot_listen(text,
                         fmt::format("a path has 1 to {} bytes", sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return cannot_listen(text);
  if (is_abandoned(address)) ::unlink(address.sun_path);
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return cannot_listen(text);
  }
  return socket;
}

Result<UniqueFd> listen_resolved(std::string_view text, const addrinfo& found,
                                 bool is_one_of_several) {
  UniqueFd socket(::socket(found.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return cannot_listen(text);
  const int one = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  // "localhost" is often both, and no host at all is; [::] alone takes IPv4 clients, too.
  if (found.ai_family == AF_INET6 && is_one_of_several) {
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  }
  if (::bind(socket.get(), found.ai_addr, found.ai_addrlen) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return cannot_listen(text);
  }
  return socket;
}

Result<std::vector<UniqueFd>> listen_internet(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return cannot_listen(text, "write HOST:PORT or unix:/PATH");
  const std::string port(text.substr(colon + 1));
  std::string host(text.substr(0, colon));
  unsigned number = 0;
  const auto parsed = std::from_chars(port.data(), port.data() + port.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != port.data() + port.size() || number > 65535) {
    return cannot_listen(text, "a port is a number from 0 to 65535");
  }
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    return cannot_listen(text, "write an IPv6 address in brackets: [::1]:8000");
  }
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code =
      ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  if (code != 0) return cannot_listen(text, ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<UniqueFd> sockets;
  Result<UniqueFd> last = cannot_listen(text, "it has no address");
  for (const addrinfo* each = found; each; each = each->ai_next) {
    last = listen_resolved(text, *each, found->ai_next != nullptr);
    if (last) {
      sockets.push_back(std::move(*last));
      if (number == 0) break;
    } else if (last.error().system_errno != EADDRNOTAVAIL &&
               last.error().system_errno != EAFNOSUPPORT) {
      return last.error();
    }
  }
  if (sockets.empty()) return last.error();
  return sockets;
}

std::optional<int> environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (!text) return std::nullopt;
  int number = 0;
  const auto parsed = std::from_chars(text, text + std::strlen(text), number);
  if (parsed.ec != std::errc() || *parsed.ptr != '\0') return std::nullopt;
  return number;
}

Result<std::vector<UniqueFd>> take_passed(std::string_view text) {
  const auto process = environment_number("LISTEN_PID");
  const auto count = environment_number("LISTEN_FDS");
  if (!process || *process != ::getpid() || !count || *count < 1 || *count > 1024) {
    return cannot_listen(text, "the service manager passed no socket (LISTEN_FDS)");
  }
  // Programs that this one starts are not meant.
  ::unsetenv("LISTEN_PID");
  ::unsetenv("LISTEN_FDS");
  ::unsetenv("LISTEN_FDNAMES");
  std::vector<UniqueFd> sockets;
  for (int fd = kFirstPassed; fd < kFirstPassed + *count; ++fd) {
    UniqueFd socket(fd);
    int listens = 0;
    socklen_t size = sizeof listens;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) {
      return cannot_listen(text, fmt::format("descriptor {} does not listen", fd));
    }
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

std::string host_of(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  } else if (address.ss_family == AF_INET6) {
    const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&v6)) {
      ::inet_ntop(AF_INET, &v6.s6_addr[12], text, sizeof text);
    } else {
      ::inet_ntop(AF_INET6, &v6, text, sizeof text);
    }
  }
  return text;
}

}  // namespace

Result<std::vector<UniqueFd>> listen_at(std::string_view address) {
  if (address == "systemd") return take_passed(address);
  constexpr std::string_view kUnix = "unix:";
  if (!address.starts_with(kUnix)) return listen_internet(address);
  return alone(listen_unix(address, address.substr(kUnix.size())));
}

std::string listening_address(int socket) {
  sockaddr_storage address = {};
  const socklen_t size = local_name(socket, address);
  if (address.ss_family == AF_UNIX) {
    const auto& local = reinterpret_cast<const sockaddr_un&>(address);
    const size_t most =
        size > offsetof(sockaddr_un, sun_path) ? size - offsetof(sockaddr_un, sun_path) : 0;
    return "unix:" + std::string(local.sun_path, ::strnlen(local.sun_path, most));
  }
  if (address.ss_family == AF_INET6) {
    return fmt::format("[{}]:{}", host_of(address),
                       ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port));
  }
  return fmt::format("{}:{}", host_of(address),
                     ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port));
}

std::string peer_address(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return address.ss_family == AF_UNIX ? "unix" : host_of(address);
}

}  // namespace hoist::net
