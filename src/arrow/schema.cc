#include "arrow/schema.h"

#include <array>
#include <utility>

namespace hoist::arrow {

std::string_view name(Type type) {
  constexpr std::array<std::string_view, static_cast<size_t>(kLastType) + 1> kNames = {
      "?",
      "null",
      "int",
      "float",
      "binary",
      "string",
      "bool",
      "decimal",
      "date",
      "time",
      "timestamp",
      "interval",
      "list",
      "struct",
      "union",
      "fixed_size_binary",
      "fixed_size_list",
      "map",
      "duration",
      "large_binary",
      "large_string",
      "large_list",
      "run_end_encoded",
      "binary_view",
      "string_view",
      "list_view",
      "large_list_view"};
  return type <= kLastType ? kNames[static_cast<size_t>(type)] : kNames[0];
}

Field integer_field(std::string name, int32_t bits, bool is_signed, bool nullable) {
  Field field{.name = std::move(name), .type = Type::integer, .nullable = nullable};
  field.bits = bits;
  field.is_signed = is_signed;
  return field;
}

Field double_field(std::string name, bool nullable) {
  Field field{.name = std::move(name), .type = Type::real, .nullable = nullable};
  field.precision = 2;
  return field;
}

Field text_field(std::string name, bool nullable) {
  return {.name = std::move(name), .type = Type::text, .nullable = nullable};
}

Field list_field(std::string name, Field item, bool nullable) {
  Field field{.name = std::move(name), .type = Type::list, .nullable = nullable};
  field.children.push_back(std::move(item));
  return field;
}

Field map_field(std::string name, Field value, bool nullable) {
  Field entries{.name = "entries", .type = Type::structure, .nullable = false};
  entries.children.push_back(text_field("key", false));
  entries.children.push_back(std::move(value));
  Field field{.name = std::move(name), .type = Type::map, .nullable = nullable};
  field.children.push_back(std::move(entries));
  return field;
}

}  // namespace hoist::arrow
