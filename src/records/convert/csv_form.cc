#include "records/convert/csv_form.h"

#include <algorithm>
#include <functional>

#include "records/convert/characters.h"
#include "records/convert/json_value.h"

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

bool is_nested(std::string_view text) {
  return (text.starts_with('"') || text.starts_with('[') || text.starts_with('{')) && is_json(text);
}

Value value_of(const Field& field) {
  if (!field.is_quoted || is_nested(field.text)) return value_or_text(field.text);
  return {.kind = JsonKind::text, .text = field.text};
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

// `text` may be any; between quotes.
void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

bool is_bare(std::string_view text) {
  return !text.empty() && is_plain(text) && text.find_first_of("\",") == text.npos;
}

void append_json_field(const Value& value, std::string& out) {
  std::string json;
  append_json(value, json);
  if (is_bare(json)) {
    out += json;
  } else {
    append_quoted(json, out);
  }
}

// Line ends and tabs are what quotes are for; other control characters show as escapes.
bool may_be_quoted(std::string_view text) {
  const auto is_other = [](char c) {
    return static_cast<uint8_t>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
  };
  return is_utf8(text) && !is_nested(text) && std::none_of(text.begin(), text.end(), is_other);
}

void append_field(const Value& value, std::string& out) {
  const bool is_text = value.kind == JsonKind::text;
  if (is_text && is_bare(value.text) && !is_json(value.text)) {
    out += value.text;
  } else if (is_text && may_be_quoted(value.text)) {
    append_quoted(value.text, out);
  } else {
    append_json_field(value, out);
  }
}

void append_name(std::string_view key, std::string& out) {
  const bool shows = !has_control(key) && is_utf8(key) && key != kOrder && !is_nested(key);
  if (!shows) return append_json_field({.kind = JsonKind::text, .text = std::string(key)}, out);
  if (is_bare(key)) {
    out += key;
  } else {
    append_quoted(key, out);
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
  explicit CsvRowWriter(const CsvColumns& columns) : columns_(columns) {}

  void write(const Record& record, std::string& out) const override {
    const size_t count = columns_.keys().size();
    std::vector<const Value*> cells(count, nullptr);
    const std::vector<uint32_t> places = places_of(columns_.places(), record);
    for (size_t i = 0; i < places.size(); ++i) cells[places[i]] = &record[i].value;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) out += ',';
      if (cells[i] != nullptr) append_field(*cells[i], out);
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
  static void append_order(const Record& record, std::string& out) {
    Value order{.kind = JsonKind::array, .text = "["};
    for (const Member& member : record) {
      if (order.text.size() > 1) order.text += ',';
      append_json_string(member.key, order.text);
    }
    order.text += ']';
    append_json_field(order, out);
  }

  const CsvColumns& columns_;
};

}  // namespace

size_t CsvRowScanner::find_end(std::string_view text, size_t at) {
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (state_ == State::quoted) {
      if (c == '"') state_ = State::behind;
    } else if (c == '\n') {
      state_ = State::field;
      return at + 1;
    } else if (c == delimiter_) {
      state_ = State::field;
    } else if (c == '"' && state_ != State::bare) {
      state_ = State::quoted;
    } else {
      state_ = State::bare;
    }
  }
  return text.npos;
}

Result<CsvHeader> parse_csv_header(std::string_view row, char delimiter) {
  CsvHeader header;
  const Status read = for_fields(row, delimiter, [&](size_t, const Field& field) -> Status {
    if (header.has_order) {
      header.keys.emplace_back(kOrder);  // it was not the last
      header.has_order = false;
    }
    if (field.text == kOrder) {
      header.has_order = true;
    } else if (field.text.starts_with('"') && is_json(field.text)) {
      header.keys.push_back(parse_json(field.text)->text);
    } else {
      header.keys.push_back(field.text);
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
    append_name(key, out);
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
