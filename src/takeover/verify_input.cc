#include "takeover/verify_input.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/file.h"
#include "takeover/verify_files.h"

namespace hoist {
namespace {

constexpr size_t kBlock = 256 << 10;

// The kernel makes up the files of /proc as they are read. Only such a file may hold more than the
// nothing that its size says.
bool is_made_up(const std::string& name, const struct stat& info) {
  struct statfs system;
  return info.st_size == 0 &&
         (::statfs(name.c_str(), &system) != 0 || system.f_type == PROC_SUPER_MAGIC);
}

bool same_file_state(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

// What was read of a stream: the file, then the block.
struct Spool {
  UniqueFd file = temporary_file();
  uint64_t size = 0;
  std::vector<char> block = std::vector<char>(kBlock);
  size_t in_block = 0;

  bool empty() const { return size == 0 && in_block == 0; }
};

enum class Copied { all, part };

Copied copy_input(Spool& spool) {
  const IgnoredSignal no_signal(SIGXFSZ);
  if (!spool.file.valid()) return Copied::part;
  while (true) {
    ssize_t got;
    do {
      got = ::read(STDIN_FILENO, spool.block.data(), kBlock);
    } while (got < 0 && errno == EINTR);
    // An error is left for the program itself to find.
    if (got < 0) return Copied::part;
    if (got == 0) return Copied::all;
    spool.in_block = static_cast<size_t>(got);
    if (!pwrite_full(spool.file.get(), spool.block.data(), spool.in_block, spool.size)) {
      return Copied::part;
    }
    spool.size += spool.in_block;
    spool.in_block = 0;
  }
}

void copy(int from, int to, std::vector<char>& block) {
  while (true) {
    const ssize_t got = ::read(from, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || !write_full(to, block.data(), static_cast<size_t>(got))) return;
  }
}

[[noreturn]] void feed(Spool& spool, int to, pid_t reader) {
  // It must not outlive its reader: the rest of the stream belongs to others then.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != reader) ::_exit(0);
  ::close(STDOUT_FILENO);
  ::close(STDERR_FILENO);
  std::vector<char> first(kBlock);
  bool going_on = true;
  for (uint64_t at = 0; going_on && at < spool.size;) {
    const size_t size = std::min<uint64_t>(kBlock, spool.size - at);
    const Result<size_t> got = pread_full(spool.file.get(), first.data(), size, at);
    going_on = got && *got == size && write_full(to, first.data(), size);
    at += size;
  }
  spool.file.reset();
  if (going_on && write_full(to, spool.block.data(), spool.in_block)) {
    copy(STDIN_FILENO, to, spool.block);
  }
  ::_exit(0);
}

bool start_feeder(Spool& spool) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t reader = ::getpid();
  const pid_t feeder = ::fork();
  if (feeder == 0) {
    read_end.reset();
    feed(spool, write_end.get(), reader);
  }
  return feeder > 0 && ::dup2(read_end.get(), STDIN_FILENO) == STDIN_FILENO;
}

}  // namespace

NamedInputs::NamedInputs(std::span<const std::string> names) : names_(names) {
  infos_.reserve(names.size());
  for (const std::string& name : names) {
    struct stat info = {};
    if (name != "-" &&
        (::stat(name.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || is_made_up(name, info))) {
      readable_twice_ = false;
      return;
    }
    infos_.push_back(info);
  }
}

bool NamedInputs::changed() const {
  for (size_t i = 0; i < infos_.size(); ++i) {
    struct stat info;
    if (names_[i] == "-") continue;
    if (::stat(names_[i].c_str(), &info) != 0 || !same_file_state(info, infos_[i])) return true;
  }
  return false;
}

StandardInput::StandardInput(bool used) {
  struct stat info;
  if (::fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode)) start_ = position();
  if (!used || start_ >= 0) return;
  Spool spool;
  if (copy_input(spool) == Copied::part) {
    const bool all_there = spool.empty() || start_feeder(spool);
    state_ = all_there ? InputState::once : InputState::lost;
    return;
  }
  start_ = 0;
  ::lseek(spool.file.get(), 0, SEEK_SET);
  ::dup2(spool.file.get(), STDIN_FILENO);
}

off_t StandardInput::position() const { return ::lseek(STDIN_FILENO, 0, SEEK_CUR); }

void StandardInput::seek(off_t position) const {
  if (start_ >= 0 && position >= 0) ::lseek(STDIN_FILENO, position, SEEK_SET);
}

}  // namespace hoist
