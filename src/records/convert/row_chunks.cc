#include "records/convert/row_chunks.h"

#include <algorithm>
#include <utility>

#include "base/count_bytes.h"
#include "records/convert/characters.h"
#include "records/limits.h"

namespace hoist::records {

size_t RowCutter::find_row_end() {
  const size_t end = rules_.form == TextForm::csv ? scanner_.find_end(text_, scanned_)
                                                  : text_.find('\n', scanned_);
  if (end == text_.npos) {
    scanned_ = text_.size();
    return end;
  }
  scanned_ = rules_.form == TextForm::csv ? end : end + 1;
  return scanned_;
}

void RowCutter::cut(size_t end, std::vector<RowChunk>& chunks) {
  if (end == begin_) return;
  RowChunk chunk{.text = text_.substr(begin_, end - begin_), .first_line = lines_};
  lines_ += count_bytes(chunk.text, '\n');
  if (!started_ && rules_.form != TextForm::lines && chunk.text.starts_with(kByteOrderMark)) {
    chunk.text.erase(0, kByteOrderMark.size());
  }
  started_ = true;
  begin_ = end;
  rows_ = 0;
  chunks.push_back(std::move(chunk));
}

Status RowCutter::take(std::string_view piece, std::vector<RowChunk>& chunks) {
  text_ += piece;
  for (size_t end = find_row_end(); end != text_.npos; end = find_row_end()) {
    row_ = end;
    ++rows_;
    if (row_ - begin_ >= rules_.most_bytes || rows_ >= rules_.most_rows) cut(row_, chunks);
  }
  if (text_.size() - std::max(row_, begin_) > kMaxBlockText) {
    return fail(ErrorCode::unsupported, "a row is longer than " +
                                            std::to_string(kMaxBlockText >> 20) +
                                            " MiB: check that it is of this format");
  }
  text_.erase(0, begin_);
  row_ -= std::min(row_, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  return {};
}

void RowCutter::finish(std::vector<RowChunk>& chunks) { cut(text_.size(), chunks); }

}  // namespace hoist::records
