// A line of input without its terminator; a view into somebody's buffer.
#pragma once

#include <cstddef>

namespace hoist::sort {

struct Line {
  const char* text = nullptr;
  size_t length = 0;
};

}  // namespace hoist::sort
