#include "records/log_words.h"

#include <array>

#include "records/date_text.h"

namespace hoist::records {
namespace {

enum class CharKind : uint8_t { between, letter, digit };

constexpr std::array<CharKind, 256> make_kinds() {
  std::array<CharKind, 256> kinds{};
  for (int c = 'a'; c <= 'z'; ++c) kinds[static_cast<size_t>(c)] = CharKind::letter;
  for (int c = 'A'; c <= 'Z'; ++c) kinds[static_cast<size_t>(c)] = CharKind::letter;
  for (int c = 0x80; c <= 0xff; ++c) kinds[static_cast<size_t>(c)] = CharKind::letter;
  for (const char c : std::string_view("_-./%+@~&?#*$\\")) {
    kinds[static_cast<size_t>(c)] = CharKind::letter;
  }
  for (int c = '0'; c <= '9'; ++c) kinds[static_cast<size_t>(c)] = CharKind::digit;
  return kinds;
}
constexpr std::array<CharKind, 256> kKinds = make_kinds();

CharKind kind_of(char c) { return kKinds[static_cast<uint8_t>(c)]; }

// What digits and points alone are.
WordKind number_kind(size_t points) {
  if (points == 3) return WordKind::address;
  return points <= 1 ? WordKind::number : WordKind::name;
}

LogWord word_at(std::string_view rest) {
  size_t end = 0;
  bool digits = false;
  bool others = false;
  size_t points = 0;
  for (; end < rest.size(); ++end) {
    const CharKind kind = kind_of(rest[end]);
    if (kind == CharKind::between) break;
    digits |= kind == CharKind::digit;
    points += static_cast<size_t>(rest[end] == '.');
    others |= kind == CharKind::letter && rest[end] != '.';
  }
  // A full stop belongs to the sentence.
  if (end > 1 && rest[end - 1] == '.') {
    --end;
    --points;
  }
  const std::string_view text = rest.substr(0, end);
  if (!digits) return {text, WordKind::word};
  return {text, others ? WordKind::name : number_kind(points)};
}

}  // namespace

std::string_view name(WordKind kind) {
  constexpr std::string_view kNames[] = {"word", "number", "address", "date", "time", "name"};
  return kNames[static_cast<size_t>(kind)];
}

bool split_words(std::string_view line, size_t most, std::vector<LogWord>& out) {
  const size_t first = out.size();
  for (size_t at = 0; at < line.size();) {
    if (kind_of(line[at]) == CharKind::between) {
      ++at;
      continue;
    }
    if (out.size() - first == most) return false;
    const std::string_view rest = line.substr(at);
    LogWord word{};
    if (const size_t size = kind_of(line[at]) == CharKind::digit ? date_bytes(rest) : 0; size > 0) {
      word = {rest.substr(0, size), rest[2] == ':' ? WordKind::time : WordKind::date};
    } else {
      word = word_at(rest);
    }
    out.push_back(word);
    at += word.text.size();
  }
  return true;
}

}  // namespace hoist::records
