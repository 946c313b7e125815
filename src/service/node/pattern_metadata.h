// What a pattern's metadata becomes when it is learned again: JSON text, {"key":["value",…],…},
// keys and each key's different values ascending.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hoist::service {

// Each key's different values, ascending.
using PatternMetadata = std::map<std::string, std::set<std::string>>;

// A pattern's text may have so many bytes: a line with it stays well below what an import takes.
constexpr size_t kMostMetadata = 4 << 20;

// Bytes of the text that it would be, at least.
size_t metadata_bytes(const PatternMetadata& metadata);
// What is there and what is new, in time linear in both. `invalid_argument` for more than `most`
// bytes.
Result<std::string> merge_metadata(std::string_view before, const PatternMetadata& more,
                                   size_t most = kMostMetadata);

}  // namespace hoist::service
