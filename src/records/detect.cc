#include <algorithm>
#include <array>
#include <unordered_set>

#include "records/json_number.h"
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

// The fields of a line of CSV; quotes around one are dropped, and doubled ones in it are one.
std::vector<std::string> split(std::string_view line, char delimiter) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"' && quoted && line.substr(at + 1).starts_with('"')) {
      fields.back() += line[++at];
    } else if (c == '"' && (quoted || fields.back().empty())) {
      quoted = !quoted;
    } else if (c == delimiter && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

bool is_number_or_date(std::string_view text) { return is_json_number(text) || date_form(text); }

// Words that are all different, and none of them a number.
bool may_be_header(const std::vector<std::string>& fields) {
  std::unordered_set<std::string_view> seen;
  return std::all_of(fields.begin(), fields.end(), [&](const std::string& field) {
    return !field.empty() && !is_number_or_date(field) && seen.insert(field).second;
  });
}

// As programs name columns: user_id.
bool is_name(std::string_view text) {
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

// What a column says of the word above it: more than 0, that this names it.
class HeaderVote {
 public:
  void add(const std::string& head, const std::string& value) {
    if (value.empty()) return;
    ++values_;
    numbers_ += static_cast<size_t>(is_number_or_date(value));
    names_ += static_cast<size_t>(is_name(value));
    with_digits_ += static_cast<size_t>(has_digit(value));
    recurs_ |= value == head;
    seen_.insert(value);
  }

  int vote(const std::string& head) const {
    constexpr size_t kEnough = 8;
    if (recurs_) return -1;
    if (values_ == 0) return 0;
    if (numbers_ * 5 >= values_ * 4) return 1;
    if (with_digits_ == values_ && !has_digit(head)) return 1;
    if (is_name(head) && names_ * 2 < values_) return 1;
    // Some words over and over, and this is none of them.
    return values_ >= kEnough && seen_.size() * 4 <= values_ ? 1 : 0;
  }

 private:
  static bool has_digit(const std::string& text) {
    return text.find_first_of("0123456789") != std::string::npos;
  }

  size_t values_ = 0;
  size_t numbers_ = 0;
  size_t names_ = 0;
  size_t with_digits_ = 0;
  bool recurs_ = false;
  std::unordered_set<std::string> seen_;
};

// Whether the first line names the columns of the others.
bool has_header(const std::vector<std::string_view>& lines, char delimiter) {
  const std::vector<std::string> head = split(lines[0], delimiter);
  if (head.size() > kMaxColumns || !may_be_header(head)) return false;
  std::vector<HeaderVote> votes(head.size());
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> fields = split(lines[i], delimiter);
    if (fields.size() != head.size()) continue;
    for (size_t c = 0; c < fields.size(); ++c) votes[c].add(head[c], fields[c]);
  }
  int sum = 0;
  for (size_t c = 0; c < head.size(); ++c) sum += votes[c].vote(head[c]);
  return sum > 0;
}

void take_header(const std::vector<std::string_view>& lines, Dialect& dialect) {
  if (lines.empty()) return;
  std::vector<std::string> names = split(lines[0], dialect.delimiter);
  if (names.size() > kMaxColumns) return;
  dialect.names = std::move(names);
  dialect.starts_with_header = true;
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
  if (has_header(lines, dialect.delimiter)) take_header(lines, dialect);
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

Dialect dialect_of(std::string_view text, std::optional<Format> format,
                   std::optional<bool> header) {
  Dialect dialect = detect(text);
  const std::vector<std::string_view> lines = first_lines(text);
  if (format && *format != dialect.format) {
    dialect = {.format = *format};
    if (*format == Format::csv && !lines.empty()) {
      if (const char delimiter = find_delimiter(lines); delimiter != 0) {
        dialect.delimiter = delimiter;
      }
      if (has_header(lines, dialect.delimiter)) take_header(lines, dialect);
    }
  }
  if (dialect.format != Format::csv) return dialect;
  // The names of the columns are those of the first row, where that is not empty.
  const bool begins_empty = text.starts_with('\n') || text.starts_with("\r\n");
  if (header == false || begins_empty) {
    dialect.names.clear();
    dialect.starts_with_header = false;
  } else if (header == true) {
    take_header(lines, dialect);
  }
  return dialect;
}

}  // namespace hoist::records
