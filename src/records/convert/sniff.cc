#include "records/convert/sniff.h"

#include "records/convert/characters.h"
#include "records/convert/csv_form.h"
#include "records/convert/glyphs.h"
#include "records/csv_dialect.h"

namespace hoist::records {

namespace {

bool is_blank_text(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

// Whether four of five of the first rows are records.
bool most_are_records(const TextDialect& dialect, std::string_view first) {
  const bool is_csv = dialect.form == TextForm::csv;
  const std::vector<std::string_view> rows =
      is_csv ? CsvSample(first).rows(dialect.delimiter) : first_lines(first);
  const std::unique_ptr<RowParser> parser = is_csv ? nullptr : row_parser(dialect.form);
  size_t good = 0;
  for (const std::string_view row : rows) {
    Record record;
    good += is_csv ? parse_csv_header(row, dialect.delimiter).has_value()
                   : parser->parse(row, record).has_value();
  }
  return good * 5 >= rows.size() * 4;
}

}  // namespace

std::optional<TextDialect> form_of_name(std::string_view file) {
  const size_t dot = file.rfind('.');
  if (dot == file.npos) return std::nullopt;
  const std::string_view end = file.substr(dot + 1);
  if (end == "ndjson") return TextDialect{};
  if (end == "tsv") return TextDialect{.form = TextForm::csv, .delimiter = '\t'};
  const std::optional<TextForm> form = text_form(end);
  if (!form) return std::nullopt;
  return TextDialect{.form = *form};
}

TextForm pairs_form_of(std::string_view first) {
  bool any_pair = false;
  bool all_prefixed = true;
  bool any_glyph = false;
  for (size_t at = 0; at < first.size();) {
    while (at < first.size() && is_blank(first[at])) ++at;
    size_t end = at;
    while (end < first.size() && !is_blank(first[end])) ++end;
    const std::string_view word = first.substr(at, end - at);
    at = end;
    const size_t mark = word.find(">>");
    if (mark == word.npos) continue;
    std::string_view key = word.substr(0, mark);
    any_pair = true;
    all_prefixed &= key.starts_with("__");
    key.remove_prefix(std::min(key.find_first_not_of('\\'), key.size()));
    any_glyph |= !word_of(kPairGlyphs, key).empty() || !word_of(kPairVariants, key).empty();
  }
  if (any_pair && all_prefixed) return TextForm::ltu;
  return any_glyph ? TextForm::lts : TextForm::lt;
}

Result<TextDialect> dialect_of_file(const std::string& file, std::string_view first,
                                    const std::function<void(const std::string&)>& note) {
  std::optional<TextDialect> by_name = form_of_name(file);
  if (!by_name) return dialect_of_text(first);
  if (is_blank_text(first)) return *by_name;
  if (first.starts_with(kByteOrderMark)) first.remove_prefix(kByteOrderMark.size());
  if (by_name->form == TextForm::csv) {
    by_name->delimiter = CsvSample(first).find_delimiter(by_name->delimiter);
  }
  const Dialect by_text = detect(first);
  const Format format = records::dialect_of_name(file)->format;
  const Choice choice =
      choose_format({.format = format}, by_text, most_are_records(*by_name, first));
  const std::string what = note_of(choice, file, format, by_text.format);
  if (note && !what.empty()) note(what);
  if (choice == Choice::text_unlike_name) return dialect_of_text(first);
  return *by_name;
}

Result<TextDialect> dialect_of_records(const Dialect& dialect, std::string_view first) {
  switch (dialect.format) {
    case Format::json:
      return TextDialect{};
    case Format::csv:
      return TextDialect{.form = TextForm::csv,
                         .delimiter = dialect.delimiter,
                         .has_header = !dialect.names.empty()};
    case Format::pairs:
      if (dialect.pairs_form == "lt") return TextDialect{.form = TextForm::lt};
      if (dialect.pairs_form == "lts") return TextDialect{.form = TextForm::lts};
      if (dialect.pairs_form == "ltu") return TextDialect{.form = TextForm::ltu};
      return TextDialect{.form = pairs_form_of(first)};
    case Format::symbolic:
      return TextDialect{.form = TextForm::sym};
    default:
      if (is_blank_text(first)) return TextDialect{};
      return fail(ErrorCode::invalid_argument,
                  "the text is in none of the formats that have records (" +
                      std::string(name(dialect.format)) +
                      "): name its format with --from, or say --from lines to make each line a "
                      "record with one key");
  }
}

Result<TextDialect> dialect_of_text(std::string_view first) {
  if (is_blank_text(first)) return TextDialect{};
  if (first.starts_with(kByteOrderMark)) first.remove_prefix(kByteOrderMark.size());
  Result<TextDialect> dialect = dialect_of_records(detect(first), first);
  if (dialect && dialect->form == TextForm::csv && !dialect->has_header) {
    return fail(ErrorCode::invalid_argument,
                "the first line of the CSV may be a header or not: say --from csv where it is one, "
                "and --no-header where there is none");
  }
  return dialect;
}

}  // namespace hoist::records
