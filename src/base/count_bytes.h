// How often a byte occurs: lines of a text, say. At the speed of memory.
#pragma once

#include <cstdint>
#include <string_view>

namespace hoist {

uint64_t count_bytes(std::string_view text, char wanted);

}  // namespace hoist
