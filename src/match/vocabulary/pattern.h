// Patterns as text: a list of events, an event a list of symbols; and the name of a pattern, by
// which it is known for ever.
//
//   const std::vector<std::vector<std::string>> events = {{"b", "a"}, {}, {"c"}};
//   PatternText pattern = pattern_of(events);
//   if (Status ready = normalise(pattern, true); !ready) …   // [["a", "b"], ["c"]]
//   std::string name = pattern_name(pattern);                // 40 hexadecimal digits
//
// Symbols are UTF-8. Ascending order of the bytes is Python's order of the code points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hoist::match {

// What a user may give; each bound is far above what is useful.
inline constexpr size_t kMaxSymbolBytes = 65'535;
inline constexpr size_t kMaxNameBytes = 65'535;
inline constexpr size_t kMinPatternTokens = 2;

// Views of the caller's strings. Event i is tokens[event_ends[i - 1]..event_ends[i]).
struct PatternText {
  std::vector<std::string_view> tokens;
  std::vector<uint32_t> event_ends;

  void clear() {
    tokens.clear();
    event_ends.clear();
  }
  void end_event() { event_ends.push_back(static_cast<uint32_t>(tokens.size())); }
};

// Views of `events`, which must outlive what is returned.
PatternText pattern_of(const std::vector<std::vector<std::string>>& events);
PatternText pattern_of(std::vector<std::vector<std::string>>&& events) = delete;

// Drops empty events and, with `sort`, sorts the symbols inside each event.
// `invalid_argument` for a symbol that is no UTF-8 or longer than kMaxSymbolBytes, and for more
// than 65 535 tokens.
Status normalise(PatternText& pattern, bool sort);

// How many symbols each event of a normalised pattern has.
std::vector<uint16_t> event_sizes_of(const PatternText& pattern);

// Whether a normalised pattern can be learned: `invalid_argument` below `least` symbols.
Status check_learnable(const PatternText& pattern, size_t least = kMinPatternTokens);

// Python's repr() of the list of lists of strings, appended to `out`.
void append_python_repr(const PatternText& pattern, std::string& out);

// SHA-1 (FIPS 180-4) of the repr, in lower-case hexadecimal.
std::string pattern_name(const PatternText& pattern);

}  // namespace hoist::match
