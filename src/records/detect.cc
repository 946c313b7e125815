#include "records/detect.h"

#include <algorithm>
#include <array>

#include "records/csv_dialect.h"
#include "records/line_parser.h"
#include "records/tokens.h"

namespace hoist::records {
namespace {

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

std::optional<Dialect> as_csv(const CsvSample& sample, ColumnIndex& columns) {
  Dialect dialect{.format = Format::csv, .delimiter = sample.find_delimiter()};
  if (dialect.delimiter == 0) return std::nullopt;
  const CsvRows rows = sample.rows(dialect.delimiter);
  if (rows.size() < 2 || !most_parse(*csv_parser(columns, dialect), rows)) return std::nullopt;
  sample.find_header(dialect, false);
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
  for (const bool by_lines : {false, true}) {  // where quotes are none that part fields
    if (std::optional<Dialect> csv = as_csv(CsvSample(text, by_lines), columns)) return *csv;
  }
  return {.format = Format::log};
}

bool may_be(std::string_view text, const Dialect& dialect) {
  std::vector<TokenColumn> found;
  ColumnIndex columns(found);
  switch (dialect.format) {
    case Format::json:
      return most_parse(*json_parser(columns), first_lines(text));
    case Format::csv:
      return most_parse(*csv_parser(columns, dialect), CsvSample(text).rows(dialect.delimiter));
    case Format::pairs:
      return most_parse(*pairs_parser(columns), first_lines(text));
    case Format::symbolic:
      return most_parse(*symbolic_parser(columns), first_lines(text));
    default:
      return true;
  }
}

std::optional<Dialect> dialect_of_name(std::string_view file) {
  const size_t dot = file.rfind('.');
  if (dot == file.npos) return std::nullopt;
  const std::string_view end = file.substr(dot + 1);
  if (end == "jsonl" || end == "ndjson") return Dialect{.format = Format::json};
  if (end == "csv") return Dialect{.format = Format::csv};
  if (end == "tsv") return Dialect{.format = Format::csv, .delimiter = '\t'};
  if (end == "lt" || end == "lts" || end == "ltu") {
    return Dialect{.format = Format::pairs, .pairs_form = std::string(end)};
  }
  if (end == "sym") return Dialect{.format = Format::symbolic};
  return std::nullopt;
}

Choice choose_format(const Dialect& by_name, const Dialect& by_text, bool may_be_named) {
  if (by_text.format == by_name.format) return Choice::name;
  if (by_text.format == Format::log) return Choice::name;  // what nothing else is
  return may_be_named ? Choice::name_unlike_text : Choice::text_unlike_name;
}

std::string note_of(Choice choice, const std::string& file, Format by_name, Format by_text) {
  const bool is_named = choice == Choice::name_unlike_text;
  if (!is_named && choice != Choice::text_unlike_name) return {};
  const std::string_view taken = name(is_named ? by_name : by_text);
  return file + " is read as " + std::string(taken) + ": its name says " +
         std::string(name(by_name)) + ", its first lines look like " + std::string(name(by_text)) +
         "; name the format where that is wrong";
}

Dialect dialect_of(std::string_view text, const Known& known) {
  Dialect dialect = detect(text);
  std::optional<Dialect> by_name;
  if (!first_lines(text).empty()) by_name = dialect_of_name(known.file);
  if (by_name && by_name->format == Format::csv) {
    const char found = CsvSample(text).find_delimiter(by_name->delimiter);
    if (found != 0) by_name->delimiter = found;
  }
  std::optional<Format> format = known.format;
  if (!format && by_name) {
    const Choice choice = choose_format(*by_name, dialect, may_be(text, *by_name));
    if (choice != Choice::text_unlike_name) format = by_name->format;
    const std::string note = note_of(choice, known.file, by_name->format, dialect.format);
    if (known.note && !note.empty()) known.note(note);
  }
  const CsvSample csv(text);
  const bool is_named_csv = by_name && by_name->format == Format::csv;
  if (format && (*format != dialect.format || is_named_csv)) {
    dialect = {.format = *format};
    if (*format == Format::csv) {
      const char found = csv.find_delimiter(is_named_csv ? by_name->delimiter : 0);
      if (found != 0) dialect.delimiter = found;
      csv.find_header(dialect, is_named_csv);
    }
  }
  if (dialect.format == Format::pairs && by_name) dialect.pairs_form = by_name->pairs_form;
  if (dialect.format != Format::csv) return dialect;
  // The names of the columns are those of the first row, where that is not empty.
  const bool begins_empty = text.starts_with('\n') || text.starts_with("\r\n");
  if (known.header == false || begins_empty) {
    dialect.names.clear();
    dialect.starts_with_header = false;
  } else if (known.header == true) {
    csv.take_header(dialect);
  }
  return dialect;
}

}  // namespace hoist::records
