// Fuzzes the parser of checksum files: all its lines through every kind of parser. What it accepts
// must be well formed, and writing it out again must parse to the same.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "ops/hash/checksum_line.h"
#include "ops/hash/file_name.h"

using hoist::hash::Algorithm;
using hoist::hash::ChecksumLine;
using hoist::hash::ChecksumLineParser;
using hoist::hash::Dialect;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_line(const ChecksumLine& line, Dialect dialect) {
  require(line.expected.size > 0 && line.expected.size <= line.kind.bytes);
  require(line.kind.bytes <= hoist::hash::kMaxDigestBytes);
  require(line.name.find('\0') == std::string::npos);
  if (line.expected.size != line.kind.bytes) return;

  std::string again = "\\";
  again += hoist::hash::info(line.kind.algorithm).tag;
  if (line.kind.algorithm == Algorithm::blake2b) again += "-" + std::to_string(8 * line.kind.bytes);
  again += " (" + hoist::hash::escape_name(line.name) + ") = " + line.expected.hex();
  ChecksumLineParser parser(line.kind.algorithm, false, dialect);
  const std::optional<ChecksumLine> parsed = parser.parse(again);
  require(parsed && parsed->name == line.name && parsed->kind == line.kind &&
          parsed->expected.starts_with(line.expected));
}

void parse_all(std::string_view text, ChecksumLineParser parser, Dialect dialect) {
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    if (const auto parsed = parser.parse(line)) check_line(*parsed, dialect);
    if (newline == std::string_view::npos) return;
    text.remove_prefix(newline + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Dialect dialect : {Dialect::classic, Dialect::modern}) {
    parse_all(text, ChecksumLineParser(std::nullopt, true, dialect), dialect);
    for (const bool cksum : {false, true}) {
      for (const Algorithm algorithm : {Algorithm::md5, Algorithm::sha1, Algorithm::blake2b}) {
        parse_all(text, ChecksumLineParser(algorithm, cksum, dialect), dialect);
      }
    }
  }
  return 0;
}
