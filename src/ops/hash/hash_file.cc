#include "ops/hash/hash_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <utility>

#include "base/counters.h"
#include "base/crash_fallback.h"
#include "base/file.h"
#include "ops/hash/read_ahead.h"

namespace hoist::hash {
namespace {

constexpr size_t kBufferBytes = 128 << 10;

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// The output as it was at start-up; a file among the operands that receives our output must be
// read at its turn.
bool is_own_output(const struct stat& file) {
  struct Outputs {
    struct stat status[2];
    bool valid[2];
  };
  static const Outputs outputs = [] {
    Outputs found;
    for (int i = 0; i < 2; ++i) found.valid[i] = fstat(STDOUT_FILENO + i, &found.status[i]) == 0;
    return found;
  }();
  for (int i = 0; i < 2; ++i) {
    if (outputs.valid[i] && same_file(file, outputs.status[i])) return true;
  }
  return false;
}

// Whether the file's size on this file system is what reading it gives: the local ones, which most
// files are on.
bool tells_exact_sizes(const char* name, dev_t device) {
  thread_local dev_t known_device = 0;
  thread_local bool known = false;
  if (device != known_device) {
    constexpr int64_t kLocal[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                  F2FS_SUPER_MAGIC, TMPFS_MAGIC,     OVERLAYFS_SUPER_MAGIC};
    struct statfs system;
    known = statfs(name, &system) == 0 &&
            std::find(std::begin(kLocal), std::end(kLocal), system.f_type) != std::end(kLocal);
    known_device = device;
  }
  return known;
}

ssize_t read_some(int fd, uint8_t* data, size_t size) {
  ssize_t count;
  do {
    count = read(fd, data, size);
  } while (count < 0 && errno == EINTR);
  return count;
}

// Spent descriptors never stand in the way of the limit on open files. errno tells why there is
// none.
UniqueFd open_to_read(const char* name, SpentDescriptors* spent) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC;
  int fd = open(name, kFlags);
  if (fd < 0 && errno == EMFILE && spent != nullptr && !spent->empty()) {
    spent->close_all();
    fd = open(name, kFlags);
  }
  return UniqueFd(fd);
}

uint8_t* thread_buffer() {
  thread_local const std::unique_ptr<uint8_t[]> buffer(new uint8_t[kBufferBytes]);
  return buffer.get();
}

// Large files show up in the counters while they are read.
void report_progress(FileDigest& result, const char* implementation) {
  constexpr uint64_t kReportBytes = 16u << 20;
  if (result.bytes - result.reported < kReportBytes) return;
  Counters::process().add_progress("hash", implementation, result.bytes - result.reported);
  result.reported = result.bytes;
}

// Hashes until `limit` bytes are reached; true at the end of the file or after an error. Where just
// `expected` bytes (if not 0) come at once, they are the file.
bool hash_here(int fd, uint64_t limit, uint64_t expected, const char* implementation,
               Hasher& hasher, FileDigest& result) {
  uint8_t* const buffer = thread_buffer();
  while (result.bytes < limit) {
    const ssize_t count = read_some(fd, buffer, kBufferBytes);
    if (count <= 0) {
      if (count < 0) result.read_error = errno;
      return true;
    }
    hasher.update(buffer, static_cast<size_t>(count));
    result.bytes += static_cast<uint64_t>(count);
    if (result.bytes == expected) return true;
    report_progress(result, implementation);
  }
  return false;
}

void hash_behind_reader(int fd, Hasher& hasher, FileDigest& result) {
  ReadAhead reader(fd);
  for (;;) {
    const ReadAhead::Chunk chunk = reader.next();
    if (chunk.size == 0) {
      result.read_error = chunk.error;
      return;
    }
    hasher.update(chunk.data, chunk.size);
    result.bytes += chunk.size;
    report_progress(result, "cpu-1");
  }
}

}  // namespace

FileGlance glance_at(const std::string& name) {
  if (name == "-") return {};
  struct stat status;
  if (stat(name.c_str(), &status) != 0) return {true, 0};
  if (S_ISDIR(status.st_mode)) return {true, 0};
  if (!S_ISREG(status.st_mode) || is_own_output(status)) return {};
  return {true, static_cast<uint64_t>(status.st_size),
          tells_exact_sizes(name.c_str(), status.st_dev)};
}

FileDigest hash_file(const std::string& name, DigestKind kind, uint64_t expected_bytes,
                     Company company, SpentDescriptors* spent) {
  FileDigest result;
  UniqueFd owned;
  int fd = STDIN_FILENO;
  if (name != "-") {
    owned = open_to_read(name.c_str(), spent);
    if (!owned.valid()) {
      result.open_error = errno;
      return result;
    }
    fd = owned.get();
  }
  commit_run_unless_rereadable(fd);
  const char* const implementation = company == Company::others ? "cpu-all" : "cpu-1";
  Hasher hasher(kind);
  // A stream tells its length only by ending, so the first part of anything is read here.
  if (!hash_here(fd, kLargeFile, expected_bytes, implementation, hasher, result)) {
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    if (company == Company::reader) {
      hash_behind_reader(fd, hasher, result);
    } else {
      hash_here(fd, UINT64_MAX, 0, implementation, hasher, result);
    }
  }
  result.digest = hasher.finish();
  if (spent != nullptr && owned.valid()) spent->add(std::move(owned));
  return result;
}

bool read_file(const std::string& name, DigestKind kind, uint64_t expected,
               std::span<uint8_t> memory, SpentDescriptors* spent, FileDigest& result) {
  UniqueFd fd = open_to_read(name.c_str(), spent);
  if (!fd.valid()) {
    result.open_error = errno;
    return false;
  }
  commit_run_unless_rereadable(fd.get());
  ssize_t count = 0;
  while (result.bytes < expected) {
    count = read_some(fd.get(), memory.data() + result.bytes, memory.size() - result.bytes);
    if (count <= 0) break;
    result.bytes += static_cast<uint64_t>(count);
  }
  const bool is_all = result.bytes == expected;
  if (!is_all) {
    Hasher hasher(kind);
    hasher.update(memory.data(), result.bytes);
    if (count < 0) result.read_error = errno;
    if (count > 0) hash_here(fd.get(), UINT64_MAX, 0, "cpu-all", hasher, result);
    result.digest = hasher.finish();
  }
  if (spent != nullptr) spent->add(std::move(fd));
  return is_all;
}

}  // namespace hoist::hash
