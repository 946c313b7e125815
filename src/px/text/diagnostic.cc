#include "px/text/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hoist::px {
namespace {

// The line as a terminal can show it: no control characters but tabs, which the caret's line has,
// too.
std::string shown(std::string_view line) {
  std::string text(line);
  std::replace_if(
      text.begin(), text.end(),
      [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; }, '?');
  return text;
}

// "    ^~~~" below the characters of the span that lie on its first line.
std::string caret(std::string_view line, uint32_t column, std::string_view marked) {
  std::string text;
  uint32_t at = 1;
  for (const char byte : line) {
    if ((static_cast<unsigned char>(byte) & 0xc0) == 0x80) continue;
    if (at++ == column) break;
    text += byte == '\t' ? '\t' : ' ';
  }
  text += '^';
  marked = marked.substr(0, marked.find_first_of("\r\n"));
  const auto characters = std::count_if(marked.begin(), marked.end(),
                                        [](unsigned char byte) { return (byte & 0xc0) != 0x80; });
  if (characters > 1) text.append(static_cast<size_t>(characters - 1), '~');
  return text;
}

}  // namespace

void Diagnostics::error(Span span, std::string what, std::string mend) {
  const bool is_known = std::any_of(list_.begin(), list_.end(), [&](const Diagnostic& known) {
    return known.severity == Severity::error && known.span.begin == span.begin;
  });
  if (is_known) return;
  if (++errors_ > kMostErrors) return;
  list_.push_back({Severity::error, span, std::move(what), std::move(mend)});
}

void Diagnostics::warn(Span span, std::string what, std::string mend) {
  list_.push_back({Severity::warning, span, std::move(what), std::move(mend)});
}

void Diagnostics::drop_warnings() {
  std::erase_if(list_, [](const Diagnostic& d) { return d.severity == Severity::warning; });
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> list = list_;
  std::stable_sort(list.begin(), list.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.span.begin < b.span.begin;
  });
  return list;
}

std::string render(const Source& source, const Diagnostic& diagnostic) {
  const Position at = source.position(diagnostic.span.begin);
  const std::string_view line = source.line(at.line);
  return fmt::format("{}:{}:{}: {}: {}\n    {}\n    {}\nmend: {}\n", source.name(), at.line,
                     at.column, diagnostic.severity == Severity::error ? "error" : "warning",
                     diagnostic.what, shown(line),
                     caret(line, at.column, source.text(diagnostic.span)), diagnostic.mend);
}

std::string render(const Source& source, const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.sorted()) text += render(source, diagnostic);
  if (diagnostics.errors() > Diagnostics::kMostErrors) {
    text += fmt::format("{}: {} more errors\n", source.name(),
                        diagnostics.errors() - Diagnostics::kMostErrors);
  }
  return text;
}

}  // namespace hoist::px
