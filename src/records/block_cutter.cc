#include "records/block_cutter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "records/limits.h"

namespace hoist::records {

size_t cut_block(std::string_view text, bool is_last, size_t block_text) {
  size_t end = 0;  // behind the last line that fits
  for (size_t rows = 0; rows < kMaxRows; ++rows) {
    if (end == text.size()) return is_last ? end : 0;
    const void* newline = std::memchr(text.data() + end, '\n', text.size() - end);
    const bool is_whole = newline != nullptr || is_last;
    const size_t next =
        newline != nullptr ? static_cast<const char*>(newline) - text.data() + 1 : text.size();
    if (next > block_text && end > 0) return end;
    if (!is_whole && next < kMaxBlockText) return 0;
    if (next > block_text) return std::min(next, kMaxBlockText);
    end = next;
  }
  return end;
}

Status BlockCutter::fill(size_t size) {
  if (size > buffer_.size()) {
    UninitializedArray<char> larger(size);
    if (filled_ > 0) std::memcpy(larger.span().data(), buffer_.span().data(), filled_);
    buffer_ = std::move(larger);
  }
  while (filled_ < size) {
    const Result<size_t> count = read_(buffer_.span().subspan(filled_, size - filled_));
    if (!count) return count.error();
    if (*count == 0) {
      ended_ = true;
      break;
    }
    filled_ += *count;
    if (!at_pauses_ || filled_ == size) continue;
    paused_ = true;
    break;
  }
  return {};
}

// All whole lines, the last of them too.
void BlockCutter::cut_lines(std::vector<std::string_view>& blocks) {
  const std::string_view lines = text().substr(0, text().rfind('\n') + 1);
  while (used_ < lines.size()) {
    blocks.push_back(lines.substr(used_, cut_block(lines.substr(used_), true)));
    used_ += blocks.back().size();
  }
}

std::vector<std::string_view> BlockCutter::rest() {
  std::vector<std::string_view> blocks;
  cut_lines(blocks);
  return blocks;
}

Result<std::vector<std::string_view>> BlockCutter::next() {
  filled_ -= used_;
  if (filled_ > 0) std::memmove(buffer_.span().data(), buffer_.span().data() + used_, filled_);
  used_ = 0;
  std::vector<std::string_view> blocks;
  size_t size = batch_;
  while (blocks.empty()) {
    paused_ = false;
    if (!ended_) {
      if (Status status = fill(size); !status) return status.error();
    }
    if (paused_) cut_lines(blocks);
    while (used_ < filled_) {
      const size_t block = cut_block(text().substr(used_), ended_, block_text_);
      if (block == 0) break;
      blocks.push_back(text().substr(used_, block));
      used_ += block;
    }
    if (ended_) break;
    size = filled_ + batch_;
  }
  return blocks;
}

}  // namespace hoist::records
