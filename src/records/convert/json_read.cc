#include <charconv>
#include <cstring>

#include "base/utf8.h"
#include "records/convert/json_value.h"
#include "records/json_number.h"

namespace hoist::records {
namespace {

// The size of the number at the beginning of `text`, which may be one of the three words; 0 where
// there is none.
size_t number_size(std::string_view text) {
  const size_t digits = json_number_size(text);
  if (digits > 0) return digits;
  for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
    if (text.starts_with(word)) return word.size();
  }
  return 0;
}

class JsonParser {
 public:
  explicit JsonParser(std::string_view text)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  bool at_end() const { return at_ == end_; }
  size_t position() const { return static_cast<size_t>(at_ - begin_); }
  const char* why() const { return why_; }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) ++at_;
  }

  // The bytes of the string at this place.
  bool string(std::string& out) {
    if (!take('"')) return no("a string is missing");
    for (;;) {
      const char* const plain = at_;
      while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<uint8_t>(*at_) >= 0x20) {
        ++at_;
      }
      out.append(plain, at_);
      if (at_ == end_) return no("a string has no end");
      if (take('"')) return true;
      if (!take('\\')) return no("a control character stands in a string");
      if (!escape(out)) return false;
    }
  }

  bool value(int depth, Value& out) {
    out.text.clear();
    if (at_ == end_) return no("a value is missing");
    switch (*at_) {
      case '"':
        out.kind = JsonKind::text;
        return string(out.text);
      case '{':
      case '[':
        out.kind = *at_ == '{' ? JsonKind::object : JsonKind::array;
        return compact(depth, out.text);
      case 't':
      case 'f':
        out.kind = JsonKind::boolean;
        return word(*at_ == 't' ? "true" : "false", out.text);
      case 'n': {
        out.kind = JsonKind::null;
        const bool found = word("null", out.text);
        out.text.clear();
        return found;
      }
      default:
        out.kind = JsonKind::number;
        return number(out.text);
    }
  }

  bool members(Record& out) {
    return items('{', '}', [&](size_t count) {
      if (count == kMaxMembers) return no("an object has too many keys");
      out.emplace_back();
      return string(out.back().key) && colon() && value(1, out.back().value);
    });
  }

  bool strings(std::vector<std::string>& out) {
    return items('[', ']', [&](size_t) { return string(out.emplace_back()); });
  }

 private:
  bool no(const char* why) {
    why_ = why;
    return false;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  bool word(std::string_view expected, std::string& out) {
    if (static_cast<size_t>(end_ - at_) < expected.size() ||
        std::memcmp(at_, expected.data(), expected.size()) != 0) {
      return no("a word is none of true, false and null");
    }
    at_ += expected.size();
    out += expected;
    return true;
  }

  bool number(std::string& out) {
    const size_t size = number_size({at_, static_cast<size_t>(end_ - at_)});
    if (size == 0) return no("a value is none");
    out.append(at_, size);
    at_ += size;
    return true;
  }

  // The four digits behind \u.
  std::optional<uint32_t> unit() {
    uint32_t found = 0;
    if (end_ - at_ < 4) return std::nullopt;
    const auto [end, error] = std::from_chars(at_, at_ + 4, found, 16);
    if (error != std::errc() || end != at_ + 4) return std::nullopt;
    at_ += 4;
    return found;
  }

  bool escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (take('u')) return escaped_unit(out);
    const size_t letter = at_ == end_ ? kLetters.npos : kLetters.find(*at_);
    if (letter == kLetters.npos) return no("a string has an unknown escape");
    ++at_;
    out += kMeanings[letter];
    return true;
  }

  bool escaped_unit(std::string& out) {
    const std::optional<uint32_t> first = unit();
    if (!first) return no("\\u has no four digits behind it");
    if (*first >= 0xd800 && *first < 0xdc00 && end_ - at_ >= 6 && at_[0] == '\\' && at_[1] == 'u') {
      const char* const before = at_;
      at_ += 2;
      const std::optional<uint32_t> low = unit();
      if (low && *low >= 0xdc00 && *low < 0xe000) {
        append_code_point(0x10000 + ((*first - 0xd800) << 10) + (*low - 0xdc00), out);
        return true;
      }
      at_ = before;
    }
    if (*first >= 0xdc80 && *first < 0xdd00) {
      out += static_cast<char>(*first - 0xdc00);
    } else {
      append_code_point(*first, out);
    }
    return true;
  }

  bool colon() {
    skip_space();
    if (!take(':')) return no("a key has no colon behind it");
    skip_space();
    return true;
  }

  // item(n) reads the n-th item.
  bool items(char open, char close, const auto& item) {
    if (!take(open)) return no("the row is no object");
    skip_space();
    if (take(close)) return true;
    for (size_t count = 0;; ++count) {
      skip_space();
      if (!item(count)) return false;
      skip_space();
      if (take(close)) return true;
      if (!take(',')) return no("a comma or an end is missing");
    }
  }

  bool compact_string(std::string& out) {
    std::string bytes;
    if (!string(bytes)) return false;
    append_json_string(bytes, out);
    return true;
  }

  // The value at this place without white space.
  bool compact(int depth, std::string& out) {
    if (depth > kMaxJsonDepth) return no("values are nested too deep");
    if (at_ == end_) return no("a value is missing");
    const char first = *at_;
    if (first == '"') return compact_string(out);
    if (first != '{' && first != '[') {
      Value scalar;
      if (!value(depth, scalar)) return false;
      append_json(scalar, out);
      return true;
    }
    const char close = first == '{' ? '}' : ']';
    out += first;
    const bool all = items(first, close, [&](size_t count) {
      if (count > 0) out += ',';
      if (first == '{') {
        if (!compact_string(out) || !colon()) return false;
        out += ':';
      }
      return compact(depth + 1, out);
    });
    out += close;
    return all;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* why_ = "";
};

}  // namespace

std::optional<Value> parse_json(std::string_view text) {
  JsonParser parser(text);
  Value value;
  if (!parser.value(1, value) || !parser.at_end()) return std::nullopt;
  return value;
}

Status parse_json_object(std::string_view text, Record& out) {
  JsonParser parser(text);
  parser.skip_space();
  const bool is_object = parser.members(out);
  if (is_object) parser.skip_space();
  if (is_object && parser.at_end()) return {};
  return fail(ErrorCode::invalid_argument,
              std::string(is_object ? "there is more behind the object" : parser.why()) +
                  ", at byte " + std::to_string(parser.position() + 1));
}

std::optional<std::vector<std::string>> parse_json_strings(std::string_view text) {
  JsonParser parser(text);
  std::vector<std::string> strings;
  if (!parser.strings(strings) || !parser.at_end()) return std::nullopt;
  return strings;
}

bool is_json(std::string_view text) {
  constexpr std::string_view kFirst = "\"[{-0123456789tfnNI";
  if (text.empty() || kFirst.find(text[0]) == kFirst.npos) return false;
  if (text == "true" || text == "false" || text == "null") return true;
  if (text[0] == '"' || text[0] == '[' || text[0] == '{') return parse_json(text).has_value();
  return number_size(text) == text.size();
}

Value value_or_text(std::string_view text) {
  if (is_json(text)) return *parse_json(text);
  return {.kind = JsonKind::text, .text = std::string(text)};
}

}  // namespace hoist::records
