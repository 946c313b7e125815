#include "service/api/answer_text.h"

#include <simdjson.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hoist::service {
namespace {

// Whether a text is in JSON as it is.
bool is_plain(std::string_view text) {
  bool is_ascii = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '"' || c == '\\') return false;
    is_ascii &= byte < 0x80;
  }
  return is_ascii || simdjson::validate_utf8(text);
}

}  // namespace

AnswerText& AnswerText::begin(char bracket) {
  separate();
  out_ += bracket;
  return *this;
}

AnswerText& AnswerText::end(char bracket) {
  out_ += bracket;
  return *this;
}

AnswerText& AnswerText::key(std::string_view word) {
  text(word);
  out_ += ':';
  return *this;
}

AnswerText& AnswerText::text(std::string_view value) {
  using Json = nlohmann::ordered_json;
  if (!is_plain(value))
    return json(Json(value).dump(-1, ' ', false, Json::error_handler_t::replace));
  separate();
  out_ += '"';
  out_ += value;
  out_ += '"';
  return *this;
}

AnswerText& AnswerText::text_or_null(const std::optional<std::string>& value) {
  return value ? text(*value) : null();
}

AnswerText& AnswerText::json(std::string_view value) {
  separate();
  out_ += value;
  return *this;
}

void AnswerText::separate() {
  if (out_.empty()) return;
  const char before = out_.back();  // a value's own end is none of these
  if (before != '{' && before != '[' && before != ':') out_ += ',';
}

}  // namespace hoist::service
