// Sorted runs that do not fit into memory, in temporary files.
//
//   TempFiles files(options.temporary_directories, options.compress_program);
//   Result<Run> run = files.create();
//   … run->output() …                        // in order or, uncompressed, in parallel
//   if (Status done = run->finish(); !done) …
//
// A file is unlinked as soon as it is open: nobody else needs its name, and so nothing is left
// behind whatever ends the process, SIGKILL and power failure included; no signal handler is
// needed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "ops/sort/output.h"
#include "ops/sort/reader.h"

namespace hoist::sort {

// A child that compresses or decompresses; waits for it at the latest when destroyed.
class Filter {
 public:
  // Runs `program` (with -d if `decompress`) from `input` to `output`.
  static Result<Filter> start(const std::string& program, bool decompress, int input, int output);
  Filter(Filter&& other) noexcept;
  Filter& operator=(Filter&& other) noexcept;
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  ~Filter();

  // "PROGRAM [-d] terminated abnormally" unless it exits with 0.
  Status wait();

 private:
  Filter(pid_t pid, std::string program) : pid_(pid), program_(std::move(program)) {}
  pid_t pid_ = -1;
  std::string program_;
};

// One temporary file: first written, then read any number of times.
class Run {
 public:
  Output& output() { return *output_; }
  // Ends the writing; the output is gone, the size known.
  Status finish();

  bool compressed() const { return !program_.empty(); }
  // Where the lines are if not compressed.
  int fd() const { return file_.get(); }
  uint64_t size() const { return size_; }
  const std::string& name() const { return name_; }

  // Starts to decompress. `filter` is to be waited for at the end of the reading, and not before
  // the reader is gone where the reading stops early.
  Result<LineReader> decompress(char terminator, size_t block, std::optional<Filter>& filter);

 private:
  friend class TempFiles;
  Run(UniqueFd file, std::string name, std::string program)
      : file_(std::move(file)), name_(std::move(name)), program_(std::move(program)) {}
  Status open_output();

  UniqueFd file_;
  std::string name_;
  std::string program_;
  std::optional<Filter> compressor_;
  std::optional<Output> output_;  // destroyed first: the compressor ends when its input does
  uint64_t size_ = 0;
};

class TempFiles {
 public:
  // `directories` are taken in turn; none: $TMPDIR, else /tmp.
  TempFiles(std::vector<std::string> directories, std::string compress_program);

  // A new run, mode 0600. "cannot create temporary file in 'DIR': …" where it cannot be had.
  Result<Run> create();

  bool compressing() const { return !compress_program_.empty(); }

 private:
  std::vector<std::string> directories_;
  std::string compress_program_;
  size_t next_directory_ = 0;
};

}  // namespace hoist::sort
