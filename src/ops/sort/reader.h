// Lines of one file, in order, through a pair of bounded buffers.
//
//   Result<LineReader> reader = LineReader::open("-", '\n');
//   for (Line line; reader->next(line);) …
//   if (!reader->status()) …
//
// A line longer than the buffer grows it, so memory is about twice the block size plus twice the
// longest line. A line stays where it is until the second call of next() after the one that gave
// it: a caller may compare each line with the one before. In memory every line is followed by its
// terminator, also a last line that lacks one in the file, and by at least 8 readable bytes.
//
// Not thread-safe; several readers may read ranges of one descriptor at the same time.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "ops/sort/line.h"

namespace hoist::sort {

class LineReader {
 public:
  static constexpr size_t kBlock = size_t{1} << 20;

  // Opens `name` for one pass from its start; "-" is standard input, from where it stands.
  static Result<LineReader> open(const std::string& name, char terminator, size_t block = kBlock);

  // Reads `fd` from where it stands to its end; standard input if it is invalid. `name` is for
  // messages.
  LineReader(UniqueFd fd, std::string name, char terminator, size_t block = kBlock);

  // Reads ranges of regular files given by restart(), without moving the descriptors' positions.
  explicit LineReader(char terminator, size_t block = kBlock);

  // Starts over with bytes [begin, end) of `fd`, which stays the caller's and must outlive the
  // reading; `begin` must be the start of a line. `name` is for messages.
  void restart(int fd, std::string name, uint64_t begin, uint64_t end);

  // Gives the next line; false at the end and after an error.
  bool next(Line& line) {
    const void* const found =
        std::memchr(cursor_, terminator_, static_cast<size_t>(limit_ - cursor_));
    if (found == nullptr) return next_from_file(line);
    const char* const stop = static_cast<const char*>(found);
    line = {cursor_, static_cast<size_t>(stop - cursor_)};
    cursor_ = stop + 1;
    return true;
  }

  // "read failed: NAME: …" once reading has failed.
  const Status& status() const { return status_; }
  // The file ended before the range did: somebody shortened it meanwhile.
  bool ended_early() const { return ended_early_; }
  const std::string& name() const { return name_; }

 private:
  struct Buffer {
    std::unique_ptr<char[]> data;
    size_t size = 0;
  };

  static Buffer make_buffer(size_t size);
  bool next_from_file(Line& line);
  char* carry_over(size_t unfinished);
  size_t fill(char* data, size_t size);

  const char* cursor_ = "";      // start of the next line
  const char* limit_ = cursor_;  // end of the bytes read
  char terminator_;
  bool at_end_ = false;
  bool ranged_ = false;
  bool ended_early_ = false;
  int fd_ = -1;
  size_t block_;
  uint64_t position_ = 0;  // of the next read, and the range's end; only of a range
  uint64_t end_ = 0;
  Buffer current_;
  Buffer other_;
  UniqueFd owned_;
  std::string name_;
  Status status_;
};

}  // namespace hoist::sort
