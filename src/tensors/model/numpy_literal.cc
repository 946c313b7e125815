#include "tensors/model/numpy_literal.h"

#include <algorithm>
#include <charconv>

namespace hoist::tensors {
namespace {

constexpr size_t kMaxRank = 64;

bool is_quote(char c) { return c == '\'' || c == '"'; }

// Behind the text that begins at `at`; npos where it does not end.
size_t end_of_text(std::string_view text, size_t at) {
  const char quote = text[at];
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

bool NumpyLiteral::take(char wanted) {
  skip_space();
  if (text_.empty() || text_.front() != wanted) return false;
  text_.remove_prefix(1);
  return true;
}

bool NumpyLiteral::text(std::string_view& value) {
  skip_space();
  if (text_.empty() || !is_quote(text_.front())) return false;
  const size_t end = end_of_text(text_, 0);
  if (end == std::string_view::npos) return false;
  value = text_.substr(1, end - 2);
  text_.remove_prefix(end);
  return true;
}

bool NumpyLiteral::boolean(bool& value) {
  skip_space();
  value = text_.starts_with("True");
  if (!value && !text_.starts_with("False")) return false;
  text_.remove_prefix(value ? 4 : 5);
  return true;
}

bool NumpyLiteral::tuple(Shape& values) {
  if (!take('(')) return false;
  while (!take(')')) {
    skip_space();
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || values.size() == kMaxRank) return false;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    take('L');  // Python 2 wrote 3L
    values.push_back(value);
    if (!take(',')) return take(')');
  }
  return true;
}

bool NumpyLiteral::list(std::string_view& value) {
  skip_space();
  if (text_.empty() || text_.front() != '[') return false;
  size_t open = 0;
  for (size_t i = 0; i < text_.size();) {
    if (is_quote(text_[i])) {
      i = end_of_text(text_, i);
      if (i == std::string_view::npos) return false;
      continue;
    }
    open += text_[i] == '[' || text_[i] == '(' ? 1 : 0;
    open -= text_[i] == ']' || text_[i] == ')' ? 1 : 0;
    ++i;
    if (open == 0) {
      value = text_.substr(0, i);
      text_.remove_prefix(i);
      return true;
    }
  }
  return false;
}

bool NumpyLiteral::at_end() {
  skip_space();
  return text_.empty();
}

void NumpyLiteral::skip_space() {
  const size_t first = text_.find_first_not_of(" \n\t");
  text_.remove_prefix(std::min(first, text_.size()));
}

}  // namespace hoist::tensors
