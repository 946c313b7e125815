#include "px/text/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hoist::px {
namespace {

constexpr size_t kShownBefore = 100;  // characters before the caret, of a longer line
constexpr size_t kShown = 160;

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// Behind so many characters.
size_t offset_of(std::string_view text, size_t characters) {
  size_t at = 0;
  while (at < text.size() && (characters > 0 || !begins_character(text[at]))) {
    if (begins_character(text[at])) --characters;
    ++at;
    while (at < text.size() && !begins_character(text[at])) ++at;
  }
  return at;
}

// A line as a terminal can show it, and what stands below it.
struct Excerpt {
  std::string line;
  std::string caret;
};

// No control characters but tabs, which the caret's line has, too; long lines are cut.
Excerpt excerpt_of(std::string_view line, uint32_t column, std::string_view marked) {
  Excerpt excerpt;
  size_t before = column - 1;
  if (before > kShownBefore) {
    line.remove_prefix(offset_of(line, before - kShownBefore));
    before = kShownBefore + 1;
    excerpt.line = "…";
  }
  const std::string_view shown = line.substr(0, offset_of(line, kShown));
  excerpt.line += shown;
  if (shown.size() < line.size()) excerpt.line += "…";
  std::replace_if(
      excerpt.line.begin(), excerpt.line.end(),
      [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; }, '?');

  const std::string_view front = std::string_view(excerpt.line);
  for (size_t at = 0; at < front.size() && before > 0; ++at) {
    if (!begins_character(front[at])) continue;
    excerpt.caret += front[at] == '\t' ? '\t' : ' ';
    --before;
  }
  excerpt.caret.append(before, ' ');
  excerpt.caret += '^';
  marked = marked.substr(0, marked.find_first_of("\r\n"));
  marked = marked.substr(0, offset_of(marked, kShown - kShownBefore));
  const auto characters = std::count_if(marked.begin(), marked.end(), begins_character);
  if (characters > 1) excerpt.caret.append(static_cast<size_t>(characters - 1), '~');
  return excerpt;
}

}  // namespace

void Diagnostics::error(Span span, std::string what, std::string mend) {
  if (is_full()) {
    ++errors_;
    return;
  }
  const bool is_known = std::any_of(list_.begin(), list_.end(), [&](const Diagnostic& known) {
    return known.severity == Severity::error && known.span.begin == span.begin;
  });
  if (is_known) return;
  ++errors_;
  list_.push_back({Severity::error, span, std::move(what), std::move(mend)});
}

void Diagnostics::warn(Span span, std::string what, std::string mend) {
  if (++warnings_ > kMostWarnings) return;
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
  const Excerpt excerpt = excerpt_of(source.line(at.line), at.column, source.text(diagnostic.span));
  return fmt::format("{}:{}:{}: {}: {}\n    {}\n    {}\nmend: {}\n", source.name(), at.line,
                     at.column, diagnostic.severity == Severity::error ? "error" : "warning",
                     diagnostic.what, excerpt.line, excerpt.caret, diagnostic.mend);
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
