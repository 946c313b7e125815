#include "base/utf8.h"
#include "records/convert/json_value.h"

namespace hoist::records {
namespace {

void append_unit(uint32_t unit, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(unit >> shift) & 0xf];
}

void append_control(char c, std::string& out) {
  constexpr std::string_view kMeanings = "\b\f\n\r\t";
  constexpr std::string_view kLetters = "bfnrt";
  const size_t letter = kMeanings.find(c);
  if (letter == kMeanings.npos) return append_unit(static_cast<uint8_t>(c), out);
  out += '\\';
  out += kLetters[letter];
}

// The surrogate whose three bytes stand at `at`; 0 where there is none.
uint32_t surrogate_at(std::string_view bytes, size_t at) {
  if (bytes.size() - at < 3 || bytes[at] != '\xed') return 0;
  const auto second = static_cast<uint8_t>(bytes[at + 1]);
  const auto third = static_cast<uint8_t>(bytes[at + 2]);
  if ((second & 0xe0) != 0xa0 || (third & 0xc0) != 0x80) return 0;
  return 0xd000u | (second & 0x3fu) << 6 | (third & 0x3fu);
}

bool is_high(uint32_t surrogate) { return surrogate >= 0xd800 && surrogate < 0xdc00; }

// Whether an escape may stand in front of these bytes without being half of a pair.
bool begins_with_no_escape(std::string_view bytes) {
  size_t at = 0;
  uint32_t point = 0;
  return bytes.empty() || next_code_point(bytes, at, point);
}

// High surrogates at `at`, as many as there are. If what follows them is an escape, the last could
// be read with it as a pair, so it is written as bytes; then the one before it is, too.
void append_high_surrogates(std::string_view bytes, size_t& at, std::string& out) {
  size_t end = at;
  while (is_high(surrogate_at(bytes, end))) end += 3;
  const bool as_units = begins_with_no_escape(bytes.substr(end));
  for (; at < end; at += as_units ? 3 : 1) {
    append_unit(as_units ? surrogate_at(bytes, at) : 0xdc00u | static_cast<uint8_t>(bytes[at]),
                out);
  }
}

// What is no UTF-8, at `at`, which is moved behind it.
void append_invalid(std::string_view bytes, size_t& at, std::string& out) {
  const uint32_t surrogate = surrogate_at(bytes, at);
  if (is_high(surrogate)) return append_high_surrogates(bytes, at, out);
  // One of 0xdc80 to 0xdcff would be a byte.
  const bool is_unit = surrogate != 0 && (surrogate < 0xdc80 || surrogate >= 0xdd00);
  append_unit(is_unit ? surrogate : 0xdc00u | static_cast<uint8_t>(bytes[at]), out);
  at += is_unit ? 3 : 1;
}

}  // namespace

void append_json_string(std::string_view bytes, std::string& out) {
  out += '"';
  for (size_t at = 0; at < bytes.size();) {
    const char c = bytes[at];
    if (static_cast<uint8_t>(c) >= 0x80) {
      const size_t begin = at;
      uint32_t point = 0;
      if (next_code_point(bytes, at, point)) {
        out += bytes.substr(begin, at - begin);
      } else {
        append_invalid(bytes, at, out);
      }
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<uint8_t>(c) < 0x20) {
      append_control(c, out);
    } else {
      out += c;
    }
    ++at;
  }
  out += '"';
}

void append_json(const Value& value, std::string& out) {
  if (value.kind == JsonKind::text) {
    append_json_string(value.text, out);
  } else {
    out += value.kind == JsonKind::null ? "null" : value.text;
  }
}

void append_json_object(const Record& record, std::string& out) {
  out += '{';
  for (size_t i = 0; i < record.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(record[i].key, out);
    out += ':';
    append_json(record[i].value, out);
  }
  out += '}';
}

}  // namespace hoist::records
