#include "px/text/source.h"

#include <algorithm>
#include <utility>

namespace hoist::px {
namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

bool is_word_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

Source::Source(std::string name, std::string text, size_t most_bytes)
    : name_(std::move(name)), text_(std::move(text)), line_starts_{0} {
  if (text_.size() > most_bytes) text_.resize(most_bytes);
  for (size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(static_cast<uint32_t>(i + 1));
  }
}

std::string_view Source::text(Span span) const {
  const size_t begin = std::min<size_t>(span.begin, text_.size());
  return text().substr(begin, std::max(span.end, span.begin) - begin);
}

Position Source::position(uint32_t offset) const {
  offset = std::min(offset, static_cast<uint32_t>(text_.size()));
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto first = text_.begin() + *(next - 1);
  const auto before = std::count_if(first, text_.begin() + offset, begins_character);
  return {static_cast<uint32_t>(next - line_starts_.begin()), static_cast<uint32_t>(before + 1)};
}

Span Source::word_at(Position position) const {
  if (position.line == 0 || position.line > line_starts_.size()) return {};
  size_t begin = line_starts_[position.line - 1];
  for (uint32_t column = 0; begin < text_.size(); ++begin) {
    if (begins_character(text_[begin]) && ++column == position.column) break;
  }
  size_t end = begin;
  while (end < text_.size() && is_word_part(text_[end])) ++end;
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(std::max(end, begin + 1))};
}

std::string_view Source::line(uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const std::string_view rest = text().substr(line_starts_[number - 1]);
  const std::string_view line = rest.substr(0, rest.find('\n'));
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace hoist::px
