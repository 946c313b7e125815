#include <algorithm>
#include <array>
#include <unordered_set>

#include "records/limits.h"
#include "records/line_parser.h"
#include "records/number_text.h"
#include "records/tokens.h"

namespace hoist::records {
namespace {

constexpr size_t kSampleLines = 64;
constexpr size_t kSampleBytes = size_t{1} << 20;

std::vector<std::string_view> first_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  text = text.substr(0, kSampleBytes);
  while (!text.empty() && lines.size() < kSampleLines) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// Text has next to no control characters; other bytes have one in eight.
bool is_binary(std::string_view text) {
  text = text.substr(0, kSampleBytes / 16);
  size_t control = 0;
  for (const char c : text) {
    if (c == '\0') return true;
    control += static_cast<size_t>(static_cast<uint8_t>(c) < 32 && (c < '\t' || c > '\r'));
  }
  return control * 32 > text.size();
}

bool most_parse(LineParser& parser, const std::vector<std::string_view>& lines) {
  size_t good = 0;
  LineSlots slots;
  for (size_t i = 0; i < lines.size(); ++i) {
    slots.clear();
    good += static_cast<size_t>(parser.parse(lines[i], i, slots) && !slots.failed);
  }
  return good * 5 >= lines.size() * 4;
}

size_t share_with(const std::vector<std::string_view>& lines, auto condition) {
  return static_cast<size_t>(std::count_if(lines.begin(), lines.end(), condition));
}

std::vector<std::string> split(std::string_view line, char delimiter) {
  std::vector<std::string> fields;
  for (;;) {
    const size_t end = line.find(delimiter);
    std::string_view field = line.substr(0, end);
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
      field = field.substr(1, field.size() - 2);
    }
    fields.emplace_back(field);
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

// Words that are all different, and none of them a number.
bool is_header(const std::vector<std::string>& fields) {
  std::unordered_set<std::string_view> seen;
  return std::all_of(fields.begin(), fields.end(), [&](const std::string& field) {
    return !field.empty() && !parse_decimal(field) && !date_form(field) &&
           seen.insert(field).second;
  });
}

// The delimiter that occurs equally often in nearly all lines, most often.
char find_delimiter(const std::vector<std::string_view>& lines) {
  char best = 0;
  size_t most = 0;
  for (const char delimiter : {',', '\t', ';', '|'}) {
    const auto occurrences = [&](std::string_view line) {
      bool quoted = false;
      size_t found = 0;
      for (const char c : line) {
        quoted ^= c == '"';
        found += static_cast<size_t>(c == delimiter && !quoted);
      }
      return found;
    };
    const size_t usual = occurrences(lines[lines.size() / 2]);
    const size_t alike =
        share_with(lines, [&](std::string_view line) { return occurrences(line) == usual; });
    if (usual > most && alike * 10 >= lines.size() * 9) {
      most = usual;
      best = delimiter;
    }
  }
  return best;
}

std::optional<Dialect> as_csv(const std::vector<std::string_view>& lines, ColumnIndex& columns) {
  if (lines.size() < 2) return std::nullopt;
  Dialect dialect{.format = Format::csv, .delimiter = find_delimiter(lines)};
  if (dialect.delimiter == 0 || !most_parse(*csv_parser(columns, dialect), lines)) {
    return std::nullopt;
  }
  std::vector<std::string> first = split(lines[0], dialect.delimiter);
  if (first.size() <= kMaxColumns && is_header(first) &&
      !is_header(split(lines[1], dialect.delimiter))) {
    dialect.names = std::move(first);
    dialect.starts_with_header = true;
  }
  return dialect;
}

}  // namespace

Dialect detect(std::string_view text) {
  if (text.empty() || is_binary(text)) return {};
  const std::vector<std::string_view> lines = first_lines(text);
  if (lines.empty()) return {};
  std::vector<TokenColumn> found;
  ColumnIndex columns(found);
  const auto most_begin = [&](auto condition) {
    return share_with(lines, condition) * 5 >= lines.size() * 4;
  };
  if (most_begin([](std::string_view line) { return line[0] == '{' || line[0] == '['; }) &&
      most_parse(*json_parser(columns), lines)) {
    return {.format = Format::json};
  }
  if (most_begin([](std::string_view line) { return line.find(":[") != std::string_view::npos; }) &&
      most_parse(*symbolic_parser(columns), lines)) {
    return {.format = Format::symbolic};
  }
  if (most_begin([](std::string_view line) { return line.find(">>") != std::string_view::npos; }) &&
      most_parse(*pairs_parser(columns), lines)) {
    return {.format = Format::pairs};
  }
  if (std::optional<Dialect> csv = as_csv(lines, columns)) return *csv;
  return {.format = Format::log};
}

}  // namespace hoist::records
