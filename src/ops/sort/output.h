// Where sorted lines go: standard output, the file of -o, or a temporary file.
//
//   Result<Output> output = Output::open(options.output);   // before any input is read
//   …
//   if (Status ready = output->begin(); !ready) …           // when the first line is known
//   output->append(line.text, line.length, '\n');           // in order, buffered …
//   if (Status done = output->finish(); !done) …
//
// A large result of known size can instead be written in pieces, in any order, by many threads:
//
//   if (output->reserve(total)) { … output->write_at(position, data, size); … }
//
// Writing functions return false once a write has failed: stop, and ask status() on the main
// thread for the error. Errors read as GNU sort's ("write failed: 'standard output': No space left
// on device", then "write error"); what a failed run leaves in the file is the part before the
// failure, as with GNU sort.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace hoist::sort {

class Output {
 public:
  // Opens the file of -o for writing, created where missing and not yet truncated, so that it may
  // be one of the inputs; an empty path is standard output.
  static Result<Output> open(const std::string& path);

  // Writes to a descriptor from where it stands. `name` is for messages. Closes it if owned.
  Output(UniqueFd fd, std::string name);

  // Truncates the file of -o. Call when all input has been read (or, merging, opened).
  Status begin();

  // Appends `size` bytes, then `terminator`.
  bool append(const char* data, size_t size, char terminator) {
    if (size + 1 > kBuffer - used_) return append_slowly(data, size, terminator);
    std::memcpy(buffer_.get() + used_, data, size);
    buffer_[used_ + size] = terminator;
    used_ += size + 1;
    return true;
  }
  // Appends `size` bytes as they are. Not at the same time as other calls.
  bool append(const char* data, size_t size);

  // Whether write_at() may be used for the `total` bytes that make up the whole output: part
  // of a regular file that is not opened for appending and has the room. Then the descriptor's
  // position is behind that part already. Nothing may have been appended.
  bool reserve(uint64_t total);
  // Writes at `position` bytes from the start of this output. Thread-safe.
  bool write_at(uint64_t position, const char* data, size_t size);
  // Where the first byte is that could not be written; UINT64_MAX: there is none. What lies below
  // is still to be written, so that the file keeps all of it.
  uint64_t failed_at() const;
  // Writes what is buffered and closes the descriptor.
  Status finish();

  // Ok, or the first failure. On failure a signal that the failed write has raised on another
  // thread (SIGPIPE, SIGXFSZ) is raised again, so that it ends the process as it should.
  Status status();

  int fd() const { return fd_; }

 private:
  static constexpr size_t kBuffer = size_t{1} << 18;

  struct Failure {
    uint64_t position = UINT64_MAX;
    int error = 0;
  };

  bool append_slowly(const char* data, size_t size, char terminator);
  bool write_out(const char* data, size_t size);
  bool record_failure(uint64_t position, int error);
  Error describe(const Failure& failure) const;
  void cut_at(uint64_t position);

  UniqueFd owned_;
  int fd_ = -1;
  std::string name_;             // as messages show it
  bool truncates_ = false;       // -o FILE
  bool standard_stream_ = true;  // whose failure the program reports once more at exit
  std::unique_ptr<char[]> buffer_;
  size_t used_ = 0;
  uint64_t written_ = 0;  // bytes behind us, not counting the buffer
  bool positional_ = false;
  uint64_t total_ = 0;         // of positional writing
  off_t base_ = 0;             // file offset of the output's start
  bool extends_file_ = false;  // nothing of the file lay behind `base_`
  std::unique_ptr<std::mutex> mutex_;
  Failure failure_;
};

}  // namespace hoist::sort
