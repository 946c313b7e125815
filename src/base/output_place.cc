#include "base/output_place.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

namespace hoist {
namespace {

namespace fs = std::filesystem;

constexpr int kMaximumLinks = 40;  // as the kernel's

// The descriptor that /dev/stdout, /dev/fd/N or /proc/self/fd/N stands for. Opening those anew
// would start at the file's beginning, over what was written there already.
std::optional<int> descriptor_of(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const char* end = path.data() + path.size();
    int number = -1;
    const auto [rest, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (error == std::errc() && rest == end) return number;
  }
  return std::nullopt;
}

// Follows links until there is none, or one is in /dev or /proc and leads we know not where.
Result<std::string> follow(const std::string& name) {
  std::error_code error;
  fs::path path = fs::absolute(name, error);
  if (error) return name;  // opening it will say why
  for (int links = 0; links < kMaximumLinks; ++links) {
    const fs::path folder = fs::canonical(path.parent_path(), error);
    if (error) return path.string();
    const fs::path resolved = folder / path.filename();
    if (is_kernels(resolved)) return is_kernels(path) ? path.string() : resolved.string();
    if (!fs::is_symlink(resolved, error)) return resolved.string();
    path = folder / fs::read_symlink(resolved, error);  // an absolute one replaces the folder
  }
  return fail(ErrorCode::io,
              fmt::format("too many symbolic links ({}): name the file itself", name));
}

}  // namespace

bool is_kernels(const std::string& path) {
  const bool is_device = path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
  return is_device || path.starts_with("/proc/");
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<OutputPlace> find_output_place(const std::string& name) {
  if (name.empty()) return fail(ErrorCode::invalid_argument, "an empty name of an output: name it");
  const auto folder = [&] {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the output is a folder ({}): name a file in it", name));
  };
  if (name.ends_with('/')) return folder();
  Result<std::string> path = follow(name);
  if (!path) return path.error();
  OutputPlace place;
  std::error_code ignored;
  const bool is_link = fs::is_symlink(name, ignored);
  place.shown = is_link ? fmt::format("{}, which leads to {}", name, *path) : name;
  place.path = std::move(*path);
  if (const std::optional<int> descriptor = descriptor_of(place.path)) {
    place.descriptor = *descriptor;
    place.holds = OutputPlace::Holds::special;
    ::fstat(*descriptor, &place.info);
    return place;
  }
  // A link is left only in /dev and /proc, and what it leads to is what counts.
  if (::stat(place.path.c_str(), &place.info) != 0) {
    if (errno == ENOENT) return place;
    return fail(
        ErrorCode::io,
        fmt::format("cannot write ({}: {}): name another place", name, std::strerror(errno)),
        errno);
  }
  if (S_ISDIR(place.info.st_mode)) return folder();
  place.holds =
      S_ISREG(place.info.st_mode) ? OutputPlace::Holds::file : OutputPlace::Holds::special;
  return place;
}

}  // namespace hoist
