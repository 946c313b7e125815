// Many files over several threads, with the results in order. Part of file_jobs.cc.
//
// Small files are a few microseconds of work each, nearly all of it in four system calls, so what
// threads hand to one another must be rare: they take runs of consecutive files (batches) from the
// stream, look at a file just before they open it, and deliver whole batches. Whoever delivers the
// batch that is due emits it and those that are ready behind it.
//
// A batch ends early, and its rest goes to whoever is free, when its bytes are enough for one
// thread. A file that must be read at its turn (not independent, hash_file.h) ends it, too: that
// file and those behind it are hashed by the thread that emits. What other threads had hashed ahead
// by then is hashed again, because the file may be a pipe whose writer changes the others; hashing
// a regular file twice is not noticed.
//
// With a GPU a thread looks at all files of a batch, asks for memory for those that the GPU takes,
// and reads them into it; where there is no room it hashes them. The batch is delivered when the
// GPU has hashed its files, by one of the GPU's threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "ops/hash/file_jobs.h"

namespace hoist::hash {

class OrderedRun {
 public:
  // `first` has been taken from the stream already.
  OrderedRun(const JobStream& stream, FileJob first, GpuHasher* gpu);
  // Blocks until all is emitted. Bytes that were not yet reported as progress.
  uint64_t run(int threads);

 private:
  // Jobs with consecutive tickets.
  struct Batch {
    uint64_t first_ticket = 0;
    std::vector<FileJob> jobs;
    size_t hashed = 0;                 // of the jobs, from the first on
    bool has_turn = false;             // because the next job must be read at its turn
    uint64_t turns = 0;                // turns_ when the batch was begun
    GpuHasher::Room room;              // that the GPU has for it
    std::vector<GpuMessage> messages;  // read into the room
  };
  using BatchPointer = std::unique_ptr<Batch>;

  void work();
  BatchPointer take();
  void fill(Batch& batch);
  void hash(Batch& batch, SpentDescriptors* spent);
  std::vector<FileGlance> look_at(Batch& batch);
  void read_or_hash(Batch& batch, SpentDescriptors* spent);
  void hand_over(BatchPointer batch);
  void give_back(Batch& batch, size_t first);
  void announce_turn(Batch& batch);
  void end_hashing();
  void deliver(BatchPointer batch);
  void emit(Batch& batch);
  void hash_in_turn(FileJob& job);

  const JobStream& stream_;
  GpuHasher* const gpu_;
  const uint64_t window_;  // jobs that may be taken and not emitted

  std::mutex stream_mutex_;
  uint64_t taken_ = 0;
  bool may_split_tables_ = false;
  bool exhausted_ = false;

  std::atomic<uint64_t> turns_{0};  // files that were read at their turn

  std::mutex mutex_;  // for all that follows
  std::condition_variable moved_;
  std::vector<BatchPointer> returned_;      // to be hashed, ahead of what the stream still holds
  std::map<uint64_t, BatchPointer> ready_;  // by first ticket
  std::vector<BatchPointer> spare_;         // their jobs' memory is used again
  int hashing_ = 0;                         // batches whose rest may still be returned
  int waiting_turns_ = 0;                   // batches that have a turn and are not emitted
  uint64_t emitted_ = 0;
  uint64_t bytes_ = 0;
  bool emitting_ = false;
};

}  // namespace hoist::hash
