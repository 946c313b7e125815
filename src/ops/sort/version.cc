// Version order, from the chapter "Version sort ordering" of the coreutils manual.
//
// A text is a sequence of parts, by turns without digits and of digits only. Parts without digits
// compare byte by byte: '~' before the end of the part, then the end, letters, other bytes. Parts
// of digits compare by value. Around that: the empty text, ".", ".." and other texts that start
// with '.' come first, in this order; and texts compare without their file suffix first (all of
// them, which match (\.[A-Za-z~][A-Za-z0-9~]*)*$), with it where that ties. Releases differ in
// whether the suffix can be the whole text.
// Letters and digits are those of ASCII in every locale.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "ops/sort/compare.h"

namespace hoist::sort {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr int kEndRank = 0;

int rank(char c) {
  if (c == '~') return kEndRank - 1;
  const int byte = static_cast<unsigned char>(c);
  return is_letter(c) ? byte : byte + 256;
}

// Takes the part at the front of `text` that has no digits (or nothing but digits).
std::string_view take_part(std::string_view& text, bool digits) {
  size_t length = 0;
  while (length < text.size() && is_digit(text[length]) == digits) ++length;
  const std::string_view part = text.substr(0, length);
  text.remove_prefix(length);
  return part;
}

int compare_words(std::string_view a, std::string_view b) {
  for (size_t i = 0; i < a.size() || i < b.size(); ++i) {
    const int left = i < a.size() ? rank(a[i]) : kEndRank;
    const int right = i < b.size() ? rank(b[i]) : kEndRank;
    if (left != right) return left < right ? -1 : 1;
  }
  return 0;
}

int compare_digits(std::string_view a, std::string_view b) {
  while (!a.empty() && a.front() == '0') a.remove_prefix(1);
  while (!b.empty() && b.front() == '0') b.remove_prefix(1);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

int compare_parts(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const std::string_view word = take_part(a, false);
    if (const int order = compare_words(word, take_part(b, false))) return order;
    const std::string_view number = take_part(a, true);
    if (const int order = compare_digits(number, take_part(b, true))) return order;
  }
  return 0;
}

std::string_view without_suffix(std::string_view text, Dialect dialect) {
  const size_t shortest = dialect.keeps_stem ? 1 : 0;
  size_t end = text.size();
  for (size_t at = end; at > 0;) {
    --at;
    const char c = text[at];
    if (c == '.') {
      const bool starts_suffix =
          at >= shortest && at + 1 < end && (is_letter(text[at + 1]) || text[at + 1] == '~');
      if (!starts_suffix) break;
      end = at;
    } else if (!is_letter(c) && !is_digit(c) && c != '~') {
      break;
    }
  }
  return text.substr(0, end);
}

// 0: empty, 1: ".", 2: "..", 3: another text that starts with '.', 4: everything else.
int precedence(std::string_view text) {
  if (text.empty()) return 0;
  if (text == ".") return 1;
  if (text == "..") return 2;
  return text.front() == '.' ? 3 : 4;
}

// The order of parts spelt as bytes: for a word its bytes' ranks (1: '~', 2: the end) up to the
// end, for a number how many digits it has, plus one, and the digits. The end of the text is an
// endless repetition of an empty word and an empty number.
class Spelling {
 public:
  Spelling(std::string_view text, uint32_t skip) : text_(text), skip_(skip) {}

  // Adds one byte; whether another is wanted.
  bool add(int byte) {
    if (skip_ > 0) {
      --skip_;
      return true;
    }
    code_ = code_ << 8 | static_cast<uint64_t>(byte);
    return ++count_ < 8;
  }

  uint64_t code() {
    while (add_word() && add_number()) {
    }
    return code_;
  }

 private:
  static constexpr int kTilde = 1;
  static constexpr int kEnd = 2;
  static constexpr int kLetters = 3;  // 52 of them
  static constexpr int kOthers = 55;  // bytes in order, letters and digits among them unused
  static constexpr size_t kMostDigits = 200;  // longer numbers are told apart by comparison

  static int spell(char c) {
    if (c == '~') return kTilde;
    if (c >= 'A' && c <= 'Z') return kLetters + (c - 'A');
    if (c >= 'a' && c <= 'z') return kLetters + 26 + (c - 'a');
    const int byte = static_cast<unsigned char>(c);
    const int skipped = byte > 'z' ? 62 : byte > 'Z' ? 36 : byte > '9' ? 10 : 0;
    return kOthers + byte - skipped;
  }

  bool add_word() {
    for (const char c : take_part(text_, false)) {
      if (!add(spell(c))) return false;
    }
    return add(kEnd);
  }

  bool add_number() {
    std::string_view digits = take_part(text_, true);
    while (!digits.empty() && digits.front() == '0') digits.remove_prefix(1);
    if (!add(1 + static_cast<int>(std::min(digits.size(), kMostDigits)))) return false;
    if (digits.size() >= kMostDigits) {
      text_ = {};
      return true;
    }
    for (const char c : digits) {
      if (!add(c)) return false;
    }
    return true;
  }

  std::string_view text_;
  uint32_t skip_;
  uint64_t code_ = 0;
  int count_ = 0;
};

}  // namespace

uint64_t version_code(Line text, uint32_t depth, Dialect dialect) {
  const std::string_view whole(text.text, text.length);
  Spelling spelling(without_suffix(whole, dialect), depth);
  spelling.add(precedence(whole));
  return spelling.code();
}

int compare_version(Line a, Line b, Dialect dialect) {
  const std::string_view left(a.text, a.length);
  const std::string_view right(b.text, b.length);
  if (left == right) return 0;
  const int left_precedence = precedence(left);
  const int right_precedence = precedence(right);
  if (left_precedence != right_precedence) return left_precedence < right_precedence ? -1 : 1;
  if (const int order =
          compare_parts(without_suffix(left, dialect), without_suffix(right, dialect))) {
    return order;
  }
  return compare_parts(left, right);
}

}  // namespace hoist::sort
