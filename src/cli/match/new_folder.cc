#include "cli/match/new_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file.h"

namespace hoist::cli {
namespace {

namespace fs = std::filesystem;

bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

bool is_index(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(path + "/service.db", ignored)) return false;  // a service has its nodes there
  return fs::is_regular_file(path + "/snapshot.hoist", ignored) ||
         fs::is_regular_file(path + "/store/CURRENT", ignored);
}

bool is_within(const std::string& file, const std::string& folder) {
  std::error_code ignored;
  const std::string inner = fs::canonical(file, ignored);
  const std::string outer = fs::canonical(folder, ignored);
  return !outer.empty() && inner.starts_with(outer + "/");
}

// Held while the index is replaced, so that nobody who learns loses anything.
Result<UniqueFd> lock(const std::string& path) {
  Result<UniqueFd> folder = open_file(path, O_RDONLY | O_DIRECTORY);
  if (!folder || ::flock(folder->get(), LOCK_EX | LOCK_NB) == 0) return folder;
  return fail(ErrorCode::unavailable,
              fmt::format("another process writes to the index ({}): end it, or choose another "
                          "name",
                          path));
}

Error cannot_rename(const std::string& path) {
  return fail(ErrorCode::io, fmt::format("cannot rename to ({}: {})", path, std::strerror(errno)),
              errno);
}

}  // namespace

NewFolder::NewFolder(const std::string& path, bool force) : path_(path), force_(force) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  // A link stays, and the index that it leads to is replaced.
  std::error_code error;
  const fs::path target = fs::canonical(path_, error);
  if (force_ && !error) path_ = target;
  temporary_ = fmt::format("{}.{}.part", path_, ::getpid());
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
}

Status NewFolder::check(const std::string& input) const {
  if (!is_there(path_)) return {};
  if (!force_) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} exists ({}): {}choose another name", path_,
                            is_index(path_) ? "an index" : "not an index",
                            is_index(path_) ? "pass --force to replace it, or " : ""));
  }
  if (!is_index(path_)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} exists (not an index, which alone --force replaces): choose "
                            "another name",
                            path_));
  }
  if (is_within(input, path_)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the input lies in the index that would be replaced ({}): choose "
                            "another name",
                            input));
  }
  const Result<UniqueFd> locked = lock(path_);
  return locked ? Status() : locked.error();
}

Status NewFolder::replace() {
  const Result<UniqueFd> locked = lock(path_);
  if (!locked) return locked.error();
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    return {};  // the old one, which has the temporary name now, goes with this object
  }
  if (errno != EINVAL && errno != ENOSYS) return cannot_rename(path_);
  // A file system that cannot exchange names.
  const std::string aside = fmt::format("{}.{}.old", path_, ::getpid());
  if (::rename(path_.c_str(), aside.c_str()) != 0) return cannot_rename(path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const Status failed = cannot_rename(path_);
    if (::rename(aside.c_str(), path_.c_str()) == 0) return failed;
    return fail(ErrorCode::io, fmt::format("cannot rename to {} ({}): the index that was there is "
                                           "{} now, rename it back",
                                           path_, std::strerror(errno), aside));
  }
  std::error_code ignored;
  fs::remove_all(aside, ignored);
  return {};
}

Status NewFolder::publish() {
  if (Status allowed = check(temporary_); !allowed) return allowed;
  if (is_there(path_)) return replace();
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) {
    return {};
  }
  if (errno == EEXIST) {  // it has come meanwhile
    if (Status refused = check(temporary_); !refused) return refused;
    return replace();
  }
  // A file system that cannot refuse by itself: a folder replaces none that holds anything.
  const bool can_refuse = errno != EINVAL && errno != ENOSYS;
  if (can_refuse || ::rename(temporary_.c_str(), path_.c_str()) != 0) return cannot_rename(path_);
  return {};
}

}  // namespace hoist::cli
