// Small pieces of JSON for output that is made line by line.
#pragma once

#include <string>
#include <string_view>

namespace hoist::match {

// The string with its quotes; UTF-8 stays as it is.
std::string json_string(std::string_view text);
// The shortest text that reads back as the same double, with a point or an exponent, so that
// readers that tell integers from other numbers see what it is; null for what is not finite.
std::string json_number(double value);

// The same behind `out`, for texts of many pieces.
void append_json_string(std::string& out, std::string_view text);
void append_json_number(std::string& out, double value);

}  // namespace hoist::match
