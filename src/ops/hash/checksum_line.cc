#include "ops/hash/checksum_line.h"

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdlib>

#include "ops/hash/file_name.h"

namespace hoist::hash {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// -1 where `c` is no hexadecimal digit.
int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

size_t hex_digits(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && hex_value(text[count]) >= 0) ++count;
  return count;
}

std::string_view skip_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text[0])) text.remove_prefix(1);
  return text;
}

std::string_view until_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

Digest decode(std::string_view hex) {
  Digest digest;
  digest.size = hex.size() / 2;
  for (size_t i = 0; i < digest.size; ++i) {
    digest.bytes[i] = static_cast<uint8_t>(hex_value(hex[2 * i]) << 4 | hex_value(hex[2 * i + 1]));
  }
  return digest;
}

std::optional<std::string> decode_name(std::string_view text, bool escaped) {
  if (escaped) return unescape_name(text);
  return std::string(until_nul(text));
}

// Takes the length from the front of "-256 (NAME) = …" as strtoumax with base 0 does: blanks, a
// plus sign, octal and hexadecimal pass.
std::optional<size_t> take_length(std::string_view& rest, size_t longest) {
  const std::string text(until_nul(rest));
  const char* begin = text.c_str();
  const char* first = begin;
  while (is_blank(*first) || (*first >= '\n' && *first <= '\r')) ++first;
  if (*first == '-') return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const uintmax_t bits = std::strtoumax(begin, &end, 0);
  if (end == begin || errno != 0) return std::nullopt;
  if (bits == 0 || bits > 8 * longest || bits % 8 != 0) return std::nullopt;
  rest.remove_prefix(static_cast<size_t>(end - begin));
  return bits / 8;
}

}  // namespace

ChecksumLineParser::ChecksumLineParser(std::optional<Algorithm> algorithm, bool cksum,
                                       Dialect dialect)
    : algorithm_(algorithm.value_or(Algorithm::crc)),
      detect_(!algorithm),
      cksum_(cksum),
      dialect_(dialect),
      expected_bytes_(info(algorithm_).digest_bytes) {}

std::optional<ChecksumLine> ChecksumLineParser::parse(std::string_view line) {
  std::string_view rest = skip_blanks(line);
  const bool escaped = !rest.empty() && rest[0] == '\\';
  if (escaped) rest.remove_prefix(1);

  if (detect_) {
    const AlgorithmInfo* found =
        find_by_tag(rest.substr(0, rest.find_first_of(std::string_view(" \t-(\0", 5))));
    if (!found || is_plain_sum(found->algorithm)) return std::nullopt;
    algorithm_ = found->algorithm;
  }
  const std::string_view tag = info(algorithm_).tag;
  if (rest.starts_with(tag)) return parse_tagged(rest.substr(tag.size()), escaped);
  if (detect_) return std::nullopt;
  return parse_untagged(rest, escaped);
}

std::optional<ChecksumLine> ChecksumLineParser::parse_tagged(std::string_view rest, bool escaped) {
  const size_t longest = info(algorithm_).digest_bytes;
  size_t expected_bytes = longest;
  const bool takes_length = cksum_ || algorithm_ == Algorithm::blake2b;
  if (takes_length && !rest.empty() && rest[0] != '(') {
    // One character stands for the dash, and only a dash announces a length.
    const bool has_length = rest[0] == '-';
    rest.remove_prefix(1);
    if (has_length) {
      const std::optional<size_t> bytes = take_length(rest, longest);
      if (!bytes) return std::nullopt;
      expected_bytes = *bytes;
    }
  }
  expected_bytes_ = expected_bytes;
  ChecksumLine line;
  line.kind = {algorithm_, algorithm_ == Algorithm::blake2b ? expected_bytes : longest};
  if (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  if (rest.empty() || rest[0] != '(') return std::nullopt;
  rest.remove_prefix(1);

  const size_t close = rest.rfind(')');
  if (close == std::string_view::npos) return std::nullopt;
  std::optional<std::string> name = decode_name(rest.substr(0, close), escaped);
  if (!name) return std::nullopt;
  line.name = std::move(*name);

  rest = skip_blanks(rest.substr(close + 1));
  if (rest.empty() || rest[0] != '=') return std::nullopt;
  rest = skip_blanks(rest.substr(1));
  if (dialect_ == Dialect::classic) rest = until_nul(rest);
  if (rest.size() != 2 * expected_bytes || hex_digits(rest) != rest.size()) return std::nullopt;
  line.expected = decode(rest);
  return line;
}

std::optional<ChecksumLine> ChecksumLineParser::parse_untagged(std::string_view rest,
                                                               bool escaped) {
  const size_t digits = hex_digits(rest);
  const size_t longest = info(algorithm_).digest_bytes;
  if (algorithm_ == Algorithm::blake2b) {
    if (digits < 2 || digits > 2 * longest || digits % 2 != 0) return std::nullopt;
  } else {
    // The single-algorithm programs want the separator and at least one more character.
    const size_t shortest = cksum_ ? 0 : 2 * longest + 2;
    if (digits != 2 * expected_bytes_ || rest.size() < shortest) return std::nullopt;
  }
  ChecksumLine line;
  line.kind = {algorithm_, algorithm_ == Algorithm::blake2b ? digits / 2 : longest};
  line.expected = decode(rest.substr(0, digits));
  rest.remove_prefix(digits);
  const bool separated =
      !rest.empty() && (is_blank(rest[0]) || (dialect_ == Dialect::modern && rest[0] == '\0'));
  if (!separated) return std::nullopt;
  rest.remove_prefix(1);

  const bool has_mode = rest.size() > 1 && (rest[0] == ' ' || rest[0] == '*');
  if (!has_mode) {
    if (reversed_ == false) return std::nullopt;
    reversed_ = true;
  } else if (reversed_ != true) {
    reversed_ = false;
    rest.remove_prefix(1);
  }
  std::optional<std::string> name = decode_name(rest, escaped);
  if (!name) return std::nullopt;
  line.name = std::move(*name);
  return line;
}

}  // namespace hoist::hash
