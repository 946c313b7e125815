#include "cli/stats_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/output_file.h"

namespace hoist::cli {
namespace {

// Counters::to_json() begins so.
bool is_statistics(int fd) {
  constexpr std::string_view kHead = "{\"programs\":[";
  char head[kHead.size()];
  const Result<size_t> read = pread_full(fd, head, sizeof head, 0);
  return read && std::string_view(head, *read) == kHead;
}

const OutputRule& rule() {
  static const OutputRule kRule = {
      .replace = Replace::own_kind,
      .is_own_kind = is_statistics,
      .kind = "statistics of an earlier run",
      .mend = "choose another name for --stats or HOIST_STATS, or remove it"};
  return kRule;
}

bool accepts(const std::string& path, int mode) { return ::access(path.c_str(), mode) == 0; }

}  // namespace

Result<StatsFile> StatsFile::find(const std::string& name) {
  if (name.empty()) {
    return fail(ErrorCode::invalid_argument,
                "an empty name (--stats=): name a file, or leave out the = for standard error");
  }
  const auto cannot_write = [&] {
    return fail(ErrorCode::io, fmt::format("cannot write {} ({}): give a file in a folder that you "
                                           "may write",
                                           name, std::strerror(errno)));
  };
  const Result<OutputPlace> place = find_output_place(name);
  if (!place) return place.error();
  StatsFile file;
  file.path_ = place->path;
  if (place->descriptor >= 0) {
    const int flags = ::fcntl(place->descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) errno = EBADF;
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return cannot_write();
    return file;
  }
  const bool folder_takes_files = accepts(folder_of(file.path_), W_OK | X_OK);
  if (place->holds == OutputPlace::Holds::nothing) {
    if (!folder_takes_files) return cannot_write();
    return file;
  }
  if (!accepts(file.path_, W_OK)) return cannot_write();
  if (Status allowed = check_replaceable(*place, rule()); !allowed) {
    return allowed.error();
  }
  file.in_place_ = place->holds == OutputPlace::Holds::file &&
                   (is_kernels(file.path_) || !folder_takes_files || place->info.st_nlink > 1 ||
                    place->info.st_uid != ::geteuid());
  return file;
}

Status StatsFile::write(std::string_view text) const {
  if (!in_place_) return write_output(path_, text, rule());
  // The program that ran may have put something else there.
  const Result<OutputPlace> place = find_output_place(path_);
  if (!place) return place.error();
  if (Status allowed = check_replaceable(*place, rule()); !allowed) return allowed;
  const Result<UniqueFd> file = open_file(path_, O_WRONLY | O_TRUNC);
  if (!file) return file.error();
  return write_full(file->get(), text.data(), text.size(), path_);
}

}  // namespace hoist::cli
