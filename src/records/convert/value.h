// What a row of text says, whatever its format: keys with values, in their order.
//
// Two rows are the same record where their keys and values are the same, one by one. So the order
// of keys counts, a key may come several times, and a number is its digits: 1.50 is not 1.5. White
// space between the parts of a row is no part of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hoist::records {

enum class JsonKind : uint8_t { null, boolean, number, text, array, object };

struct Value {
  JsonKind kind = JsonKind::null;
  // text: its bytes, which need not be UTF-8. number: as it is written. boolean: true or false.
  // array, object: JSON without white space, each string as append_json_string() writes it.
  std::string text = {};

  bool operator==(const Value&) const = default;
};

struct Member {
  std::string key;  // any bytes
  Value value;

  bool operator==(const Member&) const = default;
};

using Record = std::vector<Member>;

// What a record may hold: a row of a few bytes cannot ask for more memory than this.
inline constexpr size_t kMaxMembers = size_t{1} << 20;

}  // namespace hoist::records
