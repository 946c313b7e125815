// As much of the input as fits the memory limit, as text and entries ready to be sorted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/threads.h"
#include "ops/sort/entries.h"
#include "ops/sort/options.h"

namespace hoist::sort {

// The most that the process's resource limits leave, whatever -S says.
uint64_t allowed_memory();

// The memory to use without -S, no more than GNU sort would: the larger of free memory and an
// eighth of all, at most three quarters of all, within the resource limits and what the cgroup
// leaves.
uint64_t default_memory_limit();

// What the counters call this engine on that many threads.
const char* implementation_name(const ThreadPool& pool);

// Fills chunks from the input files in turn. Regular files are read by all threads.
class ChunkReader {
 public:
  // A limit below kLeastMemory counts as that.
  static constexpr uint64_t kLeastMemory = uint64_t{256} << 10;

  // `reports`: bytes read are reported to the counters meanwhile, as work of the pool's threads.
  ChunkReader(const Options& options, const Coder& coder, uint64_t memory_limit, ThreadPool& pool,
              bool reports = true);

  // Reads the next chunk, replacing the one before: text, line entries with their first codes and
  // scratch space together keep to the limit (one line longer than that is taken all the same).
  // False when there was nothing left to read. Errors are worded as GNU sort's.
  Result<bool> next();

  // Makes the chunk's entries anew, as next() made them.
  Status index_again() { return index_lines(); }

  // Whether the last chunk reached the end of the input.
  bool at_end() const { return file_ == options_.files.size() && carried_ == 0; }

  // Bytes read that were not yet reported to the counters as progress.
  uint64_t unreported_bytes() const { return unreported_; }

  const char* text() const { return text_.data(); }
  uint64_t text_bytes() const { return used_; }
  std::span<Entry> entries() { return {entry_data(), entry_count_}; }
  std::span<Entry> scratch() { return {entry_data() + entry_count_, entry_count_}; }

 private:
  // A stretch of text read at once and the number of terminators in it.
  struct Piece {
    uint64_t offset;
    uint64_t size;
    uint64_t terminators;
  };

  Status open_next();
  Result<bool> read_some();
  void report_progress(uint64_t bytes);
  Result<uint64_t> read_parallel(uint64_t room);
  Result<uint64_t> read_sequential(uint64_t room);
  Status finish_file();
  Status reserve_text();
  Status grow_text();
  bool full() const;
  uint64_t next_room() const;
  void carry_unfinished_line();
  Status index_lines();
  Entry* entry_data() { return reinterpret_cast<Entry*>(entries_.data()); }

  const Options& options_;
  const Coder& coder_;
  ThreadPool& pool_;
  const bool reports_;
  uint64_t limit_;
  size_t file_ = 0;  // index of the file being read
  UniqueFd owned_;
  int fd_ = -1;              // -1: the file at file_ is not open yet
  uint64_t position_ = 0;    // in the open file, where it is regular
  uint64_t known_size_ = 0;  // regular files: bytes from the start to the end seen at opening
  PageBuffer text_;
  uint64_t used_ = 0;
  uint64_t unreported_ = 0;
  uint64_t carried_ = 0;  // bytes at used_ that begin the next chunk
  uint64_t terminators_ = 0;
  std::vector<Piece> pieces_;
  PageBuffer entries_;
  size_t entry_count_ = 0;
};

}  // namespace hoist::sort
