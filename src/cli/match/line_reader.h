// Lines of a file or of standard input ("-"), with a bound on their length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace hoist::cli {

class LineReader {
 public:
  static constexpr size_t kMaxLine = size_t{256} << 20;

  static Result<LineReader> open(const std::string& path);

  // Without its end; nothing at the end of the input. It stays until the next call.
  Result<std::optional<std::string_view>> next();

  uint64_t line_number() const { return number_; }  // of the last line, from 1
  uint64_t bytes() const { return bytes_; }         // read so far
  uint64_t total() const { return total_; }         // 0 where that is not known
  // "FILE:LINE" for messages.
  std::string place() const;

 private:
  LineReader(UniqueFd fd, std::string path, uint64_t total)
      : fd_(std::move(fd)), path_(std::move(path)), total_(total) {}
  Result<bool> fill();

  UniqueFd fd_;
  std::string path_;
  uint64_t total_;
  std::string buffer_;
  size_t begin_ = 0;  // of the next line
  bool ended_ = false;
  uint64_t number_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace hoist::cli
