// The text of a pattern, for people and as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::match {

using EventViews = std::vector<std::vector<std::string_view>>;

// [["a", "b"], ["c"]]
std::string events_json(const EventViews& events);
// The words, with a space between two, of a pattern that a line of words makes
// (PatternParser::parse_words()); nothing for others.
std::optional<std::string> words_of(const EventViews& events);
// The line where it has one, else the events.
std::string pattern_text(const EventViews& events);
// "events": […], and where it has one "line": "…".
std::string pattern_fields(const EventViews& events);

}  // namespace hoist::match
