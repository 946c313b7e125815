#include "match/json/pattern_text.h"

#include <fmt/core.h>

#include "match/json/json_text.h"

namespace hoist::match {
namespace {

bool is_word(std::string_view symbol) {
  return !symbol.empty() && symbol.find_first_of(" \t\n\r\v\f") == std::string_view::npos;
}

}  // namespace

std::string events_json(const EventViews& events) {
  std::string out = "[";
  for (const auto& event : events) {
    out += out.size() > 1 ? ", [" : "[";
    for (size_t i = 0; i < event.size(); ++i) out += (i == 0 ? "" : ", ") + json_string(event[i]);
    out += "]";
  }
  return out + "]";
}

std::optional<std::string> words_of(const EventViews& events) {
  std::string line;
  for (const auto& event : events) {
    if (event.size() != 1 || !is_word(event.front())) return {};
    if (!line.empty()) line += ' ';
    line += event.front();
  }
  return line;
}

std::string pattern_text(const EventViews& events) {
  const auto line = words_of(events);
  return line ? *line : events_json(events);
}

std::string pattern_fields(const EventViews& events) {
  std::string fields = fmt::format("\"events\": {}", events_json(events));
  if (const auto line = words_of(events)) {
    fields += fmt::format(", \"line\": {}", json_string(*line));
  }
  return fields;
}

}  // namespace hoist::match
