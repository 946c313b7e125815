// What client_json.h says of a text beside what nlohmann::json says, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/session/client_json.h"
#include "service/session/json_shape.h"

namespace hoist::service {

struct ExpectedJson {
  nlohmann::json value;
  std::optional<JsonFault> fault;
};

// The rule: the shape is looked at first, then nlohmann::json decides.
inline ExpectedJson expected_json(std::string_view text) {
  if (const size_t nul = text.find('\0'); nul != text.npos) {
    return {{}, JsonFault{.kind = JsonFault::Kind::syntax, .byte = nul + 1}};
  }
  if (const char* shape = check_json_shape(text)) {
    return {{}, JsonFault{.kind = JsonFault::Kind::shape, .shape = shape}};
  }
  try {
    return {nlohmann::json::parse(text), {}};
  } catch (const nlohmann::json::parse_error& error) {
    return {{}, JsonFault{.kind = JsonFault::Kind::syntax, .byte = error.byte}};
  } catch (const nlohmann::json::out_of_range&) {
    return {{}, JsonFault{.kind = JsonFault::Kind::range}};
  }
}

inline bool is_same(std::optional<double> a, std::optional<double> b) {
  // -0.0 is not 0.0 here.
  return a.has_value() == b.has_value() && (!a || std::memcmp(&*a, &*b, sizeof *a) == 0);
}

inline bool is_same(const ClientJson& value, const nlohmann::json& expected) {
  std::optional<std::string_view> string;
  std::optional<bool> boolean;
  std::optional<double> number;
  std::optional<uint64_t> whole;
  if (expected.is_string()) string = expected.get_ref<const std::string&>();
  if (expected.is_boolean()) boolean = expected.get<bool>();
  if (expected.is_number()) number = expected.get<double>();
  // "-0" is one, too, here.
  const bool is_negative = !expected.is_number_unsigned() && expected < 0;
  if (expected.is_number_integer() && !is_negative) whole = expected.get<uint64_t>();
  if (value.is_null() != expected.is_null() || value.is_array() != expected.is_array() ||
      value.is_object() != expected.is_object() || value.is_string() != expected.is_string() ||
      value.string() != string || value.boolean() != boolean || !is_same(value.number(), number) ||
      value.whole() != whole) {
    return false;
  }

  size_t at = 0;
  for (const ClientJson item : value.items()) {
    if (at >= expected.size() || !is_same(item, expected[at++])) return false;
  }
  if (value.items().size() != (expected.is_array() ? expected.size() : 0)) return false;
  if (value.is_array()) return at == expected.size();

  const ClientJson::Members members = value.members();
  if (members.size() != (expected.is_object() ? expected.size() : 0)) return false;
  if (!expected.is_object()) return !value.find("a");
  auto next = expected.begin();
  for (const auto& [key, member] : members) {
    const auto found = value.find(key);
    if (key != next.key() || !found || !is_same(member, *next)) return false;
    if (found->copy() != member.copy()) return false;
    ++next;
  }
  return value.find("a").has_value() == expected.contains("a");
}

// What differs, or nothing.
inline std::string difference(std::string_view text) {
  const ExpectedJson expected = expected_json(text);
  // A buffer of just that size, so that a sanitizer sees what reads beyond it.
  const std::vector<char> exact(text.begin(), text.end());
  JsonDocument document;
  const auto fault = document.parse({exact.data(), exact.size()});
  if (fault.has_value() != expected.fault.has_value()) {
    return fault ? "refused, and is JSON" : "taken, and is no JSON";
  }
  if (fault) {
    if (fault->kind != expected.fault->kind) return "another kind of fault";
    if (fault->byte != expected.fault->byte) return "another byte";
    if (std::string_view(fault->shape) != expected.fault->shape) return "another shape";
    return {};
  }
  if (!is_same(document.root(), expected.value)) return "another value";
  if (document.root().copy().dump() != expected.value.dump()) return "another copy";

  // Parsed where it is, with just enough bytes behind it.
  std::vector<char> padded = exact;
  padded.resize(padded.size() + simdjson::SIMDJSON_PADDING, '9');
  JsonDocument again;
  if (again.parse({padded.data(), exact.size()}, simdjson::SIMDJSON_PADDING)) {
    return "refused with slack";
  }
  if (!is_same(again.root(), expected.value)) return "another value with slack";
  return {};
}

}  // namespace hoist::service
