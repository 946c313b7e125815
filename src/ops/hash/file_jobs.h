// Hashes a stream of files over all usable CPUs and hands the results out in the stream's order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ops/hash/gpu_hasher.h"
#include "ops/hash/hash_file.h"

namespace hoist::hash {

struct FileJob {
  std::string name;
  DigestKind kind;
  FileDigest result;

  // For the checker: what the checksum file says, or that its line is not properly formatted, in
  // which case there is no file to hash.
  bool malformed = false;
  uint64_t line_number = 0;
  Algorithm label = Algorithm::md5;  // the algorithm to name in a complaint about the line
  Digest expected;
};

struct JobStream {
  // Gives the next file; false at the end. May block. Called by one thread at a time, never again
  // after the end.
  std::function<bool(FileJob&)> next;
  // Takes the finished jobs in order, one at a time, each as soon as all before it are finished.
  std::function<void(FileJob&)> emit;
  // Called when nothing more is ready for the moment, and at the end.
  std::function<void()> flush;
  // The number of files where it is known; one file alone is read ahead instead of shared out.
  uint64_t count = UINT64_MAX;
};

struct JobTotals {
  uint64_t bytes = 0;  // hashed here, and not yet reported as progress
  bool parallel = false;
};

// Up to `threads` threads, the caller among them; a few small files are hashed on the caller alone.
// What `gpu` takes (gpu_hasher.h) they may only read for it; null: there is none.
// Files that are not independent (hash_file.h) are read when all before them have been emitted, and
// what the files after them hold is what they hold once that is done.
JobTotals run_in_order(const JobStream& stream, int threads, GpuHasher* gpu = nullptr);

}  // namespace hoist::hash
