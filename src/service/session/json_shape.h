// What JSON of others is looked at for before and while it is parsed.
#pragma once

#include <cstddef>
#include <string_view>

namespace hoist::service {

constexpr size_t kMostJsonDepth = 64;
constexpr size_t kMostJsonValues = 2'000'000;  // each takes up to 100 bytes of memory

// Why a text is not parsed, so that a small one cannot ask for much memory or a deep stack: it is
// deeper than 64 levels, or has more than two million values. Null where nothing is wrong. What the
// service wrote itself may have any number of values.
const char* check_json_shape(std::string_view text, size_t most_values = kMostJsonValues);

}  // namespace hoist::service
