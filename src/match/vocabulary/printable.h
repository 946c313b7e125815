// Which code points Python's repr() of a string shows as they are, by Unicode 14.0.0 (Python 3.11).
// The version is part of every pattern's name, so it stays.
#pragma once

#include <cstdint>

namespace hoist::match {

bool is_printable(uint32_t code_point);

}  // namespace hoist::match
