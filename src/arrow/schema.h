// What the columns of Arrow data are: format/Schema.fbs of Arrow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::arrow {

// The numbers of Schema.fbs's union `Type`.
enum class Type : uint8_t {
  null = 1,
  integer = 2,
  real = 3,
  binary = 4,
  text = 5,
  boolean = 6,
  decimal = 7,
  date = 8,
  time = 9,
  timestamp = 10,
  interval = 11,
  list = 12,
  structure = 13,
  choice = 14,  // Union
  fixed_size_binary = 15,
  fixed_size_list = 16,
  map = 17,
  duration = 18,
  large_binary = 19,
  large_text = 20,
  large_list = 21,
  run_end_encoded = 22,
  binary_view = 23,
  text_view = 24,
  list_view = 25,
  large_list_view = 26,
};
inline constexpr auto kLastType = Type::large_list_view;
// As Arrow's own programs name them: "large_string".
std::string_view name(Type type);

// Values are numbers of entries of a dictionary, which comes in messages of its own.
struct DictionaryEncoding {
  int64_t id = 0;
  int32_t bits = 32;  // of an index
  bool is_signed = true;
};

struct Field {
  std::string name;
  Type type = Type::null;
  bool nullable = true;
  int32_t bits = 64;      // integers, decimals
  bool is_signed = true;  // integers
  int32_t precision = 0;  // reals: 0 half, 1 single, 2 double; decimals: digits
  int32_t scale = 0;      // decimals
  int16_t unit = 0;       // timestamps: 0 s, 1 ms, 2 us, 3 ns
  std::string zone = {};  // timestamps; "": none
  int32_t size = 0;       // lists of a fixed size
  bool is_dense = false;  // choices
  std::optional<DictionaryEncoding> dictionary = {};
  std::vector<Field> children = {};  // of the values, where there is a dictionary
};

Field integer_field(std::string name, int32_t bits, bool is_signed, bool nullable = true);
Field double_field(std::string name, bool nullable = true);
Field text_field(std::string name, bool nullable = true);
Field list_field(std::string name, Field item, bool nullable = true);
// Keys are texts.
Field map_field(std::string name, Field value, bool nullable = true);

}  // namespace hoist::arrow
