#include "ops/hash/ordered_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/threads.h"

namespace hoist::hash {
namespace {

// How far hashing may run ahead of a file that takes long, or of a slow reader of our output.
constexpr uint64_t kWindow = 1024;
// The GPU has thousands of them at a time.
constexpr uint64_t kGpuWindow = 32768;

// What a thread takes at once. Where the files are not all known yet, the next ones may be long in
// coming, and those at hand must not wait for many more.
constexpr size_t kListedFiles = 64;
constexpr size_t kStreamedFiles = 16;
constexpr uint64_t kBatchBytes = 512 << 10;

// Whether the process was started with descriptors beyond the standard streams, as a shell's <(…)
// gives. True where that cannot be found out.
bool has_inherited_descriptors() {
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return true;
  bool found = false;
  while (const dirent* entry = ::readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    const int flags = fd > STDERR_FILENO ? ::fcntl(fd, F_GETFD) : -1;
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) found = true;
  }
  ::closedir(folder);
  return found;
}

// Gives a thread of the pool a descriptor table of its own: opening and closing then need no lock
// and no atomic counts. It holds the standard streams alone, so that nobody else's file stays open
// here. Not where the stream itself reads files, which any thread may have to go on with, nor where
// descriptors were inherited: the original, should it have to run instead, takes over the table of
// the thread that starts it. The first thread keeps the process's table. Where the kernel
// (before 5.9) cannot do it, all share that one; and so they do under ThreadSanitizer, which takes
// equal numbers in two tables for one descriptor.
bool own_descriptor_table() {
#ifndef __SANITIZE_THREAD__
  return ::gettid() == ::getpid() ||
         ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_UNSHARE) == 0;
#else
  return false;
#endif
}

}  // namespace

OrderedRun::OrderedRun(const JobStream& stream, FileJob first, GpuHasher* gpu)
    : stream_(stream), gpu_(gpu), window_(gpu != nullptr ? kGpuWindow : kWindow), taken_(1) {
  BatchPointer batch = std::make_unique<Batch>();
  batch->jobs.push_back(std::move(first));
  returned_.push_back(std::move(batch));
}

uint64_t OrderedRun::run(int threads) {
  may_split_tables_ = stream_.count != UINT64_MAX && !has_inherited_descriptors();
  ThreadPool::process().parallel_for(static_cast<size_t>(threads), [this](size_t) { work(); });
  if (gpu_ != nullptr) gpu_->wait();
  return bytes_;
}

void OrderedRun::work() {
  const bool own_table = may_split_tables_ && own_descriptor_table();
  SpentDescriptors spent;
  while (BatchPointer batch = take()) {
    SpentDescriptors* const closed_late = own_table ? &spent : nullptr;
    gpu_ != nullptr ? read_or_hash(*batch, closed_late) : hash(*batch, closed_late);
    spent.close_all();
    end_hashing();
    batch->room ? hand_over(std::move(batch)) : deliver(std::move(batch));
  }
}

// Null when nothing is left to hash.
OrderedRun::BatchPointer OrderedRun::take() {
  const std::lock_guard stream_lock(stream_mutex_);
  BatchPointer batch;
  {
    std::unique_lock lock(mutex_);
    const auto has_room = [&] { return waiting_turns_ == 0 && taken_ - emitted_ < window_; };
    moved_.wait(lock,
                [&] { return !returned_.empty() || (exhausted_ ? hashing_ == 0 : has_room()); });
    if (returned_.empty() && exhausted_) return nullptr;
    ++hashing_;
    std::vector<BatchPointer>& source = returned_.empty() ? spare_ : returned_;
    if (!source.empty()) {
      batch = std::move(source.back());
      source.pop_back();
    }
    if (&source == &returned_) {
      batch->turns = turns_.load(std::memory_order_acquire);
      return batch;
    }
  }
  if (!batch) batch = std::make_unique<Batch>();
  fill(*batch);
  return batch;
}

// Takes the next jobs from the stream; none at its end.
void OrderedRun::fill(Batch& batch) {
  const size_t limit = stream_.count == UINT64_MAX ? kStreamedFiles : kListedFiles;
  batch.jobs.resize(limit);
  size_t count = 0;
  while (count < limit && !exhausted_) {
    FileJob& job = batch.jobs[count];
    job.result = FileDigest();
    exhausted_ = !stream_.next(job);
    if (!exhausted_) ++count;
  }
  batch.jobs.resize(count);
  batch.first_ticket = taken_;
  batch.hashed = 0;
  batch.has_turn = false;
  batch.turns = turns_.load(std::memory_order_acquire);
  taken_ += count;
}

void OrderedRun::hash(Batch& batch, SpentDescriptors* spent) {
  uint64_t bytes = 0;
  for (size_t& i = batch.hashed; i < batch.jobs.size(); ++i) {
    FileJob& job = batch.jobs[i];
    if (job.malformed) continue;
    const FileGlance seen = glance_at(job.name);
    if (!seen.independent) {
      announce_turn(batch);
      return;
    }
    bytes += seen.bytes;
    if (bytes >= kBatchBytes && i + 1 < batch.jobs.size()) give_back(batch, i + 1);
    job.result = hash_file(job.name, job.kind, seen.exact ? seen.bytes : 0, Company::others, spent);
  }
}

// The files of the batch that are to be read now: up to one that has a turn, or until they are
// enough for one thread.
std::vector<FileGlance> OrderedRun::look_at(Batch& batch) {
  std::vector<FileGlance> seen;
  uint64_t bytes = 0;
  for (size_t i = 0; i < batch.jobs.size(); ++i) {
    const FileJob& job = batch.jobs[i];
    seen.push_back(job.malformed ? FileGlance{.independent = true} : glance_at(job.name));
    if (!seen.back().independent) return seen;
    bytes += seen.back().bytes;
    if (bytes >= kBatchBytes && i + 1 < batch.jobs.size()) give_back(batch, i + 1);
  }
  return seen;
}

void OrderedRun::read_or_hash(Batch& batch, SpentDescriptors* spent) {
  const std::vector<FileGlance> seen = look_at(batch);
  const auto gpu_takes = [&](size_t i) {
    const FileJob& job = batch.jobs[i];
    return !job.malformed && seen[i].exact && GpuHasher::takes(job.kind, seen[i].bytes);
  };
  uint64_t bytes = 0;
  size_t messages = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    if (!gpu_takes(i)) continue;
    bytes += GpuHasher::room_for(seen[i].bytes);
    ++messages;
  }
  if (messages > 0) batch.room = gpu_->reserve(bytes, messages);
  std::span<uint8_t> rest = batch.room.memory;
  for (size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i].independent) {
      batch.hashed = i;
      announce_turn(batch);
      return;
    }
    FileJob& job = batch.jobs[i];
    const uint64_t expected = seen[i].exact ? seen[i].bytes : 0;
    if (batch.room && gpu_takes(i)) {
      const size_t room = GpuHasher::room_for(expected);
      if (read_file(job.name, job.kind, expected, rest.first(room), spent, job.result)) {
        batch.messages.push_back({rest.first(expected), &job.result});
      }
      rest = rest.subspan(room);
    } else if (!job.malformed) {
      job.result = hash_file(job.name, job.kind, expected, Company::others, spent);
    }
  }
  batch.hashed = seen.size();
}

void OrderedRun::hand_over(BatchPointer batch) {
  const GpuHasher::Room room = std::exchange(batch->room, {});
  const std::vector<GpuMessage> messages = std::exchange(batch->messages, {});
  if (messages.empty()) {
    gpu_->release(room);
    return deliver(std::move(batch));
  }
  // A function must be copyable; it is called once.
  const auto owner = std::make_shared<BatchPointer>(std::move(batch));
  gpu_->hash(room, messages, [this, owner] { deliver(std::move(*owner)); });
}

void OrderedRun::give_back(Batch& batch, size_t first) {
  BatchPointer rest = std::make_unique<Batch>();
  const auto begin = batch.jobs.begin() + static_cast<ptrdiff_t>(first);
  rest->jobs.assign(std::make_move_iterator(begin), std::make_move_iterator(batch.jobs.end()));
  rest->first_ticket = batch.first_ticket + first;
  batch.jobs.resize(first);
  {
    const std::lock_guard lock(mutex_);
    returned_.push_back(std::move(rest));
  }
  moved_.notify_all();
}

// From here on nothing more is taken from the stream until the batch has been emitted.
void OrderedRun::announce_turn(Batch& batch) {
  batch.has_turn = true;
  const std::lock_guard lock(mutex_);
  ++waiting_turns_;
}

void OrderedRun::end_hashing() {
  const std::lock_guard lock(mutex_);
  if (--hashing_ == 0) moved_.notify_all();
}

void OrderedRun::deliver(BatchPointer batch) {
  std::unique_lock lock(mutex_);
  if (batch->jobs.empty()) return;  // the stream had ended
  ready_.emplace(batch->first_ticket, std::move(batch));
  if (emitting_) return;
  emitting_ = true;
  const auto is_due = [&] { return !ready_.empty() && ready_.begin()->first == emitted_; };
  while (is_due()) {
    while (is_due()) {
      BatchPointer due = std::move(ready_.extract(ready_.begin()).mapped());
      lock.unlock();
      emit(*due);
      lock.lock();
      emitted_ += due->jobs.size();
      if (due->has_turn) --waiting_turns_;
      for (const FileJob& job : due->jobs) bytes_ += job.result.bytes - job.result.reported;
      spare_.push_back(std::move(due));
      moved_.notify_all();
    }
    lock.unlock();
    stream_.flush();
    lock.lock();
  }
  emitting_ = false;
}

void OrderedRun::emit(Batch& batch) {
  if (batch.turns != turns_.load(std::memory_order_relaxed)) batch.hashed = 0;
  for (size_t i = 0; i < batch.jobs.size(); ++i) {
    if (i >= batch.hashed) hash_in_turn(batch.jobs[i]);
    stream_.emit(batch.jobs[i]);
  }
}

void OrderedRun::hash_in_turn(FileJob& job) {
  if (job.malformed) return;
  const bool independent = glance_at(job.name).independent;
  if (!independent) stream_.flush();  // the file may be our own output
  job.result = hash_file(job.name, job.kind, 0, Company::reader);
  if (!independent) turns_.fetch_add(1, std::memory_order_release);
}

}  // namespace hoist::hash
