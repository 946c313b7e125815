#include "records/typed/plain_text.h"

#include <charconv>
#include <optional>

#include "base/utf8.h"
#include "records/convert/json_value.h"

namespace hoist::records::typed {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

// The four digits behind \u at `at`.
std::optional<uint32_t> code_unit(std::string_view text, size_t at) {
  if (text.size() < at + 6 || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  uint32_t unit = 0;
  const char* const begin = text.data() + at + 2;
  const auto [end, error] = std::from_chars(begin, begin + 4, unit, 16);
  if (error != std::errc() || end != begin + 4) return std::nullopt;
  return unit;
}

// \uXXXX at `at`, with its second half if it is the first of a pair; moves behind it.
void put_escaped_point(std::string_view text, size_t& at, std::string& out) {
  const std::optional<uint32_t> unit = code_unit(text, at);
  if (!unit) {  // no JSON: as it stands
    out += text[at++];
    return;
  }
  at += 6;
  const bool is_surrogate = *unit >= 0xd800 && *unit <= 0xdfff;
  if (!is_surrogate) return append_code_point(*unit, out);
  if (const std::optional<uint32_t> low = code_unit(text, at);
      *unit < 0xdc00 && low && *low >= 0xdc00 && *low <= 0xdfff) {
    at += 6;
    return append_code_point(0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00), out);
  }
  append_code_point(kReplacement, out);
}

std::string without_json_escapes(std::string_view text) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at++];
      continue;
    }
    const size_t letter = kLetters.find(text[at + 1]);
    if (letter == std::string_view::npos) {
      put_escaped_point(text, at, out);
    } else {
      out += kMeanings[letter];
      at += 2;
    }
  }
  return out;
}

std::string without_doubled_quotes(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    out += text[at];
    if (text.substr(at, 2) == "\"\"") ++at;
  }
  return out;
}

std::string with_valid_utf8(std::string_view text) {
  std::string out;
  uint32_t point = 0;
  for (size_t at = 0; at < text.size();) {
    if (next_code_point(text, at, point)) {
      append_code_point(point, out);
    } else {
      append_code_point(kReplacement, out);
      ++at;
    }
  }
  return out;
}

}  // namespace

std::string_view plain_text(std::string_view text, Format format, ColumnKind kind,
                            std::string& storage) {
  if (kind == ColumnKind::text && format == Format::json && text.find('\\') != text.npos) {
    text = storage = without_json_escapes(text);
  } else if (kind == ColumnKind::text && format == Format::csv && text.find('"') != text.npos) {
    text = storage = without_doubled_quotes(text);
  }
  if (!is_utf8(text)) text = storage = with_valid_utf8(text);
  return text;
}

std::string_view exact_text(std::string_view text, Format format, ColumnKind kind,
                            std::string& storage) {
  if (kind == ColumnKind::text && format == Format::json && text.find('\\') != text.npos) {
    std::optional<Value> value = parse_json('"' + std::string(text) + '"');
    return storage = value ? std::move(value->text) : without_json_escapes(text);
  }
  if (kind == ColumnKind::text && format == Format::csv && text.find('"') != text.npos) {
    return storage = without_doubled_quotes(text);
  }
  return text;
}

}  // namespace hoist::records::typed
