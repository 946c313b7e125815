#include "base/output_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

namespace hoist {
namespace {

using Holds = OutputPlace::Holds;

Error cannot_write(const std::string& name, std::string_view why) {
  const int code = errno;
  return fail(code == ENOENT ? ErrorCode::not_found : ErrorCode::io,
              fmt::format("cannot write {} ({}{}): choose a place where you may write", name, why,
                          std::strerror(code)),
              code);
}

bool same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

Error exists(const OutputPlace& there, const OutputRule& rule) {
  const std::string what = rule.replace == Replace::own_kind
                               ? fmt::format("not {}", rule.kind)
                               : fmt::format("a file of {} bytes", there.info.st_size);
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} exists ({}): {}", there.shown, what, rule.mend));
}

bool is_own_kind(const OutputPlace& there, const OutputRule& rule) {
  if (there.info.st_size == 0) return true;
  const Result<UniqueFd> fd = open_file(there.path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat opened {};
  return fd && ::fstat(fd->get(), &opened) == 0 && same_file(opened, there.info) &&
         rule.is_own_kind(fd->get());
}

std::string temporary_name(const std::string& path) {
  std::random_device random;
  return fmt::format("{}/.hoist-{:08x}{:08x}.tmp", folder_of(path), random(), random());
}

std::string path_of_descriptor(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

// A file that holds nothing keeps the name, so that what stood there before is never replaced.
// Where a file system can neither rename without replacing nor link.
bool rename_onto_reserved(const std::string& from, const std::string& to) {
  const Result<UniqueFd> reserved = open_file(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!reserved) {
    errno = reserved.error().system_errno;
    return false;
  }
  if (::rename(from.c_str(), to.c_str()) == 0) return true;
  const int code = errno;
  ::unlink(to.c_str());
  errno = code;
  return false;
}

// Fails with EEXIST where `to` is there.
bool rename_without_replacing(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return true;
  }
  if (errno == EEXIST) return false;
  return rename_onto_reserved(from, to);
}

bool exchange_names(const std::string& one, const std::string& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

// Puts `from` in the place of `to`, which keeps its content under the name `aside`. Where a file
// system cannot exchange names.
bool rename_keeping(const std::string& from, const std::string& to, const std::string& aside) {
  const bool has_both_names = ::link(to.c_str(), aside.c_str()) == 0;
  if (!has_both_names && ::rename(to.c_str(), aside.c_str()) != 0) return false;
  if (::rename(from.c_str(), to.c_str()) == 0) return true;
  const int code = errno;
  if (has_both_names) {
    ::unlink(aside.c_str());
  } else {
    ::rename(aside.c_str(), to.c_str());
  }
  errno = code;
  return false;
}

}  // namespace

Status check_replaceable(const OutputPlace& there, const OutputRule& rule) {
  if (there.holds != Holds::file) return {};
  for (const std::string& input : rule.inputs) {
    struct stat read {};
    if (::stat(input.c_str(), &read) != 0 || !same_file(read, there.info)) continue;
    return fail(ErrorCode::invalid_argument,
                fmt::format("input and output are the same file ({}): name a new one", input));
  }
  if (rule.replace == Replace::any) return {};
  if (rule.replace == Replace::own_kind && is_own_kind(there, rule)) return {};
  return exists(there, rule);
}

Status check_output(const std::string& name, const OutputRule& rule) {
  const Result<OutputPlace> there = find_output_place(name);
  if (!there) return there.error();
  if (Status allowed = check_replaceable(*there, rule); !allowed) return allowed;
  if (there->holds == Holds::special) return {};
  if (::access(folder_of(there->path).c_str(), W_OK | X_OK) == 0) return {};
  return cannot_write(name, "its folder: ");
}

Result<OutputFile> OutputFile::create(const std::string& name, OutputRule rule, mode_t mode) {
  Result<OutputPlace> place = find_output_place(name);
  if (!place) return place.error();
  if (Status allowed = check_replaceable(*place, rule); !allowed) return allowed.error();
  OutputFile file(name, std::move(rule));
  file.place_ = std::move(*place);
  const bool is_special = file.place_.holds == Holds::special;
  Status opened = is_special ? file.open_special() : file.open_temporary(mode);
  if (!opened) return opened.error();
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : name_(std::move(other.name_)),
      rule_(std::move(other.rule_)),
      place_(std::move(other.place_)),
      process_(other.process_),
      fd_(std::move(other.fd_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      temporary_(std::exchange(other.temporary_, {})),
      replaced_(std::exchange(other.replaced_, {})),
      is_new_(other.is_new_),
      pending_(std::exchange(other.pending_, false)) {}

OutputFile::~OutputFile() {
  if (!process_.is_current()) return;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  settle();
}

Status OutputFile::open_special() {
  if (place_.descriptor >= 0) {
    const int flags = ::fcntl(place_.descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) errno = EBADF;
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return cannot_write(name_, "");
    descriptor_ = place_.descriptor;
    return {};
  }
  Result<UniqueFd> fd = open_file(place_.path, O_WRONLY | O_APPEND | O_NOCTTY);
  if (!fd) return fd.error();
  fd_ = PrivateFd(std::move(*fd));
  return {};
}

Status OutputFile::open_temporary(mode_t mode) {
  pending_ = true;
  Result<UniqueFd> fd = open_file(folder_of(place_.path), O_TMPFILE | O_RDWR, mode);
  // Only /proc can give such a file a name.
  if (!fd || ::access(path_of_descriptor(fd->get()).c_str(), F_OK) != 0) {
    const std::string temporary = temporary_name(place_.path);
    fd = open_file(temporary, O_CREAT | O_EXCL | O_RDWR, mode);
    if (fd) temporary_ = temporary;
  }
  if (!fd) {
    errno = fd.error().system_errno;
    return cannot_write(name_, "its folder: ");
  }
  fd_ = PrivateFd(std::move(*fd));
  return {};
}

Status OutputFile::give_temporary_name() {
  if (!temporary_.empty()) return {};
  const std::string temporary = temporary_name(place_.path);
  if (::linkat(AT_FDCWD, path_of_descriptor(fd()).c_str(), AT_FDCWD, temporary.c_str(),
               AT_SYMLINK_FOLLOW) != 0) {
    return cannot_write(name_, "");
  }
  temporary_ = temporary;
  return {};
}

Status OutputFile::put_new() {
  const std::string& path = place_.path;
  bool done = false;
  if (temporary_.empty()) {
    done = ::linkat(AT_FDCWD, path_of_descriptor(fd()).c_str(), AT_FDCWD, path.c_str(),
                    AT_SYMLINK_FOLLOW) == 0;
  } else {
    done = rename_without_replacing(temporary_, path);
    if (done) temporary_.clear();
  }
  if (!done) return cannot_write(name_, "");
  pending_ = false;
  is_new_ = true;
  return {};
}

Status OutputFile::put_over(const OutputPlace& there, bool keep_replaced) {
  if (Status named = give_temporary_name(); !named) return named;
  const bool keep = rule_.keep_permissions;
  // Another owner only where that is possible; then before the mode, which a change may reduce.
  if (keep && there.info.st_uid != ::geteuid() &&
      ::fchown(fd(), there.info.st_uid, there.info.st_gid) != 0) {
    errno = 0;
  }
  if (keep && ::fchmod(fd(), there.info.st_mode & 0777U) != 0) return cannot_write(name_, "");
  if (rule_.replace == Replace::any && !keep_replaced) {
    if (::rename(temporary_.c_str(), place_.path.c_str()) != 0) return cannot_write(name_, "");
    temporary_.clear();
    pending_ = false;
    return {};
  }
  std::string aside = temporary_;  // the name of what was replaced
  if (!exchange_names(temporary_, place_.path)) {
    aside = temporary_name(place_.path);
    const bool can_exchange = errno != EINVAL && errno != ENOSYS;
    if (can_exchange || !rename_keeping(temporary_, place_.path, aside)) {
      return cannot_write(name_, "");
    }
  }
  struct stat replaced {};
  if (rule_.replace == Replace::own_kind &&
      (::lstat(aside.c_str(), &replaced) != 0 || !same_file(replaced, there.info))) {
    // Somebody put another file there after it was looked at.
    if (aside == temporary_) {
      exchange_names(temporary_, place_.path);
    } else {
      ::rename(aside.c_str(), place_.path.c_str());
      temporary_.clear();  // what had it is gone
    }
    return exists(there, rule_);
  }
  replaced_ = aside;
  temporary_.clear();
  pending_ = false;
  if (!keep_replaced) settle();
  return {};
}

Status OutputFile::put(bool keep_replaced) {
  if (!process_.is_current()) {
    return fail(
        ErrorCode::unavailable,
        fmt::format("this process is a fork of the one that writes {}: write there", name_));
  }
  // What came or went between the look and the call is looked at again.
  constexpr int kMaximumLooks = 100;
  for (int look = 1;; ++look) {
    OutputPlace there = place_;
    there.holds = Holds::nothing;
    if (::lstat(place_.path.c_str(), &there.info) == 0) {
      there.holds = S_ISREG(there.info.st_mode) ? Holds::file : Holds::special;
    }
    if (there.holds == Holds::special) {
      return fail(ErrorCode::io, fmt::format("{} has become something else than a file: choose "
                                             "another name",
                                             name_));
    }
    if (Status allowed = check_replaceable(there, rule_); !allowed) return allowed;
    const Status done = there.holds == Holds::nothing ? put_new() : put_over(there, keep_replaced);
    const int code = done ? 0 : done.error().system_errno;
    if (done || look == kMaximumLooks || (code != EEXIST && code != ENOENT)) return done;
  }
}

Status OutputFile::publish(bool durable) {
  if (!pending_) return {};
  if (process_.is_current() && durable && ::fdatasync(fd()) != 0 && errno != EINVAL &&
      errno != EROFS) {
    return cannot_write(name_, "");
  }
  if (Status done = put(/*keep_replaced=*/false); !done) return done;
  return durable ? sync_folder(folder_of(place_.path)) : Status();
}

void OutputFile::settle() {
  if (!replaced_.empty()) ::unlink(std::exchange(replaced_, {}).c_str());
}

void OutputFile::withdraw() {
  if (pending_ || place_.holds == Holds::special || !process_.is_current()) return;
  if (is_new_) {
    ::unlink(place_.path.c_str());
  } else if (!replaced_.empty()) {
    ::rename(std::exchange(replaced_, {}).c_str(), place_.path.c_str());
  }
}

Status OutputFile::publish_all(std::vector<OutputFile>& files, bool durable) {
  for (OutputFile& file : files) {
    if (!durable || !file.pending_ || !file.process_.is_current()) continue;
    if (::fdatasync(file.fd()) != 0 && errno != EINVAL) return cannot_write(file.name_, "");
  }
  for (size_t i = 0; i < files.size(); ++i) {
    const Status done = files[i].pending_ ? files[i].put(/*keep_replaced=*/true) : Status();
    if (done) continue;
    for (size_t before = 0; before <= i; ++before) files[before].withdraw();
    return done;
  }
  // All files are there from here on, also where it cannot be said that they would outlive a power
  // cut.
  Status synced;
  for (OutputFile& file : files) {
    file.settle();
    if (synced && durable) synced = sync_folder(folder_of(file.place_.path));
  }
  return synced;
}

Status write_output(const std::string& name, std::string_view content, const OutputRule& rule,
                    mode_t mode) {
  Result<OutputFile> file = OutputFile::create(name, rule, mode);
  if (!file) return file.error();
  if (Status written = write_full(file->fd(), content.data(), content.size(), name); !written) {
    return written;
  }
  return file->publish();
}

}  // namespace hoist
