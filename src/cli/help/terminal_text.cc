#include "cli/help/terminal_text.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hoist::cli {
namespace {

constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kPlain = "\033[0m";
constexpr size_t kGap = 2;  // columns between two cells

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

size_t longest_word(std::string_view text) {
  size_t longest = 0;
  for (const std::string_view word : words_of(text)) longest = std::max(longest, columns_of(word));
  return longest;
}

// The widest columns give way until all fit, but no further than their longest words.
std::vector<size_t> column_widths(const TableRows& rows, size_t width) {
  std::vector<size_t> widths;
  std::vector<size_t> least;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    least.resize(widths.size());
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(row[i]));
      least[i] = std::max(least[i], longest_word(row[i]));
    }
  }
  if (widths.empty()) return widths;
  const size_t gaps = kGap * (widths.size() - 1);
  while (std::accumulate(widths.begin(), widths.end(), gaps) > width) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      const bool is_wider = widest == widths.size() || widths[i] > widths[widest];
      if (widths[i] > least[i] && is_wider) widest = i;
    }
    if (widest == widths.size()) break;
    --widths[widest];
  }
  return widths;
}

void append_row(const std::vector<std::string>& row, const std::vector<size_t>& widths,
                std::vector<std::string>& lines) {
  std::vector<std::vector<std::string>> cells;
  size_t height = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    cells.push_back(wrapped(row[i], widths[i]));
    height = std::max(height, cells.back().size());
  }
  for (size_t y = 0; y < height; ++y) {
    std::string line;
    size_t owed = 0;  // blanks before the next text: a line ends without any
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string text = y < cells[i].size() ? cells[i][y] : "";
      if (!text.empty()) line += std::string(std::exchange(owed, 0), ' ') + text;
      owed += std::max(widths[i], columns_of(text)) - columns_of(text) + kGap;
    }
    lines.push_back(std::move(line));
  }
}

}  // namespace

std::string bold(std::string_view text) {
  std::string result;
  size_t at = 0;
  while (at < text.size()) {
    const size_t begin = std::min(text.find_first_not_of(" \n", at), text.size());
    result += text.substr(at, begin - at);
    at = std::min(text.find_first_of(" \n", begin), text.size());
    if (at > begin) result.append(kBold).append(text.substr(begin, at - begin)).append(kPlain);
  }
  return result;
}

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\033') {
      at = std::min(text.find('m', at), text.size());
    } else if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) {  // begins a character
      ++columns;
    }
  }
  return columns;
}

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  size_t columns = 0;
  for (const std::string_view word : words_of(text)) {
    const size_t wide = columns_of(word);
    if (lines.empty() || columns + 1 + wide > width) {
      lines.emplace_back(word);
      columns = wide;
    } else {
      lines.back().append(" ").append(word);
      columns += 1 + wide;
    }
  }
  return lines;
}

std::vector<std::string> table_lines(const TableRows& rows, size_t width) {
  const std::vector<size_t> widths = column_widths(rows, width);
  std::vector<std::string> lines;
  for (size_t i = 0; i < rows.size(); ++i) {
    append_row(rows[i], widths, lines);
    if (i > 0) continue;
    std::vector<std::string> rule;
    for (const size_t columns : widths) rule.emplace_back(columns, '-');
    append_row(rule, widths, lines);
  }
  return lines;
}

}  // namespace hoist::cli
