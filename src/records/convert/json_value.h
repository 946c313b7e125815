// JSON (RFC 8259) without a loss: numbers as they are written, keys in their order and as often as
// they come, and strings of any bytes.
//
// NaN, Infinity and -Infinity are numbers, as Python writes them. A string may hold what is no
// UTF-8: as Python's "surrogateescape" has it, \udc80 to \udcff where no \ud800 to \udbff stands in
// front are the bytes 0x80 to 0xff. Other surrogates alone are the three bytes that UTF-8's scheme
// would give them. Such bytes are written as these escapes, so the text is always UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/convert/value.h"

namespace hoist::records {

// Deeper values are refused.
inline constexpr int kMaxJsonDepth = 512;

// The value that all of `text` is, without white space around it; nothing where it is none.
std::optional<Value> parse_json(std::string_view text);

// The members of the object that `text` is. White space around it may be. Else why it is none.
Status parse_json_object(std::string_view text, Record& out);

// The strings of the array that `text` is; nothing where it is none of strings alone.
std::optional<std::vector<std::string>> parse_json_strings(std::string_view text);

// As json.dumps(…, ensure_ascii=False) of Python writes it: the bytes between quotes, with
// \" \\ \b \f \n \r \t and \u00XX.
void append_json_string(std::string_view bytes, std::string& out);

// Without white space.
void append_json(const Value& value, std::string& out);
void append_json_object(const Record& record, std::string& out);

// What a text without types says: the value that it is as JSON, else itself as a string. So a
// string that is JSON by chance must be written as JSON: see is_json().
Value value_or_text(std::string_view text);
bool is_json(std::string_view text);

}  // namespace hoist::records
