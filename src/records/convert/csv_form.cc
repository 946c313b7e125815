#include "records/convert/csv_form.h"

#include <algorithm>
#include <functional>

#include "records/convert/characters.h"
#include "records/convert/json_value.h"
#include "records/csv_rows.h"

namespace hoist::records {
namespace {

constexpr std::string_view kOrder = "@order";

struct Field {
  std::string text;
  bool is_quoted = false;
};

// One field, from the front of `row`.
Status take_field(std::string_view& row, char delimiter, Field& out) {
  out.text.clear();
  out.is_quoted = row.starts_with('"');
  if (!out.is_quoted) {
    const size_t end = std::min(row.find(delimiter), row.size());
    out.text = row.substr(0, end);
    if (out.text.find_first_of("\"\r") != out.text.npos) {
      return no_record("a field has a quote or a carriage return, but no quotes around it");
    }
    row.remove_prefix(end);
    return {};
  }
  for (row.remove_prefix(1);;) {
    const size_t quote = row.find('"');
    if (quote == row.npos) return no_record("a field between quotes has no end");
    out.text += row.substr(0, quote);
    row.remove_prefix(quote + 1);
    if (!row.starts_with('"')) break;
    out.text += '"';
    row.remove_prefix(1);
  }
  if (row.empty() || row.front() == delimiter) return {};
  return no_record("there is more behind a field's closing quote");
}

// take(i, field) for each field of the row; an error ends it.
Status for_fields(std::string_view row, char delimiter, const auto& take) {
  if (row.ends_with('\r')) row.remove_suffix(1);
  Field field;
  for (size_t i = 0;; ++i) {
    if (Status taken = take_field(row, delimiter, field); !taken) return taken;
    if (Status status = take(i, field); !status) return status;
    if (row.empty()) return {};
    row.remove_prefix(1);
  }
}

bool is_list(std::string_view text) {
  return (text.starts_with('[') || text.starts_with('{')) && is_json(text);
}

// The string that `text` is as JSON, where a writer has to write it so: other texts that begin and
// end with a quote are themselves.
std::optional<std::string> escaped_in(std::string_view text, bool (*must)(std::string_view)) {
  if (!text.starts_with('"')) return std::nullopt;
  std::optional<Value> value = parse_json(text);
  if (!value || !must(value->text)) return std::nullopt;
  std::string again;
  append_json_string(value->text, again);
  return again == text ? std::optional(std::move(value->text)) : std::nullopt;
}

// Whether a string cannot stand between quotes. Line ends and tabs are what quotes are for; other
// control characters show as escapes.
bool must_escape(std::string_view text) {
  const auto is_other = [](char c) {
    return static_cast<uint8_t>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
  };
  return !is_utf8(text) || is_list(text) || std::any_of(text.begin(), text.end(), is_other) ||
         escaped_in(text, must_escape).has_value();
}

bool must_escape_name(std::string_view key) {
  return has_control(key) || !is_utf8(key) || key == kOrder ||
         escaped_in(key, must_escape_name).has_value();
}

Value value_of(const Field& field) {
  if (!field.is_quoted || is_list(field.text)) return value_or_text(field.text);
  return {.kind = JsonKind::text, .text = escaped_in(field.text, must_escape).value_or(field.text)};
}

bool is_missing(const Field& field) { return field.text.empty() && !field.is_quoted; }

class CsvRowParser final : public RowParser {
 public:
  CsvRowParser(CsvHeader header, char delimiter)
      : header_(std::move(header)), delimiter_(delimiter) {
    for (uint32_t i = 0; i < header_.keys.size(); ++i) places_[header_.keys[i]].push_back(i);
  }

  Status parse(std::string_view row, Record& out) const override {
    const size_t columns = header_.keys.size() + (header_.has_order ? 1 : 0);
    size_t fields = 0;
    std::vector<uint32_t> members(header_.keys.size(), UINT32_MAX);  // by column
    Field order;
    const Status read = for_fields(row, delimiter_, [&](size_t i, const Field& field) -> Status {
      ++fields;
      if (i >= header_.keys.size()) {
        order = field;
      } else if (!is_missing(field)) {
        members[i] = static_cast<uint32_t>(out.size());
        out.push_back({header_.keys[i], value_of(field)});
      }
      return {};
    });
    if (!read) return read;
    if (fields != columns) {
      return no_record("the row has " + std::to_string(fields) + " fields, and the header " +
                       std::to_string(columns));
    }
    return is_missing(order) ? Status() : reorder(order.text, members, out);
  }

 private:
  Status reorder(const std::string& order, const std::vector<uint32_t>& members,
                 Record& out) const {
    const std::optional<std::vector<std::string>> keys = parse_json_strings(order);
    if (!keys) return no_record("@order is no array of keys");
    Record ordered;
    std::unordered_map<std::string_view, size_t> seen;
    for (const std::string& key : *keys) {
      const auto found = places_.find(key);
      const size_t n = seen[key]++;
      if (found == places_.end() || n >= found->second.size() ||
          members[found->second[n]] == UINT32_MAX) {
        return no_record("@order names a key that the row has not");
      }
      ordered.push_back(std::move(out[members[found->second[n]]]));
    }
    if (ordered.size() != out.size()) return no_record("@order does not name all keys of the row");
    out = std::move(ordered);
    return {};
  }

  CsvHeader header_;
  char delimiter_;
  std::unordered_map<std::string, std::vector<uint32_t>> places_;
};

// What no field has that stands without quotes. In a CSV of one column, where no comma shows what
// parts fields, other marks do not either.
std::string_view marks(bool is_alone) { return is_alone ? "\",;|" : "\","; }

bool is_bare(std::string_view text, std::string_view marks) {
  return !text.empty() && is_plain(text) && text.find_first_of(marks) == text.npos;
}

void append_json_field(const Value& value, std::string_view marks, std::string& out) {
  std::string json;
  append_json(value, json);
  if (is_bare(json, marks)) {
    out += json;
  } else {
    append_csv_quoted(json, out);
  }
}

void append_field(const Value& value, std::string_view marks, std::string& out) {
  const bool is_text = value.kind == JsonKind::text;
  if (is_text && is_bare(value.text, marks) && !is_json(value.text)) {
    out += value.text;
  } else if (is_text && !must_escape(value.text)) {
    append_csv_quoted(value.text, out);
  } else {
    append_json_field(value, marks, out);
  }
}

void append_name(std::string_view key, std::string_view marks, std::string& out) {
  if (must_escape_name(key)) {
    append_json_field({.kind = JsonKind::text, .text = std::string(key)}, marks, out);
  } else if (is_bare(key, marks)) {
    out += key;
  } else {
    append_csv_quoted(key, out);
  }
}

using Places = std::unordered_map<std::string, std::vector<uint32_t>>;

// The column of each key: the n-th of its name where it comes for the n-th time.
std::vector<uint32_t> places_of(const Places& columns, const Record& record) {
  std::vector<uint32_t> places;
  std::unordered_map<std::string_view, size_t> seen;
  for (const Member& member : record) {
    const std::vector<uint32_t>& found = columns.at(member.key);
    places.push_back(found.size() == 1 ? found[0] : found[seen[member.key]++]);
  }
  return places;
}

class CsvRowWriter final : public RowWriter {
 public:
  explicit CsvRowWriter(const CsvColumns& columns)
      : columns_(columns), marks_(marks(columns.fields() == 1)) {}

  void write(const Record& record, std::string& out) const override {
    const size_t count = columns_.keys().size();
    std::vector<const Value*> cells(count, nullptr);
    const std::vector<uint32_t> places = places_of(columns_.places(), record);
    for (size_t i = 0; i < places.size(); ++i) cells[places[i]] = &record[i].value;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) out += ',';
      if (cells[i] != nullptr) append_field(*cells[i], marks_, out);
    }
    if (columns_.needs_order()) {
      if (count > 0) out += ',';
      const bool is_sorted =
          std::adjacent_find(places.begin(), places.end(), std::greater_equal<>()) == places.end();
      if (!is_sorted || record.empty()) append_order(record, out);
    }
    out += '\n';
  }

 private:
  void append_order(const Record& record, std::string& out) const {
    Value order{.kind = JsonKind::array, .text = "["};
    for (const Member& member : record) {
      if (order.text.size() > 1) order.text += ',';
      append_json_string(member.key, order.text);
    }
    order.text += ']';
    append_json_field(order, marks_, out);
  }

  const CsvColumns& columns_;
  std::string_view marks_;
};

}  // namespace

Result<CsvHeader> parse_csv_header(std::string_view row, char delimiter) {
  CsvHeader header;
  const Status read = for_fields(row, delimiter, [&](size_t, const Field& field) -> Status {
    if (header.has_order) {
      header.keys.emplace_back(kOrder);  // it was not the last
      header.has_order = false;
    }
    if (field.text == kOrder) {
      header.has_order = true;
    } else {
      header.keys.push_back(escaped_in(field.text, must_escape_name).value_or(field.text));
    }
    return header.keys.size() > kMaxMembers ? no_record("the header has too many keys") : Status();
  });
  if (!read) return read.error();
  return header;
}

Result<CsvHeader> numbered_csv_header(std::string_view row, char delimiter) {
  CsvHeader header;
  const Status read = for_fields(row, delimiter, [&](size_t i, const Field&) -> Status {
    header.keys.push_back(std::to_string(i));
    return {};
  });
  if (!read) return read.error();
  return header;
}

std::unique_ptr<RowParser> csv_row_parser(CsvHeader header, char delimiter) {
  return std::make_unique<CsvRowParser>(std::move(header), delimiter);
}

std::string csv_header(const CsvColumns& columns) {
  std::string out;
  for (const std::string& key : columns.keys()) {
    if (&key != &columns.keys().front()) out += ',';
    append_name(key, marks(columns.fields() == 1), out);
  }
  if (columns.needs_order()) {
    if (!out.empty()) out += ',';
    out += kOrder;
  }
  if (!out.empty()) out += '\n';
  return out;
}

std::unique_ptr<RowWriter> csv_row_writer(const CsvColumns& columns) {
  return std::make_unique<CsvRowWriter>(columns);
}

}  // namespace hoist::records
