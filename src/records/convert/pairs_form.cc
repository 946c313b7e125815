// key>>value key>>value: lt, lts and ltu.
//
// A word with >> begins a pair at the first >>; words without belong to the value before them, with
// the white space between. A value that is JSON is that value; else it is a string as it stands. So
// a string is written in quotes only where it is JSON by chance, or where a part of it would be
// read as something else. A key in quotes is a JSON string as well.
#include "records/convert/characters.h"
#include "records/convert/glyphs.h"
#include "records/convert/json_value.h"
#include "records/convert/row_form.h"

namespace hoist::records {
namespace {

constexpr std::string_view kMark = ">>";
constexpr std::string_view kPrefix = "__";       // of ltu
constexpr std::string_view kEmptyRecord = "{}";  // the whole row

std::string_view word_of_glyph(std::string_view glyph) {
  const std::string_view word = word_of(kPairGlyphs, glyph);
  return word.empty() ? word_of(kPairVariants, glyph) : word;
}

// A glyph with so many backslashes in front.
bool is_escaped_glyph(std::string_view key) {
  key.remove_prefix(std::min(key.find_first_not_of('\\'), key.size()));
  return !word_of_glyph(key).empty();
}

bool is_quoted(std::string_view key) { return key.starts_with('"') && is_json(key); }

class PairsRowParser final : public RowParser {
 public:
  explicit PairsRowParser(TextForm form) : form_(form) {}

  Status parse(std::string_view row, Record& out) const override {
    while (!row.empty() && is_blank(row.back())) row.remove_suffix(1);
    while (!row.empty() && is_blank(row.front())) row.remove_prefix(1);
    if (row == kEmptyRecord) return {};
    size_t value = 0;  // where the open one begins
    size_t last = 0;   // the end of the word before
    for (size_t at = 0; at < row.size();) {
      size_t end = at;
      while (end < row.size() && !is_blank(row[end])) ++end;
      const std::string_view word = row.substr(at, end - at);
      if (const size_t mark = word.find(kMark); mark != word.npos) {
        if (!out.empty()) out.back().value = value_or_text(row.substr(value, last - value));
        if (out.size() == kMaxMembers) return no_record("the row has too many keys");
        out.emplace_back();
        if (Status key = read_key(word.substr(0, mark), out.back().key); !key) return key;
        value = at + mark + kMark.size();
      } else if (out.empty()) {
        return no_record("the row does not begin with key>>value");
      }
      last = at = end;
      while (at < row.size() && is_blank(row[at])) ++at;
    }
    if (out.empty()) return no_record("the row has no key>>value");
    out.back().value = value_or_text(row.substr(value));
    return {};
  }

 private:
  Status read_key(std::string_view key, std::string& out) const {
    if (form_ == TextForm::ltu) {
      if (!key.starts_with(kPrefix)) return no_record("a key does not begin with __");
      key.remove_prefix(kPrefix.size());
    }
    if (is_quoted(key)) {
      out = parse_json(key)->text;
      return {};
    }
    if (form_ == TextForm::lts) {
      if (key.starts_with('\\') && is_escaped_glyph(key)) {
        key.remove_prefix(1);
      } else if (const std::string_view word = word_of_glyph(key); !word.empty()) {
        key = word;
      }
    }
    out = key;
    return {};
  }

  TextForm form_;
};

// JSON in which a >> or, where `as_key`, white space shows by its code only.
void append_shielded(std::string_view json, bool as_key, std::string& out) {
  uint32_t point = 0;
  for (size_t at = 0; at < json.size();) {
    const size_t begin = at;
    if (!next_code_point(json, at, point)) return;  // JSON as it is written is UTF-8
    if (json.substr(begin, 1) == ">" && begin > 0 && json[begin - 1] == '>') {
      out += "\\u003e";
    } else if (as_key && is_space(point)) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(point >> shift) & 0xf];
    } else {
      out += json.substr(begin, at - begin);
    }
  }
}

bool may_stand(std::string_view value) {
  return is_plain(value) && !is_json(value) &&
         (value.find(kMark) == value.npos || !has_space(value));
}

bool may_stand_as_key(std::string_view key) {
  return !key.empty() && is_plain(key) && !has_space(key) && key.find(kMark) == key.npos &&
         !key.ends_with('>') && !is_quoted(key);
}

class PairsRowWriter final : public RowWriter {
 public:
  explicit PairsRowWriter(TextForm form) : form_(form) {}

  void write(const Record& record, std::string& out) const override {
    if (record.empty()) out += kEmptyRecord;
    for (size_t i = 0; i < record.size(); ++i) {
      if (i > 0) out += ' ';
      write_key(record[i].key, out);
      out += kMark;
      write_value(record[i].value, out);
    }
    out += '\n';
  }

 private:
  void write_key(std::string_view key, std::string& out) const {
    if (form_ == TextForm::ltu) out += kPrefix;
    if (!may_stand_as_key(key)) {
      std::string json;
      append_json_string(key, json);
      return append_shielded(json, true, out);
    }
    if (form_ == TextForm::lts) {
      if (is_escaped_glyph(key)) out += '\\';
      if (const std::string_view glyph = glyph_of(kPairGlyphs, key); !glyph.empty()) key = glyph;
    }
    out += key;
  }

  static void write_value(const Value& value, std::string& out) {
    if (value.kind == JsonKind::text && may_stand(value.text)) {
      out += value.text;
      return;
    }
    std::string json;
    append_json(value, json);
    append_shielded(json, false, out);
  }

  TextForm form_;
};

}  // namespace

std::unique_ptr<RowParser> pairs_row_parser(TextForm form) {
  return std::make_unique<PairsRowParser>(form);
}
std::unique_ptr<RowWriter> pairs_row_writer(TextForm form) {
  return std::make_unique<PairsRowWriter>(form);
}

}  // namespace hoist::records
