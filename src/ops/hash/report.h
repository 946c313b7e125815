// What the program says: result lines on standard output and messages on standard error, in the
// order in which coreutils interleaves them, and the exit status that follows.
//
// Output goes through the C library's own stdout, line-buffered like the original's, so that a
// failing write has the same consequences; lines that are ready together share a write. Not
// thread-safe: one caller at a time.
#pragma once

#include <string>
#include <string_view>

namespace hoist::hash {

class Report {
 public:
  // `program` begins every message.
  explicit Report(std::string program);

  // A piece of output with its terminator. `newline` says whether that is a newline, which is when
  // it goes out at the next flush(); other pieces wait until the buffer is full or a message comes.
  void output(std::string_view text, bool newline);
  void flush();

  // "PROGRAM: TEXT" and ": REASON" where `error` is not 0, after all output so far.
  void message(std::string_view text, int error = 0);

  // Closes the standard streams. The exit status is `status`, or 1 after a write error.
  int finish(int status);

 private:
  std::string program_;
  std::string lines_;  // complete lines, at most kept_bytes_
  size_t kept_bytes_;
};

}  // namespace hoist::hash
