// How Job finds its operands: files, directory trees, standard input; and which it refuses.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "ops/gunzip/file_name.h"
#include "ops/gunzip/job.h"
#include "ops/gunzip/original.h"

namespace hoist::gunzip {
namespace {

// gzip keeps paths in arrays of 1024 bytes; what comes near that is its own business.
constexpr size_t kMaxPath = 1000;

}  // namespace

Job::Next Job::process(const std::string& word) {
  if (word == "-") return process_stdin();
  if (word.size() > kMaxPath) {
    original_reason_ = "long path";
    return Next::original;
  }
  return process_file(word);
}

Job::Next Job::process_stdin() {
  Operand operand;
  operand.name = "stdin";
  operand.output_name = "stdout";
  operand.fd = STDIN_FILENO;
  operand.is_stdin = operand.to_stdout = true;
  if (::fstat(STDIN_FILENO, &operand.info) != 0) operand.info = {};
  operand.time = operand.info.st_mtim;
  // A listing that turns out to be the original's job must be able to start over.
  if (!begins_with_gzip_magic(STDIN_FILENO, operand.info) ||
      (options_.list && !S_ISREG(operand.info.st_mode))) {
    original_reason_ = "standard input";
    return Next::original;
  }
  operand.start = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (stdin_start_ < 0) stdin_start_ = operand.start;
  return decode(operand);
}

bool Job::open_input(const std::string& path, Operand& operand, UniqueFd& fd) {
  int flags = O_RDONLY | O_NOCTTY | O_NONBLOCK;
  if (!options_.to_stdout && !options_.force) flags |= O_NOFOLLOW;
  operand.name = path;
  Result<UniqueFd> opened = open_file(path, flags);
  if (!opened && opened.error().system_errno == ENOENT &&
      !uncompressed_name(path, options_.suffix)) {
    const std::vector<std::string> names = names_with_suffix(path, options_.suffix);
    for (const std::string& name : names) {
      operand.name = name;
      opened = open_file(name, flags);
      if (opened || opened.error().system_errno != ENOENT) break;
    }
    if (!opened && opened.error().system_errno == ENOENT) operand.name = names.front();
  }
  if (!opened) {
    report_.error(error_text(operand.name, opened.error().system_errno));
    return false;
  }
  fd = std::move(*opened);
  operand.fd = fd.get();
  return true;
}

Job::Next Job::process_file(const std::string& path) {
  Operand operand;
  UniqueFd fd;
  if (!open_input(path, operand, fd)) return Next::proceed;
  if (::fstat(fd.get(), &operand.info) != 0) {
    report_.error(error_text(operand.name, errno));
    return Next::proceed;
  }
  if (S_ISDIR(operand.info.st_mode)) {
    if (options_.recursive) return push_directory(std::move(fd), operand.name);
    report_.warning(operand.name + " is a directory -- ignored");
    return Next::proceed;
  }
  operand.to_stdout = options_.to_stdout;
  operand.time = operand.info.st_mtim;
  if (refuse(operand)) return Next::proceed;
  if (operand.to_stdout && writes()) {
    operand.output_name = "stdout";
  } else if (const auto name = uncompressed_name(operand.name, options_.suffix)) {
    operand.output_name = *name;
  } else if (!options_.recursive && !writes()) {
    operand.output_name = operand.name;
  } else {
    if (options_.verbose || (!options_.recursive && !options_.quiet)) {
      report_.warning(operand.name + ": unknown suffix -- ignored");
    }
    return Next::proceed;
  }
  if (!S_ISREG(operand.info.st_mode)) {
    make_blocking(operand.fd);
    if (options_.list || !begins_with_gzip_magic(operand.fd, operand.info)) {
      original_reason_ = "not a regular file";
      return Next::original;
    }
  }
  return decode(operand);
}

Job::Next Job::push_directory(UniqueFd fd, const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(fd.get()), ::closedir);
  if (!directory) {
    report_.error(error_text(path, errno));
    return Next::proceed;
  }
  fd.release();
  std::vector<std::string> entries;
  errno = 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    entries.push_back(path + (path.ends_with('/') ? "" : "/") + std::string(name));
  }
  if (errno != 0) report_.error(error_text(path, errno));
  pending_.insert(pending_.end(), entries.rbegin(), entries.rend());
  return Next::proceed;
}

// Files that are not replaced by their contents.
bool Job::refuse(const Operand& operand) {
  if (operand.to_stdout) return false;
  const mode_t mode = operand.info.st_mode;
  const std::string& name = operand.name;
  if (!S_ISREG(mode)) {
    report_.warning(name + " is not a directory or a regular file - ignored");
  } else if (mode & S_ISUID) {
    report_.warning(name + " is set-user-ID on execution - ignored");
  } else if (mode & S_ISGID) {
    report_.warning(name + " is set-group-ID on execution - ignored");
  } else if (!options_.force && (mode & S_ISVTX)) {
    report_.warning(name + " has the sticky bit set - file ignored");
  } else if (!options_.force && operand.info.st_nlink > 1) {
    const auto others = static_cast<unsigned long>(operand.info.st_nlink - 1);
    report_.warning(name + " has " + std::to_string(others) + " other link" +
                    (others == 1 ? "" : "s") + " -- file ignored");
  } else {
    return false;
  }
  return true;
}

}  // namespace hoist::gunzip
