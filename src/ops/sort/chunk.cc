#include "ops/sort/chunk.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/cgroup.h"
#include "base/count_bytes.h"
#include "base/counters.h"
#include "base/crash_fallback.h"
#include "ops/sort/messages.h"

namespace hoist::sort {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{1} << 20;   // read and counted while in the cache
constexpr uint64_t kReportBytes = uint64_t{4} << 20;  // between reports of progress
constexpr uint64_t kSlack = 64;                       // readable bytes behind the last line
constexpr uint64_t kEntryBytes = 2 * sizeof(Entry);   // the entry and its scratch space
constexpr uint64_t kPipeReserve = uint64_t{1} << 36;  // address space asked for at most at once

Error out_of_memory() { return fail(ErrorCode::exhausted, translate("memory exhausted"), ENOMEM); }

}  // namespace

const char* implementation_name(const ThreadPool& pool) {
  return pool.size() > 1 ? "cpu-all" : "cpu-1";
}

uint64_t allowed_memory() {
  uint64_t limit = UINT64_MAX;
  const auto at_most = [&](auto resource, uint64_t numerator, uint64_t denominator) {
    struct rlimit value;
    if (::getrlimit(resource, &value) != 0 || value.rlim_cur == RLIM_INFINITY) return;
    limit = std::min<uint64_t>(limit, value.rlim_cur / denominator * numerator);
  };
  // Text and entries are reserved apart, and threads want stacks.
  at_most(RLIMIT_DATA, 1, 4);
  at_most(RLIMIT_AS, 1, 4);
  at_most(RLIMIT_RSS, 15, 16);
  return limit;
}

uint64_t default_memory_limit() {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t all = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page;
  const uint64_t available = static_cast<uint64_t>(::sysconf(_SC_AVPHYS_PAGES)) * page;
  const uint64_t limit = std::min({allowed_memory(), std::max(available, all / 8), all / 4 * 3});
  return std::min(limit, cgroup_memory_available() / 4 * 3);
}

ChunkReader::ChunkReader(const Options& options, const Coder& coder, uint64_t memory_limit,
                         ThreadPool& pool, bool reports)
    : options_(options),
      coder_(coder),
      pool_(pool),
      reports_(reports),
      limit_(std::clamp<uint64_t>(memory_limit, kLeastMemory, LineRef::kMaximumOffset)) {}

Result<bool> ChunkReader::next() {
  if (text_.data() != nullptr) std::memmove(text_.data(), text_.data() + used_, carried_);
  used_ = std::exchange(carried_, 0);
  pieces_.clear();
  terminators_ = 0;
  if (used_ > 0) {
    pieces_.push_back({0, used_, 0});  // what was carried is the start of one line
  } else if (file_ == options_.files.size()) {
    return false;
  }
  while (file_ < options_.files.size() && !full()) {
    const Result<bool> more = read_some();
    if (!more) return more.error();
  }
  if (file_ < options_.files.size()) carry_unfinished_line();
  if (const Status indexed = index_lines(); !indexed) return indexed.error();
  return entry_count_ > 0;
}

bool ChunkReader::full() const {
  if (terminators_ == 0) return false;  // a line longer than the limit is taken all the same
  const bool no_room = text_.size() > 0 && used_ + kSlack + 1 >= text_.size();
  return no_room || used_ + terminators_ * kEntryBytes >= limit_;
}

// Reads one stretch of the current file, or ends it. The terminator that a last line lacks is
// added.
Result<bool> ChunkReader::read_some() {
  if (fd_ < 0) {
    if (const Status opened = open_next(); !opened) return opened.error();
  }
  if (const Status room = reserve_text(); !room) return room.error();
  const uint64_t room = std::min(next_room(), text_.size() - kSlack - used_);
  const Result<uint64_t> got =
      position_ < known_size_ ? read_parallel(room) : read_sequential(room);
  if (!got) return got.error();
  if (*got > 0) {
    report_progress(*got);
    return true;
  }
  if (const Status finished = finish_file(); !finished) return finished.error();
  return true;
}

void ChunkReader::report_progress(uint64_t bytes) {
  unreported_ += bytes;
  if (!reports_ || unreported_ < kReportBytes) return;
  Counters::process().add_progress("sort", implementation_name(pool_), unreported_);
  unreported_ = 0;
}

// How many bytes to read at once: so many that they fit even if all are empty lines.
uint64_t ChunkReader::next_room() const {
  const uint64_t spent = used_ + terminators_ * kEntryBytes;
  const uint64_t left = spent < limit_ ? limit_ - spent : 0;
  return std::max<uint64_t>(left / (1 + kEntryBytes), 16 << 10);
}

Status ChunkReader::open_next() {
  const std::string& name = options_.files[file_];
  if (name == "-") {
    fd_ = STDIN_FILENO;
  } else {
    Result<UniqueFd> opened = open_file(name, O_RDONLY);
    if (!opened) return io_error("open failed", name, opened.error().system_errno);
    owned_ = std::move(*opened);
    fd_ = owned_.get();
  }
  commit_run_unless_rereadable(fd_);
  position_ = known_size_ = 0;
  struct stat info;
  if (::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode)) {
    const off_t here = ::lseek(fd_, 0, SEEK_CUR);
    if (here >= 0) {
      position_ = static_cast<uint64_t>(here);
      known_size_ = std::max<uint64_t>(position_, static_cast<uint64_t>(info.st_size));
    }
  }
  return {};
}

Status ChunkReader::finish_file() {
  if (used_ > 0 && text_.data()[used_ - 1] != options_.terminator) {
    text_.data()[used_] = options_.terminator;
    pieces_.push_back({used_, 1, 1});
    ++used_;
    ++terminators_;
  }
  owned_.reset();
  fd_ = -1;
  ++file_;
  return {};
}

Result<uint64_t> ChunkReader::read_parallel(uint64_t room) {
  const uint64_t size = std::min(room, known_size_ - position_);
  const size_t count = static_cast<size_t>((size + kPieceBytes - 1) / kPieceBytes);
  const size_t first = pieces_.size();
  pieces_.resize(first + count);
  std::mutex mutex;
  Status status;
  std::atomic<uint64_t> shortest{size};  // where the file turned out to end
  pool_.parallel_for(count, [&](size_t i) {
    const uint64_t begin = i * kPieceBytes;
    const uint64_t wanted = std::min(kPieceBytes, size - begin);
    char* const target = text_.data() + used_ + begin;
    const Result<size_t> got = pread_full(fd_, target, wanted, position_ + begin);
    if (!got) {
      const std::lock_guard lock(mutex);
      status = io_error("read failed", options_.files[file_], got.error().system_errno);
      return;
    }
    pieces_[first + i] = {used_ + begin, *got, count_bytes({target, *got}, options_.terminator)};
    if (*got < wanted) {
      const std::lock_guard lock(mutex);
      shortest = std::min<uint64_t>(shortest, begin + *got);
    }
  });
  if (!status) return status.error();
  if (shortest < size) {
    // The file shrank while it was read: it ends where the first short read ended.
    while (pieces_.size() > first && pieces_.back().offset >= used_ + shortest) pieces_.pop_back();
    known_size_ = position_ + shortest;
  }
  for (size_t i = first; i < pieces_.size(); ++i) terminators_ += pieces_[i].terminators;
  used_ += shortest;
  position_ += shortest;
  // The descriptor may be shared with other processes, which go on reading behind our input; and
  // the end of a file that grew is found by reading on from here.
  if (position_ == known_size_) ::lseek(fd_, static_cast<off_t>(position_), SEEK_SET);
  return shortest > 0 ? Result<uint64_t>(shortest) : read_sequential(room);
}

Result<uint64_t> ChunkReader::read_sequential(uint64_t room) {
  const uint64_t wanted = std::min(room, kPieceBytes);
  char* const target = text_.data() + used_;
  ssize_t got;
  do {
    got = ::read(fd_, target, wanted);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return io_error("read failed", options_.files[file_], errno);
  if (got == 0) return 0;
  const auto size = static_cast<uint64_t>(got);
  const uint64_t terminators = count_bytes({target, size}, options_.terminator);
  // Short reads, as from a pipe, make one piece together.
  if (!pieces_.empty() && pieces_.back().size < kPieceBytes) {
    pieces_.back().size += size;
    pieces_.back().terminators += terminators;
  } else {
    pieces_.push_back({used_, size, terminators});
  }
  terminators_ += terminators;
  used_ += size;
  return size;
}

// Makes sure that there is room for at least one more byte and a terminator.
Status ChunkReader::reserve_text() {
  if (used_ + kSlack + 1 < text_.size()) return {};
  if (text_.data() != nullptr) return grow_text();
  uint64_t wanted = limit_;
  if (known_size_ > 0 && options_.files.size() == 1) {
    wanted = std::min(wanted, known_size_ - position_ + kPieceBytes);
  }
  wanted = std::min(wanted, kPipeReserve) + kPieceBytes + kSlack;
  for (; wanted > kLeastMemory; wanted /= 2) {
    text_ = PageBuffer(wanted);
    if (text_.data() != nullptr) return {};
  }
  return out_of_memory();
}

Status ChunkReader::grow_text() {
  PageBuffer larger(text_.size() * 2);
  if (larger.data() == nullptr) return out_of_memory();
  std::memcpy(larger.data(), text_.data(), used_);
  text_ = std::move(larger);
  return {};
}

// Leaves the text behind the last terminator to the next chunk.
void ChunkReader::carry_unfinished_line() {
  const void* last = ::memrchr(text_.data(), options_.terminator, used_);
  const uint64_t end = static_cast<uint64_t>(static_cast<const char*>(last) - text_.data()) + 1;
  carried_ = used_ - end;
  used_ = end;
}

// Makes an entry for every line, with its first code, in input order, on all threads.
Status ChunkReader::index_lines() {
  entry_count_ = terminators_;
  if (entries_.size() < entry_count_ * kEntryBytes) {
    entries_ = PageBuffer();
    entries_ = PageBuffer(entry_count_ * kEntryBytes);
    if (entries_.data() == nullptr) return out_of_memory();
  }
  std::vector<uint64_t> first_line(pieces_.size() + 1, 0);
  for (size_t i = 0; i < pieces_.size(); ++i) {
    first_line[i + 1] = first_line[i] + pieces_[i].terminators;
  }
  const char* const text = text_.data();
  pool_.parallel_for(pieces_.size(), [&](size_t i) {
    const Piece& piece = pieces_[i];
    if (piece.terminators == 0) return;
    // The piece's lines are those that end in it; the first may begin before it.
    const void* before = ::memrchr(text, options_.terminator, piece.offset);
    const char* line = before == nullptr ? text : static_cast<const char*>(before) + 1;
    const char* at = text + piece.offset;
    Entry* entry = entry_data() + first_line[i];
    for (uint64_t k = 0; k < piece.terminators; ++k) {
      const char* const end = static_cast<const char*>(::rawmemchr(at, options_.terminator));
      const auto length = static_cast<size_t>(end - line);
      entry->lo = LineRef::make(static_cast<uint64_t>(line - text), length);
      entry->hi = coder_.code({line, length}, coder_.first_stage());
      ++entry;
      line = at = end + 1;
    }
  });
  return {};
}

}  // namespace hoist::sort
