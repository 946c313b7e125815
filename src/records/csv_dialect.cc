#include "records/csv_dialect.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "records/convert/characters.h"
#include "records/csv_rows.h"
#include "records/json_number.h"
#include "records/limits.h"
#include "records/number_text.h"

namespace hoist::records {
namespace {

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

// Words that are all different, and none of them a number. A file whose name says CSV may name some
// columns by years, and one by nothing: pandas writes its index so.
bool may_be_header(const std::vector<std::string>& fields, bool is_named) {
  std::unordered_set<std::string_view> seen;
  size_t words = 0;
  for (const std::string& field : fields) {
    if (!seen.insert(field).second) return false;
    words += static_cast<size_t>(!field.empty() && !is_number_or_date(field));
  }
  return is_named ? words > 0 : words == fields.size();
}

// As programs name columns: user_id.
bool is_name(std::string_view text) {
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

bool is_year(std::string_view text) {
  return text.size() == 4 && (text[0] == '1' || text[0] == '2') &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
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
    if (values_ == 0 || head.empty()) return 0;
    // A number over numbers is one of them, unless it is a year.
    const bool is_value = is_number_or_date(head) && !is_year(head);
    if (numbers_ * 5 >= values_ * 4) return is_value ? -1 : 1;
    if (is_value) return 0;
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

// Whether the first row names the columns of the others. Where they do not say: `unless_not`.
bool has_header(const CsvRows& rows, char delimiter, bool unless_not) {
  const std::vector<std::string> head = split(rows[0], delimiter);
  if (head.size() > kMaxColumns || !may_be_header(head, unless_not)) return false;
  std::vector<HeaderVote> votes(head.size());
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::vector<std::string> fields = split(rows[i], delimiter);
    if (fields.size() != head.size()) continue;
    for (size_t c = 0; c < fields.size(); ++c) votes[c].add(head[c], fields[c]);
  }
  int sum = 0;
  for (size_t c = 0; c < head.size(); ++c) sum += votes[c].vote(head[c]);
  // A first row with numbers in it has to be spoken for.
  const bool has_numbers = std::any_of(head.begin(), head.end(), is_number_or_date);
  return unless_not && !has_numbers ? sum >= 0 : sum > 0;
}

size_t occurrences(std::string_view row, char delimiter) {
  bool quoted = false;
  size_t found = 0;
  for (const char c : row) {
    quoted ^= c == '"';
    found += static_cast<size_t>(c == delimiter && !quoted);
  }
  return found;
}

// How often the delimiter occurs in nine of ten rows; 0 where they differ.
size_t usual_count(const CsvRows& rows, char delimiter) {
  if (rows.empty()) return 0;
  const size_t usual = occurrences(rows[rows.size() / 2], delimiter);
  const auto alike =
      static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [&](std::string_view row) {
        return occurrences(row, delimiter) == usual;
      }));
  return alike * 10 >= rows.size() * 9 ? usual : 0;
}

}  // namespace

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

CsvSample::CsvSample(std::string_view text, bool by_lines)
    : text_(text.substr(0, kSampleBytes)),
      is_cut_(text.size() >= kSampleBytes),
      by_lines_(by_lines) {
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  while (text_.starts_with('\n') || text_.starts_with("\r\n")) {
    text_.remove_prefix(text_.find('\n') + 1);
  }
}

CsvRows CsvSample::rows(char delimiter) const {
  CsvRows found = by_lines_ ? first_lines(text_) : first_csv_rows(text_, delimiter, kSampleLines);
  if (is_cut_ && found.size() > 1 && found.size() < kSampleLines) found.pop_back();
  return found;
}

char CsvSample::find_delimiter(char preferred) const {
  char best = 0;
  std::pair<bool, size_t> most = {false, 0};  // a header has as many as the rows below it
  for (const char delimiter : {',', '\t', ';', '|'}) {
    const CsvRows found = rows(delimiter);
    const size_t usual = usual_count(found, delimiter);
    if (usual == 0) continue;
    const bool is_like_first = occurrences(found[0], delimiter) == usual;
    if (is_like_first && delimiter == preferred) return preferred;
    if (std::pair(is_like_first, usual) <= most) continue;
    most = {is_like_first, usual};
    best = delimiter;
  }
  return preferred != 0 && !most.first ? preferred : best;
}

void CsvSample::find_header(Dialect& dialect, bool unless_not) const {
  const CsvRows found = rows(dialect.delimiter);
  if (!found.empty() && has_header(found, dialect.delimiter, unless_not)) take_header(dialect);
}

void CsvSample::take_header(Dialect& dialect) const {
  if (text_.empty()) return;
  // A quote that nothing closes is a part of its line.
  const size_t lines =
      by_lines_ ? 0 : lines_of_first_csv_row(text_, dialect.delimiter, kSampleLines);
  size_t end = text_.find('\n');
  for (size_t i = 1; i < lines; ++i) end = text_.find('\n', end + 1);
  std::string_view row = text_.substr(0, end);
  if (row.ends_with('\r')) row.remove_suffix(1);
  std::vector<std::string> names = split(row, dialect.delimiter);
  if (names.size() > kMaxColumns) return;
  dialect.names = std::move(names);
  dialect.header_rows = static_cast<uint32_t>(std::max<size_t>(lines, 1));
  dialect.starts_with_header = true;
}

}  // namespace hoist::records
