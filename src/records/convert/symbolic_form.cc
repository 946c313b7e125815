// ⟆⟐.RAW:[§₿»⏱68a128dc»↗117391.31,✓]: sym, as saiql_delta.core.loretoken_symbolic
// writes it.
//
// A string stands as it is, with escapes for characters that end things. All else begins with = and
// is JSON; but a timestamp from 0 to 2^32 - 1 is eight digits in base 16. \" in front says that a
// string is no glyph, no JSON and no such time. A key may come twice. What a line has beside its
// fields are keys of their own, unless it is what most lines have: @type and @subtype in front,
// @status behind.
#include <algorithm>
#include <charconv>

#include "records/convert/characters.h"
#include "records/convert/glyphs.h"
#include "records/convert/json_value.h"
#include "records/convert/row_form.h"

namespace hoist::records {
namespace {

constexpr std::string_view kBegin = "⟆";
constexpr std::string_view kFieldMark = "»";
constexpr std::string_view kIsText = "\\\"";
constexpr std::string_view kTypeKey = "@type";
constexpr std::string_view kSubtypeKey = "@subtype";
constexpr std::string_view kStatusKey = "@status";
constexpr std::string_view kUsualType = "RECORD";
constexpr std::string_view kUsualSubtype = "RAW";
constexpr std::string_view kUsualStatus = "ACTIVE";

struct Escape {
  std::string_view text;
  char letter;
};
// Those that values need, then those of names, then that of a type or a status.
constexpr std::array<Escape, 10> kEscapes = {{{"\\", '\\'},
                                              {"»", '>'},
                                              {",", ';'},
                                              {"[", '('},
                                              {"]", ')'},
                                              {"⟆", '&'},
                                              {"\n", 'n'},
                                              {"\r", 'r'},
                                              {":", 'c'},
                                              {".", 'd'}}};
enum class Escaped : size_t { value = 8, name = 9, kind = 10 };

void append_byte(uint8_t byte, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\x";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 0xf];
}

void append_escaped(std::string_view text, Escaped set, std::string& out) {
  const std::span escapes = std::span(kEscapes).first(static_cast<size_t>(set));
  uint32_t point = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    if (!next_code_point(text, at, point)) {
      append_byte(static_cast<uint8_t>(text[at++]), out);
      continue;
    }
    const std::string_view character = text.substr(begin, at - begin);
    const auto found = std::find_if(escapes.begin(), escapes.end(),
                                    [&](const Escape& escape) { return escape.text == character; });
    if (found == escapes.end()) {
      out += character;
    } else {
      out += '\\';
      out += found->letter;
    }
  }
}

std::optional<uint8_t> hex_byte(std::string_view digits) {
  uint8_t byte = 0;
  if (digits.size() < 2) return std::nullopt;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + 2, byte, 16);
  if (error != std::errc() || end != digits.data() + 2) return std::nullopt;
  return byte;
}

Status unescape(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const size_t escape = text.find('\\');
    out += text.substr(0, escape);
    if (escape == text.npos) return {};
    text.remove_prefix(escape + 1);
    if (text.starts_with('x')) {
      const std::optional<uint8_t> byte = hex_byte(text.substr(1));
      if (!byte) return no_record("\\x has no two digits behind it");
      out += static_cast<char>(*byte);
      text.remove_prefix(3);
      continue;
    }
    const auto* const found =
        std::find_if(kEscapes.begin(), kEscapes.end(),
                     [&](const Escape& each) { return text.starts_with(each.letter); });
    if (found == kEscapes.end()) return no_record("a backslash has no known letter behind it");
    out += found->text;
    text.remove_prefix(1);
  }
  return {};
}

bool is_time(std::string_view text) {
  return text.size() == 8 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// The glyph that a field begins with.
const Glyph* field_glyph(std::string_view field) {
  for (const Glyph& each : kFields) {
    if (field.starts_with(each.glyph)) return &each;
  }
  return nullptr;
}

class SymbolicRowParser final : public RowParser {
 public:
  Status parse(std::string_view row, Record& out) const override {
    while (!row.empty() && is_blank(row.back())) row.remove_suffix(1);
    const size_t open = row.find(":[");
    if (!row.starts_with(kBegin) || open == row.npos || !row.ends_with(']')) return none();
    const std::string_view head = row.substr(kBegin.size(), open - kBegin.size());
    const std::string_view body = row.substr(open + 2, row.size() - open - 3);
    const size_t dot = head.find('.');
    const size_t comma = body.rfind(',');
    if (dot == head.npos || comma == body.npos || head.find_first_of("[]:\r") != head.npos ||
        body.find_first_of("[]\r") != body.npos) {
      return none();
    }
    Status read = read_name(kTypeKey, head.substr(0, dot), kTypes, kUsualType, out);
    if (read) read = read_name(kSubtypeKey, head.substr(dot + 1), {}, kUsualSubtype, out);
    if (read) read = read_fields(body.substr(0, comma), out);
    if (read) read = read_name(kStatusKey, body.substr(comma + 1), kStatuses, kUsualStatus, out);
    return read;
  }

 private:
  static Error none() { return no_record("the row is not \u27c6TYPE.SUBTYPE:[fields,status]"); }

  static Status read_name(std::string_view key, std::string_view text,
                          std::span<const Glyph> glyphs, std::string_view usual, Record& out) {
    std::string name(word_of(glyphs, text));
    if (name.empty()) {
      if (!glyphs.empty() && text.starts_with(kIsText)) text.remove_prefix(kIsText.size());
      if (Status read = unescape(text, name); !read) return read;
    }
    if (name != usual) {
      out.push_back({std::string(key), {.kind = JsonKind::text, .text = std::move(name)}});
    }
    return {};
  }

  static Status read_fields(std::string_view fields, Record& out) {
    if (fields.empty()) return {};
    for (;;) {
      const size_t end = fields.find(kFieldMark);
      if (out.size() >= kMaxMembers) return no_record("the row has too many fields");
      out.emplace_back();
      if (Status read = read_field(fields.substr(0, end), out.back()); !read) return read;
      if (end == fields.npos) return {};
      fields.remove_prefix(end + kFieldMark.size());
    }
  }

  static Status read_field(std::string_view field, Member& out) {
    if (const Glyph* glyph = field_glyph(field); glyph != nullptr) {
      out.key = glyph->word;
      return read_value(out.key, field.substr(glyph->glyph.size()), out.value);
    }
    const size_t colon = field.find(':');
    if (colon == field.npos) return no_record("a field has neither a glyph nor a key");
    std::string_view key = field.substr(0, colon);
    if (key.starts_with(kIsText)) key.remove_prefix(kIsText.size());
    if (Status read = unescape(key, out.key); !read) return read;
    return read_value(out.key, field.substr(colon + 1), out.value);
  }

  static Status read_value(std::string_view key, std::string_view text, Value& out) {
    if (text.starts_with('=')) {
      std::string json;
      if (Status read = unescape(text.substr(1), json); !read) return read;
      std::optional<Value> value = parse_json(json);
      if (!value) return no_record("what stands behind = is no JSON");
      out = std::move(*value);
      return {};
    }
    if (key == "timestamp" && is_time(text)) {
      uint32_t time = 0;
      std::from_chars(text.data(), text.data() + text.size(), time, 16);
      out = {.kind = JsonKind::number, .text = std::to_string(time)};
      return {};
    }
    out.kind = JsonKind::text;
    if (key == "symbol") out.text = word_of(kTickers, text);
    if (!out.text.empty()) return {};
    if (text.starts_with(kIsText)) text.remove_prefix(kIsText.size());
    return unescape(text, out.text);
  }
};

class SymbolicRowWriter final : public RowWriter {
 public:
  void write(const Record& record, std::string& out) const override {
    std::span<const Member> fields = record;
    const auto take = [&](std::string_view key, std::string_view usual, bool at_end) {
      if (fields.empty()) return usual;
      const Member& member = at_end ? fields.back() : fields.front();
      if (member.key != key || member.value.kind != JsonKind::text || member.value.text == usual) {
        return usual;
      }
      fields = at_end ? fields.first(fields.size() - 1) : fields.subspan(1);
      return std::string_view(member.value.text);
    };
    out += kBegin;
    write_name(take(kTypeKey, kUsualType, false), kTypes, out);
    out += '.';
    append_escaped(take(kSubtypeKey, kUsualSubtype, false), Escaped::name, out);
    out += ":[";
    const std::string_view status = take(kStatusKey, kUsualStatus, true);
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) out += kFieldMark;
      write_field(fields[i], out);
    }
    out += ',';
    write_name(status, kStatuses, out);
    out += "]\n";
  }

 private:
  static void write_name(std::string_view name, std::span<const Glyph> glyphs, std::string& out) {
    if (const std::string_view glyph = glyph_of(glyphs, name); !glyph.empty()) {
      out += glyph;
      return;
    }
    if (!word_of(glyphs, name).empty()) out += kIsText;
    append_escaped(name, Escaped::kind, out);
  }

  static void write_field(const Member& member, std::string& out) {
    if (const std::string_view glyph = glyph_of(kFields, member.key); !glyph.empty()) {
      out += glyph;
    } else {
      if (field_glyph(member.key) != nullptr) out += kIsText;
      append_escaped(member.key, Escaped::name, out);
      out += ':';
    }
    write_value(member.key, member.value, out);
  }

  static void write_value(std::string_view key, const Value& value, std::string& out) {
    if (value.kind == JsonKind::text && is_utf8(value.text))
      return write_text(key, value.text, out);
    if (key == "timestamp" && value.kind == JsonKind::number && write_time(value.text, out)) return;
    std::string json;
    append_json(value, json);
    out += '=';
    append_escaped(json, Escaped::value, out);
  }

  static void write_text(std::string_view key, std::string_view text, std::string& out) {
    if (key == "symbol") {
      if (const std::string_view glyph = glyph_of(kTickers, text); !glyph.empty()) {
        out += glyph;
        return;
      }
    }
    if (text.starts_with('=') || (key == "symbol" && !word_of(kTickers, text).empty()) ||
        (key == "timestamp" && is_time(text))) {
      out += kIsText;
    }
    append_escaped(text, Escaped::value, out);
  }

  static bool write_time(std::string_view number, std::string& out) {
    uint32_t time = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), time);
    if (error != std::errc() || std::to_string(time) != number) return false;
    std::array<char, 8> digits;
    for (size_t i = 8; i-- > 0; time >>= 4) digits[i] = "0123456789abcdef"[time & 0xf];
    out.append(digits.data(), digits.size());
    return true;
  }
};

}  // namespace

std::unique_ptr<RowParser> symbolic_row_parser() { return std::make_unique<SymbolicRowParser>(); }
std::unique_ptr<RowWriter> symbolic_row_writer() { return std::make_unique<SymbolicRowWriter>(); }

}  // namespace hoist::records
