#include "service/session/python_text.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "match/vocabulary/pattern.h"

namespace hoist::service {
namespace {

// repr() of a string: that of a list of a list of it, without the brackets.
std::string quoted(const std::string& text) {
  match::PatternText pattern;
  pattern.tokens.push_back(text);
  pattern.end_event();
  std::string repr;
  match::append_python_repr(pattern, repr);
  return repr.substr(2, repr.size() - 4);
}

// Beyond a double's range, as 2e+308 is, it is another number than any.
bool reads_as(const std::string& text, double value) {
  double read = NAN;
  std::from_chars(text.data(), text.data() + text.size(), read);
  return read == value;
}

// Python writes exponents from 1e16 on and below 1e-4, as C++'s shortest form does not.
std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const double size = std::abs(value);
  std::string text;
  if (size != 0 && (size >= 1e16 || size < 1e-4)) {
    text = fmt::format("{:e}", value);
    for (int digits = 0; digits < 18; ++digits) {
      text = fmt::format("{:.{}e}", value, digits);
      if (reads_as(text, value)) break;
    }
    return text;
  }
  for (int digits = 0; digits < 30; ++digits) {
    text = fmt::format("{:.{}f}", value, digits);
    if (reads_as(text, value)) break;
  }
  if (text.find('.') == text.npos) text += ".0";
  return text;
}

template <typename Value>
std::string text_of(const Value& value);

template <typename Value>
std::string inner(const Value& value) {
  if (value.is_string()) return quoted(value.template get_ref<const std::string&>());
  return text_of(value);
}

template <typename Value>
std::string text_of(const Value& value) {
  if (value.is_string()) return value.template get<std::string>();
  if (value.is_boolean()) return value.template get<bool>() ? "True" : "False";
  if (value.is_null()) return "None";
  if (value.is_number_float()) return number_text(value.template get<double>());
  if (value.is_number()) return value.dump();
  std::string text = value.is_array() ? "[" : "{";
  const char* comma = "";
  for (const auto& [key, item] : value.items()) {
    text += comma;
    if (value.is_object()) text += quoted(key) + ": ";
    text += inner(item);
    comma = ", ";
  }
  return text += value.is_array() ? "]" : "}";
}

}  // namespace

std::string python_text(const nlohmann::ordered_json& value) { return text_of(value); }
std::string python_text(const nlohmann::json& value) { return text_of(value); }

}  // namespace hoist::service
