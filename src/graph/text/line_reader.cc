#include "graph/text/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace hoist::graph::text {
namespace {

bool is_word_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}
bool is_number_part(char c) { return is_word_part(c) || c == '+' || c == '-'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

bool LineReader::next_line() {
  while (next_ < text_.size()) {
    at_ = next_;
    const size_t line_end = std::min(text_.find('\n', at_), text_.size());
    next_ = line_end + 1;
    const std::string_view line = text_.substr(at_, line_end - at_);
    end_ = at_ + std::min(line.find('#'), line.size());
    while (end_ > at_ && is_space(text_[end_ - 1])) --end_;
    skip_spaces();
    if (at_ < end_) return true;
  }
  at_ = end_ = text_.size();
  return false;
}

void LineReader::skip_spaces() {
  while (at_ < end_ && is_space(text_[at_])) ++at_;
}

bool LineReader::is_at_end() {
  skip_spaces();
  return at_ >= end_;
}

char LineReader::now() { return is_at_end() ? '\0' : text_[at_]; }

px::Span LineReader::here() {
  skip_spaces();
  const auto begin = static_cast<uint32_t>(at_);
  size_t end = at_;
  while (end < end_ && is_number_part(text_[end])) ++end;
  return {begin, static_cast<uint32_t>(std::max(end, std::min(at_ + 1, end_)))};
}

uint32_t LineReader::find(char sign) const {
  const std::string_view rest = text_.substr(at_, end_ - std::min(at_, end_));
  return static_cast<uint32_t>(at_ + std::min(rest.find(sign), rest.size()));
}

bool LineReader::take_if(char sign) {
  if (now() != sign || is_at_end()) return false;
  last_ = {place(), place() + 1};
  ++at_;
  return true;
}

bool LineReader::expect(char sign, std::string_view what, const std::string& mend) {
  if (take_if(sign)) return true;
  error_here(what, mend);
  return false;
}

bool LineReader::expect_end() {
  if (is_at_end()) return true;
  error_here("the end of the line", "one node a line; a comment begins with #");
  return false;
}

std::string_view LineReader::take_while(bool (*belongs)(char)) {
  skip_spaces();
  const size_t begin = at_;
  while (at_ < end_ && belongs(text_[at_])) ++at_;
  last_ = {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
  return text_.substr(begin, at_ - begin);
}

std::string_view LineReader::word() { return take_while(is_word_part); }
std::string_view LineReader::number_word() { return take_while(is_number_part); }

std::optional<int64_t> LineReader::integer(const std::string& what) {
  const uint32_t begin = place();
  const std::string_view digits = number_word();
  int64_t value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (!digits.empty() && fault == std::errc() && end == digits.data() + digits.size()) return value;
  go_to(begin);
  error_here(what, "a decimal number of 64 bits");
  return std::nullopt;
}

void LineReader::error(px::Span span, std::string what, std::string mend) {
  if (has_failed_) return;
  has_failed_ = true;
  diagnostics_.error(span, std::move(what), std::move(mend));
}

void LineReader::error_here(std::string_view what, std::string mend) {
  constexpr size_t kMost = 40;
  const px::Span span = here();
  std::string found(text_.substr(span.begin, span.end - span.begin));
  if (found.size() > kMost) found = fmt::format("{}…", found.substr(0, kMost));
  if (at_ >= end_) found = "the end of the line";
  const bool is_shown =
      std::all_of(found.begin(), found.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  if (at_ < end_ && !is_shown && span.end == span.begin + 1) {
    found = fmt::format("byte {:#04x}", static_cast<unsigned char>(text_[at_]));
  }
  error(span, fmt::format("{} where {} belongs", found, what), std::move(mend));
}

}  // namespace hoist::graph::text
