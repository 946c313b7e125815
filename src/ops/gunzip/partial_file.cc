#include "ops/gunzip/partial_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/crash_fallback.h"

namespace hoist::gunzip {
namespace {

constexpr std::array<int, 6> kSignals = {SIGINT, SIGHUP, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};

// For the signal handler: the file to remove, or null. Changed with the signals blocked.
const char* volatile file_to_remove = nullptr;

void set_file_to_remove(const char* path) {
  file_to_remove = path;
  remove_on_crash(path);
}

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kSignals) sigaddset(&set, signal);
  return set;
}

class BlockedSignals {
 public:
  BlockedSignals() {
    const sigset_t set = handled_signals();
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

void remove_and_die(int signal) {
  if (file_to_remove != nullptr) ::unlink(file_to_remove);
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // delivered when the handler returns
}

}  // namespace

void remove_partial_file_on_signals() {
  struct sigaction action = {};
  action.sa_handler = remove_and_die;
  action.sa_mask = handled_signals();
  for (const int signal : kSignals) {
    struct sigaction before;
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
      ::sigaction(signal, &action, nullptr);
    }
  }
}

int PartialFile::create(const std::string& path) {
  const BlockedSignals blocked;
  Result<UniqueFd> opened = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!opened) return opened.error().system_errno;
  fd_ = std::move(*opened);
  path_ = path;
  set_file_to_remove(path_.c_str());
  return 0;
}

void PartialFile::discard() {
  const BlockedSignals blocked;
  fd_.reset();
  if (file_to_remove != nullptr) ::unlink(file_to_remove);
  set_file_to_remove(nullptr);
}

PartialFile::Attributes PartialFile::copy_attributes(const struct stat& source,
                                                     const timespec& modification_time) {
  Attributes result;
  const timespec times[2] = {source.st_atim, modification_time};
  if (::futimens(fd_.get(), times) != 0) result.times_errno = errno;
  // The owner last: who gives the file away may not change it any more.
  static_cast<void>(!::fchown(fd_.get(), static_cast<uid_t>(-1), source.st_gid));
  if (::fchmod(fd_.get(), source.st_mode & 0777) != 0) result.mode_errno = errno;
  static_cast<void>(!::fchown(fd_.get(), source.st_uid, static_cast<gid_t>(-1)));
  return result;
}

int PartialFile::finish() {
  if (::close(fd_.release()) == 0) return 0;
  const int error = errno;
  discard();
  return error;
}

int PartialFile::replace(const std::string& input) {
  const BlockedSignals blocked;
  set_file_to_remove(nullptr);
  return ::unlink(input.c_str()) == 0 ? 0 : errno;
}

}  // namespace hoist::gunzip
