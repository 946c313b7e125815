#include "ops/hash/file_jobs.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/threads.h"

namespace hoist::hash {
namespace {

// Below both of these starting threads costs more than they save.
constexpr uint64_t kSerialFiles = 32;
constexpr uint64_t kSerialBytes = 512 << 10;

// How far hashing may run ahead of a file that takes long, or of a slow reader of our output.
constexpr size_t kWindow = 1024;

// What a worker takes at once: locks, wake-ups and writes are then shared by many small files, and
// no result waits longer than it takes to hash this much.
constexpr size_t kBatchFiles = 16;
constexpr uint64_t kBatchBytes = 512 << 10;

bool several_cpus() {
  static const bool several = usable_cpus() > 1;
  return several;
}

void hash(FileJob& job, uint64_t expected_bytes, bool overlap) {
  if (!job.malformed) job.result = hash_file(job.name, job.kind, expected_bytes, overlap);
}

FileGlance glance(const FileJob& job) {
  return job.malformed ? FileGlance{true, 0} : glance_at(job.name);
}

// The workers take tickets from the stream, several at a time where the files are small; finished
// jobs wait in a ring until their ticket is due. Whoever finishes the job that is due emits it and
// those that are ready after it.
class ParallelRun {
 public:
  ParallelRun(const JobStream& stream, JobTotals& totals)
      : stream_(stream), totals_(totals), ring_(kWindow) {}

  // `first` has been taken from the stream already.
  void run(FileJob first, FileGlance seen) {
    waiting_ = {std::move(first), seen};
    ThreadPool& pool = ThreadPool::process();
    pool.parallel_for(static_cast<size_t>(pool.size()), [this](size_t) { work(); });
  }

 private:
  struct Slot {
    FileJob job;
    bool ready = false;
  };
  struct Seen {
    FileJob job;
    FileGlance glance;
  };
  // Jobs with consecutive tickets.
  struct Batch {
    std::vector<Seen> files;
    uint64_t first_ticket = 0;
  };

  void work() {
    Batch batch;
    while (take(batch)) {
      for (Seen& file : batch.files)
        hash(file.job, file.glance.exact ? file.glance.bytes : 0, false);
      deliver(batch);
    }
  }

  // Next jobs that may run beside others. A job that may not is finished here, while the stream's
  // lock keeps everybody from taking later ones.
  bool take(Batch& batch) {
    const std::lock_guard stream_lock(stream_mutex_);
    batch.files.clear();
    uint64_t bytes = 0;
    while (batch.files.size() < kBatchFiles && bytes < kBatchBytes && next()) {
      const bool alone = !waiting_->glance.independent || waiting_->glance.bytes >= kBatchBytes;
      if (alone && !batch.files.empty()) break;  // so that these need not wait for it
      if (!waiting_->glance.independent) {
        finish_alone();
        continue;
      }
      if (batch.files.empty()) batch.first_ticket = taken_;
      ++taken_;
      bytes += waiting_->glance.bytes;
      batch.files.push_back(std::move(*waiting_));
      waiting_.reset();
    }
    if (batch.files.empty()) return false;
    wait_for_room(taken_ - 1);
    return true;
  }

  void finish_alone() {
    Batch batch;
    batch.first_ticket = taken_++;
    batch.files.push_back(std::move(*waiting_));
    waiting_.reset();
    wait_until_due(batch.first_ticket);
    hash(batch.files[0].job, 0, true);
    deliver(batch);
  }

  // Makes sure that a job is waiting; false at the end of the stream.
  bool next() {
    if (waiting_) return true;
    if (exhausted_) return false;
    FileJob job;
    exhausted_ = !stream_.next(job);
    if (exhausted_) return false;
    const FileGlance seen = glance(job);
    waiting_ = {std::move(job), seen};
    return true;
  }

  void wait_for_room(uint64_t ticket) {
    std::unique_lock lock(ring_mutex_);
    moved_.wait(lock, [&] { return ticket - emitted_ < kWindow; });
  }

  // Until everything before `ticket` has been emitted and flushed: the file may be our own output.
  void wait_until_due(uint64_t ticket) {
    std::unique_lock lock(ring_mutex_);
    moved_.wait(lock, [&] { return ticket == emitted_ && !emitting_; });
  }

  void deliver(Batch& batch) {
    std::unique_lock lock(ring_mutex_);
    for (size_t i = 0; i < batch.files.size(); ++i) {
      const FileDigest& result = batch.files[i].job.result;
      totals_.bytes += result.bytes - result.reported;
      Slot& own = ring_[(batch.first_ticket + i) % kWindow];
      own.job = std::move(batch.files[i].job);
      own.ready = true;
    }
    if (emitting_) return;
    emitting_ = true;
    for (bool more = ring_[emitted_ % kWindow].ready; more;) {
      while (ring_[emitted_ % kWindow].ready) {
        Slot& due = ring_[emitted_ % kWindow];
        lock.unlock();
        stream_.emit(due.job);
        lock.lock();
        due.ready = false;
        ++emitted_;
        moved_.notify_all();
      }
      lock.unlock();
      stream_.flush();
      lock.lock();
      more = ring_[emitted_ % kWindow].ready;
    }
    emitting_ = false;
    moved_.notify_all();
  }

  const JobStream& stream_;
  JobTotals& totals_;

  std::mutex stream_mutex_;
  std::optional<Seen> waiting_;  // taken from the stream, not yet given to a worker
  bool exhausted_ = false;
  uint64_t taken_ = 0;

  std::mutex ring_mutex_;
  std::condition_variable moved_;
  std::vector<Slot> ring_;
  uint64_t emitted_ = 0;
  bool emitting_ = false;
};

}  // namespace

JobTotals run_in_order(const JobStream& stream) {
  JobTotals totals;
  FileJob job;
  for (uint64_t done = 0; stream.next(job); ++done, job = FileJob()) {
    if (done + 1 < stream.count) {
      const FileGlance seen = glance(job);
      const bool worth_threads = done >= kSerialFiles || seen.bytes >= kSerialBytes;
      if (worth_threads && seen.independent && several_cpus()) {
        totals.parallel = true;
        ParallelRun(stream, totals).run(std::move(job), seen);
        return totals;
      }
    }
    hash(job, 0, true);
    totals.bytes += job.result.bytes - job.result.reported;
    stream.emit(job);
    stream.flush();
  }
  return totals;
}

}  // namespace hoist::hash
