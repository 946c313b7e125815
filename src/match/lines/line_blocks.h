// A file in blocks of whole lines, with bounded memory: what a search of lines works on side by
// side.
//
//   LineBlocks blocks(fd, path);
//   std::string block;
//   for (;;) {
//     const auto more = blocks.next(block);
//     if (!more || !*more) …                    // an error, or the end
//     find_line_ends(block, ends);              // line i ends before ends[i]
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hoist::match {

struct LineBlockSizes {
  size_t block = size_t{256} << 10;   // bytes that are read at once
  size_t longest = size_t{16} << 20;  // bytes of a line; longer ones end the file with an error
};

class LineBlocks {
 public:
  // `fd` stays the caller's, and `name` is for messages.
  LineBlocks(int fd, std::string name, LineBlockSizes sizes = {});

  // Replaces `block` by the lines that follow, each with its '\n' (the file's last one may have
  // none); false at the end. `exhausted` for a line that is too long, `io` where reading fails.
  Result<bool> next(std::string& block);

  // Whether next() would give something, or say that nothing follows, without waiting for whoever
  // writes into the pipe or terminal.
  bool is_ready() const;
  bool is_regular() const { return is_regular_; }

 private:
  Result<size_t> read_more(std::string& block);

  int fd_;
  std::string name_;
  LineBlockSizes sizes_;
  bool is_regular_;
  bool ended_ = false;
  uint64_t lines_ = 0;  // so far
  std::string rest_;    // the begin of a line
};

// Where each line of a block ends: behind its '\n', or at the block's end.
void find_line_ends(std::string_view block, std::vector<uint32_t>& ends);

// Line `i` without its '\n'.
std::string_view line_of(std::string_view block, const std::vector<uint32_t>& ends, size_t i);

}  // namespace hoist::match
