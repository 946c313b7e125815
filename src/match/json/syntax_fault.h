// What is wrong with a line that is no JSON, in a reader's words.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

namespace hoist::match {

// "not JSON at byte 11: a comma or a bracket is missing or one too many". Bytes count from 1. For
// the slow path: it parses the text again, with a parser that says where it stopped.
std::string syntax_fault(std::string_view text, simdjson::error_code error);

}  // namespace hoist::match
