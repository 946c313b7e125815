// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hoist {

// The code point that begins at `at`, which is moved behind it. False, with `at` as it was, where
// the bytes are no UTF-8.
inline bool next_code_point(std::string_view text, size_t& at, uint32_t& code_point) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) {
    code_point = lead;
    ++at;
    return true;
  }
  const size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  if (lead < 0xc2 || lead > 0xf4 || text.size() - at <= more) return false;
  uint32_t point = lead & (0x3fu >> more);
  for (size_t i = 1; i <= more; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return false;
    point = point << 6 | (byte(at + i) & 0x3f);
  }
  constexpr std::array<uint32_t, 4> kLeast = {0, 0x80, 0x800, 0x10000};
  if (point < kLeast[more] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
    return false;
  }
  code_point = point;
  at += more + 1;
  return true;
}

inline bool is_utf8(std::string_view text) {
  uint32_t point = 0;
  for (size_t at = 0; at < text.size();) {
    if (!next_code_point(text, at, point)) return false;
  }
  return true;
}

// Appends the code point. That of a surrogate becomes three bytes, which are no UTF-8.
inline void append_code_point(uint32_t point, std::string& out) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((point >> shift) & 0x3f)); };
  if (point < 0x80) {
    out += static_cast<char>(point);
    return;
  }
  if (point < 0x800) {
    out += static_cast<char>(0xc0 | point >> 6);
  } else if (point < 0x10000) {
    out += static_cast<char>(0xe0 | point >> 12);
    out += tail(6);
  } else {
    out += static_cast<char>(0xf0 | point >> 18);
    out += tail(12);
    out += tail(6);
  }
  out += tail(0);
}

}  // namespace hoist
