// Patterns and states as text: JSON and words.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "match/json/pattern_line.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void use(hoist::match::PatternText pattern) {
  const size_t tokens = pattern.tokens.size();
  check(pattern.event_ends.empty() ? tokens == 0 : pattern.event_ends.back() == tokens);
  if (!hoist::match::normalise(pattern, true)) return;
  uint32_t sum = 0;
  for (const uint16_t size : hoist::match::event_sizes_of(pattern)) {
    check(size > 0);
    sum += size;
  }
  check(sum == pattern.tokens.size());
  check(hoist::match::pattern_name(pattern).size() == 40);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static hoist::match::PatternParser parser;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto line = parser.parse_json(text)) {
    check((*line)->frequency > 0);
    use((*line)->pattern);
  }
  if (const auto state = parser.parse_state(text)) use(**state);
  if (const auto words = parser.parse_words(text)) use((*words)->pattern);
  return 0;
}
