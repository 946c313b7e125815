// Numbers as JSON writes them (RFC 8259, 6): no zeros in front, which only names of things have.
#pragma once

#include <cstddef>
#include <string_view>

namespace hoist::records {

// The size of the number at the beginning of `text`; 0 where there is none.
inline size_t json_number_size(std::string_view text) {
  const auto digits_at = [&](size_t at) {
    size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    return end - at;
  };
  size_t at = text.starts_with('-') ? 1 : 0;
  const size_t whole = digits_at(at);
  if (whole == 0) return 0;
  at += text[at] == '0' ? 1 : whole;
  if (at < text.size() && text[at] == '.') {
    const size_t fraction = digits_at(at + 1);
    if (fraction == 0) return 0;
    at += 1 + fraction;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const size_t exponent = digits_at(at);
    if (exponent == 0) return 0;
    at += exponent;
  }
  return at;
}

inline bool is_json_number(std::string_view text) {
  return !text.empty() && json_number_size(text) == text.size();
}

}  // namespace hoist::records
