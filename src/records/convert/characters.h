// Which characters a text may show as they are.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/utf8.h"

namespace hoist::records {

inline constexpr std::string_view kByteOrderMark = "\uFEFF";

inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<uint8_t>(c) < 0x20; });
}

// As Python's str.isspace(): other programs part words there.
inline bool is_space(uint32_t point) {
  return point == ' ' || (point >= 0x09 && point <= 0x0d) || (point >= 0x1c && point <= 0x1f) ||
         point == 0x85 || point == 0xa0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
         point == 0x202f || point == 0x205f || point == 0x3000;
}

// Whether UTF-8 has white space.
inline bool has_space(std::string_view text) {
  uint32_t point = 0;
  for (size_t at = 0; at < text.size() && next_code_point(text, at, point);) {
    if (is_space(point)) return true;
  }
  return false;
}

// UTF-8 without control characters, without a space at either end, and without a mark that readers
// take off the beginning of a file.
inline bool is_plain(std::string_view text) {
  return !has_control(text) && !text.starts_with(' ') && !text.ends_with(' ') && is_utf8(text) &&
         !text.starts_with(kByteOrderMark);
}

}  // namespace hoist::records
