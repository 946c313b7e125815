// Lines of text as code points, whatever bytes they have.
//
// A byte that is no UTF-8 becomes U+DC80 to U+DCFF, a lone surrogate that no valid text has: it
// equals the same invalid byte and nothing else, as with Python's `surrogateescape`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::match {

bool is_ascii(std::string_view text);

// The code point at `at`, which is moved behind it.
uint32_t next_line_point(std::string_view text, size_t& at);

// The one character that is the lower case of this one, by the Unicode tables of the C library
// (towlower in the locale C.UTF-8; where that is missing, of ASCII only).
uint32_t lower_case(uint32_t point);

// Appends the code points of the text, in lower case if `fold`.
void append_line_points(std::string_view text, bool fold, std::vector<uint32_t>& points);

// The text with the letters A to Z in lower case.
void fold_ascii(std::string_view text, std::string& out);

}  // namespace hoist::match
