#include "match/json/pattern_line.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "match/json/syntax_fault.h"

namespace hoist::match {
namespace {

namespace dom = simdjson::dom;

Error wrong(std::string_view what) { return fail(ErrorCode::invalid_argument, std::string(what)); }

Status take_events(dom::element value, PatternText& pattern) {
  dom::array events;
  if (value.get(events) != simdjson::SUCCESS) return wrong("no list of events");
  for (const dom::element event : events) {
    dom::array symbols;
    if (event.get(symbols) != simdjson::SUCCESS) return wrong("an event that is no list");
    for (const dom::element symbol : symbols) {
      std::string_view text;
      if (symbol.get(text) != simdjson::SUCCESS) return wrong("a symbol that is no string");
      pattern.tokens.push_back(text);
    }
    pattern.end_event();
  }
  return {};
}

Status take_emotives(dom::element value, Emotives& emotives) {
  dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return wrong("emotives that are no object");
  for (const dom::key_value_pair& field : object) {
    double number = 0;
    if (field.value.get(number) != simdjson::SUCCESS) return wrong("an emotive that is no number");
    emotives.emplace_back(field.key, number);
  }
  std::sort(emotives.begin(), emotives.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (std::adjacent_find(emotives.begin(), emotives.end(), same) != emotives.end()) {
    return wrong("an emotive twice");
  }
  return {};
}

Status take_field(const dom::key_value_pair& field, PatternLine& line) {
  if (field.key == "events") return take_events(field.value, line.pattern);
  if (field.key == "emotives") return take_emotives(field.value, line.emotives);
  if (field.key == "metadata") {
    line.metadata = simdjson::minify(field.value);
    return {};
  }
  if (field.key == "name") {
    if (field.value.get(line.name) == simdjson::SUCCESS && !line.name.empty()) return {};
    return wrong("a name that is no string, or empty");
  }
  if (field.key == "frequency") {
    uint64_t number = 0;
    if (field.value.get(number) != simdjson::SUCCESS || number == 0 ||
        number > std::numeric_limits<uint32_t>::max()) {
      return wrong("a frequency that is no whole number from 1 to 4294967295");
    }
    line.frequency = static_cast<uint32_t>(number);
    return {};
  }
  return wrong(fmt::format("an unknown key {}: name, events, frequency, emotives, metadata",
                           field.key.substr(0, 100)));
}

}  // namespace

struct PatternParser::State {
  // Parses a copy: simdjson reads a little beyond the end of its input.
  Result<dom::element> parse(std::string_view text) {
    // An empty view may point nowhere, and simdjson copies before it looks at the size.
    if (text.empty()) return wrong(syntax_fault(text, simdjson::EMPTY));
    dom::element root;
    const simdjson::error_code error = parser.parse(text.data(), text.size()).get(root);
    if (error != simdjson::SUCCESS) return wrong(syntax_fault(text, error));
    clear();
    return root;
  }
  void clear() {
    line.pattern.clear();
    line.name = {};
    line.frequency = 1;
    line.emotives.clear();
    line.metadata.clear();
  }

  dom::parser parser;
  PatternLine line;
};

PatternParser::PatternParser() : state_(std::make_unique<State>()) {}
PatternParser::~PatternParser() = default;

Result<const PatternLine*> PatternParser::parse_json(std::string_view text) {
  const auto root = state_->parse(text);
  if (!root) return root.error();
  PatternLine& line = state_->line;
  dom::object object;
  if (root->get(object) != simdjson::SUCCESS) {
    if (Status taken = take_events(*root, line.pattern); !taken) {
      return taken.error();
    }
    return &line;
  }
  bool events = false;
  for (const dom::key_value_pair& field : object) {
    if (field.key == "events" && std::exchange(events, true)) return wrong("events twice");
    if (Status taken = take_field(field, line); !taken) return taken.error();
  }
  if (!events) return wrong("no events");
  return &line;
}

Result<PatternText*> PatternParser::parse_state(std::string_view text) {
  const auto root = state_->parse(text);
  if (!root) return root.error();
  if (Status taken = take_events(*root, state_->line.pattern); !taken) {
    return taken.error();
  }
  return &state_->line.pattern;
}

Result<const PatternLine*> PatternParser::parse_words(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\v\f";
  PatternLine& line = state_->line;
  state_->clear();
  for (size_t at = text.find_first_not_of(kSpaces); at != std::string_view::npos;
       at = text.find_first_not_of(kSpaces, at)) {
    const size_t end = std::min(text.find_first_of(kSpaces, at), text.size());
    line.pattern.tokens.push_back(text.substr(at, end - at));
    line.pattern.end_event();
    at = end;
  }
  return &line;
}

}  // namespace hoist::match
