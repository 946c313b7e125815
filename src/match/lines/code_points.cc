#include "match/lines/code_points.h"

#include <locale.h>
#include <wctype.h>

#include <cstring>

#include "base/utf8.h"

namespace hoist::match {
namespace {

constexpr uint32_t kInvalidByte = 0xDC00;

char ascii_lower(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const bool is_upper = static_cast<unsigned char>(byte - 'A') < 26;
  return static_cast<char>(byte | (is_upper ? 0x20 : 0));
}

}  // namespace

bool is_ascii(std::string_view text) {
  uint64_t any = 0;
  size_t at = 0;
  for (; at + sizeof any <= text.size(); at += sizeof any) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    any |= word;
  }
  unsigned char rest = 0;
  for (; at < text.size(); ++at) rest |= static_cast<unsigned char>(text[at]);
  return (any & 0x8080808080808080u) == 0 && rest < 0x80;
}

uint32_t next_line_point(std::string_view text, size_t& at) {
  uint32_t point = 0;
  if (next_code_point(text, at, point)) return point;
  return kInvalidByte + static_cast<unsigned char>(text[at++]);
}

uint32_t lower_case(uint32_t point) {
  if (point < 0x80) return static_cast<unsigned char>(ascii_lower(static_cast<char>(point)));
  static const locale_t unicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (unicode == nullptr || (point >= 0xD800 && point < 0xE000)) return point;
  return static_cast<uint32_t>(::towlower_l(static_cast<wint_t>(point), unicode));
}

void append_line_points(std::string_view text, bool fold, std::vector<uint32_t>& points) {
  for (size_t at = 0; at < text.size();) {
    const uint32_t point = next_line_point(text, at);
    points.push_back(fold ? lower_case(point) : point);
  }
}

void fold_ascii(std::string_view text, std::string& out) {
  out.resize(text.size());
  for (size_t i = 0; i < text.size(); ++i) out[i] = ascii_lower(text[i]);
}

}  // namespace hoist::match
