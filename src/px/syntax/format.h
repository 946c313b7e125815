// The one layout of px texts (`hoist px fmt`).
#pragma once

#include <string>

#include "px/text/source.h"

namespace hoist::px {

// The text laid out: words in upper case, four spaces a block, one space between tokens, → for ->,
// two spaces before a comment behind a statement, at most one empty line at a time. Comments and
// the lines' ends stay. It means the same, and is its own layout. The text must have been parsed
// without errors.
std::string format(const Source& source);

}  // namespace hoist::px
