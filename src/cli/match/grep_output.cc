#include "cli/match/grep_output.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/utf8.h"
#include "match/json/json_text.h"

namespace hoist::cli {
namespace {

constexpr size_t kBuffer = size_t{64} << 10;

// grep's own colours.
constexpr std::string_view kMatch = "1;31";
constexpr std::string_view kName = "35";
constexpr std::string_view kNumber = "32";
constexpr std::string_view kSeparator = "36";

// JSON is UTF-8: every byte that is none becomes U+FFFD.
std::string json_text(std::string_view text) {
  std::string valid;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    uint32_t point = 0;
    if (next_code_point(text, at, point)) {
      valid += text.substr(begin, at - begin);
    } else {
      valid += "\xEF\xBF\xBD";
      ++at;
    }
  }
  return match::json_string(valid);
}

}  // namespace

void GrepOutput::colored(std::string_view code, std::string_view text) {
  if (look_.color) {
    fmt::format_to(std::back_inserter(out_), "\x1b[{}m{}\x1b[0m", code, text);
  } else {
    out_ += text;
  }
}

void GrepOutput::separator(char separator) { colored(kSeparator, {&separator, 1}); }

void GrepOutput::name(std::string_view file, char separator) {
  if (!look_.with_names) return;
  colored(kName, file);
  this->separator(separator);
}

void GrepOutput::text(const GrepLine& line) {
  size_t at = 0;
  if (look_.color && line.score) {
    for (const match::ByteRange& part : scorer_.common_parts(line.text)) {
      out_ += line.text.substr(at, part.begin - at);
      colored(kMatch, line.text.substr(part.begin, part.end - part.begin));
      at = part.end;
    }
  }
  out_ += line.text.substr(at);
}

void GrepOutput::json(const GrepLine& line) {
  fmt::format_to(std::back_inserter(out_),
                 "{{\"file\": {}, \"line\": {}, \"score\": {}, \"context\": {}, \"text\": {}}}\n",
                 json_text(line.file), line.number,
                 line.score ? match::json_number(*line.score) : "null", line.is_context,
                 json_text(line.text));
}

void GrepOutput::line(const GrepLine& line) {
  if (look_.json) {
    json(line);
  } else {
    const char separator = line.is_context ? '-' : ':';
    name(line.file, separator);
    if (look_.with_numbers) {
      colored(kNumber, fmt::format("{}", line.number));
      this->separator(separator);
    }
    text(line);
    out_ += '\n';
  }
  write_full_buffers();
}

void GrepOutput::count(std::string_view file, uint64_t lines) {
  if (look_.json) {
    out_ += fmt::format("{{\"file\": {}, \"count\": {}}}\n", json_text(file), lines);
  } else {
    name(file, ':');
    out_ += fmt::format("{}\n", lines);
  }
  write_full_buffers();
}

void GrepOutput::gap() {
  if (look_.json) return;
  colored(kSeparator, "--");
  out_ += '\n';
}

void GrepOutput::write_full_buffers() {
  if (out_.size() >= kBuffer) flush();
}

bool GrepOutput::flush() {
  if (is_open_ && !out_.empty()) {
    const Status written = write_full(STDOUT_FILENO, out_.data(), out_.size(), "standard output");
    is_open_ = written.has_value();
    if (!written && written.error().system_errno != EPIPE) status_ = written.error();
  }
  out_.clear();
  return is_open_;
}

}  // namespace hoist::cli
