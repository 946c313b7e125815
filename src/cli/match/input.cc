#include "cli/match/input.h"

#include <fmt/core.h>

namespace hoist::cli {
namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
}

}  // namespace

Status read_patterns(LineReader& reader, const std::string& format, const TakePattern& take) {
  match::PatternParser parser;
  for (;;) {
    const auto line = reader.next();
    if (!line) return line.error();
    if (!*line) return {};
    if (is_blank(**line)) continue;
    const auto parsed = format == "lines" ? parser.parse_words(**line) : parser.parse_json(**line);
    Status done;
    if (!parsed) {
      done = parsed.error();
    } else {
      done = take(**parsed, reader.line_number());
    }
    if (done) continue;
    Error error = done.error();
    error.message = fmt::format("{} ({})", error.message, reader.place());
    return error;
  }
}

}  // namespace hoist::cli
