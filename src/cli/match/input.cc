#include "cli/match/input.h"

#include <fmt/core.h>

namespace hoist::cli {
namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
}

constexpr char kForm[] = ": a line is [[\"a\"], [\"b\"]] or {\"events\": [[\"a\"], [\"b\"]]}";

}  // namespace

Result<uint64_t> read_patterns(LineReader& reader, const std::string& format,
                               const TakePattern& take) {
  match::PatternParser parser;
  uint64_t blank = 0;
  for (;;) {
    const auto line = reader.next();
    if (!line) return line.error();
    if (!*line) return blank;
    if (is_blank(**line)) {
      ++blank;
      continue;
    }
    const auto parsed = format == "lines" ? parser.parse_words(**line) : parser.parse_json(**line);
    const Status done = parsed ? take(**parsed, reader.line_number()) : Status(parsed.error());
    if (done) continue;
    Error error = done.error();
    error.message = fmt::format("{} ({}){}", error.message, reader.place(), parsed ? "" : kForm);
    return error;
  }
}

}  // namespace hoist::cli
