// One pattern or state as people write it down: JSON, or words.
//
//   [["a", "b"], ["c"]]
//   {"name": "x", "events": [["a", "b"], ["c"]], "frequency": 3, "emotives": {"joy": 0.5},
//    "metadata": {…}}
//   a b c                        (format lines: each word an event of its own)
//
// Untrusted bytes: `invalid_argument` says what is wrong; memory is a small multiple of the text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "match/store/stored_pattern.h"
#include "match/vocabulary/pattern.h"

namespace hoist::match {

// Views of the parser that gave it, until its next call.
struct PatternLine {
  PatternText pattern;
  std::string_view name;
  uint32_t frequency = 1;
  Emotives emotives;
  std::string metadata;  // JSON text
};

class PatternParser {
 public:
  PatternParser();
  ~PatternParser();
  PatternParser(const PatternParser&) = delete;
  PatternParser& operator=(const PatternParser&) = delete;

  Result<const PatternLine*> parse_json(std::string_view text);
  // A list of events alone.
  Result<PatternText*> parse_state(std::string_view text);
  // Separated by spaces and tabs.
  Result<const PatternLine*> parse_words(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hoist::match
