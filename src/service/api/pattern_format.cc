#include "service/api/pattern_format.h"

#include <strings.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace hoist::service {
namespace {

struct Known {
  PatternFormat format;
  const char* name;
  const char* content_type;
};
constexpr std::array<Known, 3> kKnown = {{
    {PatternFormat::json_lines, "jsonl", "application/jsonl"},
    {PatternFormat::arrow_stream, "arrow", "application/vnd.apache.arrow.stream"},
    {PatternFormat::arrow_file, "arrow-file", "application/vnd.apache.arrow.file"},
}};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// The text up to `mark`, which is taken away with it.
std::string_view take_until(std::string_view& text, char mark) {
  const std::string_view taken = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(text.size(), taken.size() + 1));
  return trimmed(taken);
}

std::optional<PatternFormat> format_of_type(std::string_view type) {
  for (const Known& known : kKnown) {
    if (is_same(type, known.content_type)) return known.format;
  }
  return std::nullopt;
}

// RFC 9110, 12.4.2: without one it is 1; one that is none is 0.
double weight_of(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view parameter = take_until(parameters, ';');
    if (parameter.size() < 2 || !is_same(parameter.substr(0, 2), "q=")) continue;
    double weight = 0;
    std::from_chars(parameter.data() + 2, parameter.data() + parameter.size(), weight);
    return weight <= 1 ? weight : 0;
  }
  return 1;
}

// The first of those with the highest weight. Ranges such as */* want JSON Lines.
PatternFormat most_wanted(std::string_view accept) {
  PatternFormat wanted = PatternFormat::json_lines;
  double most = 0;
  while (!accept.empty()) {
    std::string_view range = take_until(accept, ',');
    const std::string_view type = take_until(range, ';');
    std::optional<PatternFormat> format = format_of_type(type);
    if (is_same(type, "*/*") || is_same(type, "application/*")) format = PatternFormat::json_lines;
    const double weight = weight_of(range);
    if (!format || !(weight > most)) continue;
    most = weight;
    wanted = *format;
  }
  return wanted;
}

// Several headers of one name are one list (RFC 9110, 5.3).
std::string accepted(const net::HttpRequest& request) {
  std::string all;
  for (const net::HttpHeader& header : request.headers) {
    if (header.name == "accept") all += header.value + ',';
  }
  return all;
}

// `found` is what holds without an argument.
std::optional<PatternFormat> or_argument(const net::HttpRequest& request, BodyFaults& faults,
                                         PatternFormat found) {
  const std::string* argument = request.argument("format");
  if (argument == nullptr) return found;
  for (const Known& known : kKnown) {
    if (*argument == known.name) return known.format;
  }
  faults.add("enum", Place("query") / "format", "Input should be 'jsonl', 'arrow' or 'arrow-file'",
             *argument);
  return std::nullopt;
}

}  // namespace

const char* content_type(PatternFormat format) {
  for (const Known& known : kKnown) {
    if (known.format == format) return known.content_type;
  }
  return "";
}

std::optional<PatternFormat> format_of_answer(const net::HttpRequest& request, BodyFaults& faults) {
  return or_argument(request, faults, most_wanted(accepted(request)));
}

std::optional<PatternFormat> format_of_body(const net::HttpRequest& request, BodyFaults& faults) {
  const std::string* header = request.header("content-type");
  std::string_view type = header != nullptr ? *header : std::string_view();
  return or_argument(request, faults,
                     format_of_type(take_until(type, ';')).value_or(PatternFormat::json_lines));
}

}  // namespace hoist::service
