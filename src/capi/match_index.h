// An index, and events as C has them.
#pragma once

#include <memory>

#include "hoist/match.h"
#include "match/index/index.h"

struct hoist_match_index {
  std::unique_ptr<hoist::match::Index> index;
};

namespace hoist::capi {

// Views of the caller's strings. `invalid_argument` for null pointers and more symbols than any
// pattern may have; the rest Index checks.
Result<match::PatternText> pattern_of(const hoist_match_events* events);

// Views an option's text; null is an empty text.
inline std::string_view view_of(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

}  // namespace hoist::capi
