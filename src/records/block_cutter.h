// Cuts a stream of text into blocks: whole lines, at most so many bytes and kMaxRows of them. A
// longer line has a block for itself, or where it is longer than kMaxBlockText several.
//
// A slow pipe is cut where it pauses (cut_at_pauses()): the whole lines that came are given then,
// in smaller blocks.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/uninitialized_array.h"
#include "records/limits.h"

namespace hoist::records {

// Fills the span as far as it can and gives the count; 0 at the end.
using ReadText = std::function<Result<size_t>(std::span<char>)>;

// How much of `text` the next block takes; 0: more text is needed to tell. `is_last`: there is
// none.
size_t cut_block(std::string_view text, bool is_last, size_t block_text = kBlockText);

class BlockCutter {
 public:
  // Blocks of `block_text` bytes. Holds up to `batch` bytes of text, more only while a line is
  // longer.
  BlockCutter(ReadText read, size_t block_text, size_t batch)
      : read_(std::move(read)), block_text_(block_text), batch_(batch) {}

  // A read that gives less than it was asked for ends a batch.
  void cut_at_pauses() { at_pauses_ = true; }

  // The next blocks, all that are whole; none at the end. They live until the next call.
  Result<std::vector<std::string_view>> next();
  // The whole lines that were read and not given, where next() failed.
  std::vector<std::string_view> rest();

 private:
  void cut_lines(std::vector<std::string_view>& blocks);
  Status fill(size_t size);
  std::string_view text() const { return {buffer_.span().data(), filled_}; }

  ReadText read_;
  size_t block_text_;
  size_t batch_;
  UninitializedArray<char> buffer_;
  size_t filled_ = 0;  // of buffer_, by what was read
  size_t used_ = 0;    // of that, by blocks that were given
  bool ended_ = false;
  bool at_pauses_ = false;
  bool paused_ = false;
};

}  // namespace hoist::records
