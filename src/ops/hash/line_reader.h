// Lines of a file descriptor, as they arrive.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace hoist::hash {

class LineReader {
 public:
  // `fd` must stay open.
  explicit LineReader(int fd);

  // The next line without its newline, valid until the next call; the last may lack one. False at
  // the end or after a read error.
  bool next(std::string_view& line);

  // errno of the read that failed, 0 while none has.
  int error() const { return error_; }

 private:
  // False at the end.
  bool fill();

  int fd_;
  int error_ = 0;
  bool ended_ = false;
  std::string buffer_;
  size_t begin_ = 0;    // of the part of buffer_ that has not been handed out
  size_t scanned_ = 0;  // no newline before this position
};

}  // namespace hoist::hash
