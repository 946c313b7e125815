#include "service/session/python_text.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "match/json/json_text.h"
#include "match/vocabulary/pattern.h"

namespace hoist::service {
namespace {

using Json = nlohmann::ordered_json;

// repr() of a string: that of a list of a list of it, without the brackets.
std::string quoted(const std::string& text) {
  match::PatternText pattern;
  pattern.tokens.push_back(text);
  pattern.end_event();
  std::string repr;
  match::append_python_repr(pattern, repr);
  return repr.substr(2, repr.size() - 4);
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return match::json_number(value);
}

std::string inner(const Json& value) {
  return value.is_string() ? quoted(value.get_ref<const std::string&>()) : python_text(value);
}

}  // namespace

std::string python_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_null()) return "None";
  if (value.is_number_float()) return number_text(value.get<double>());
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

}  // namespace hoist::service
