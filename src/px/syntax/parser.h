// From text to syntax tree. The grammar is in docs/reference/px.md.
#pragma once

#include "px/syntax/syntax.h"
#include "px/text/diagnostic.h"
#include "px/text/source.h"

namespace hoist::px {

// Never fails: what is wrong is reported, its statement left out, and reading goes on behind it, so
// that one run reports the errors of the whole file. The tree means something where none was
// reported.
syntax::File parse(const Source& source, Diagnostics& diagnostics);

}  // namespace hoist::px
