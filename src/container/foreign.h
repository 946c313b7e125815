// Files that are no containers of Hoist's, told from containers that are damaged.
#pragma once

#include "base/result.h"
#include "container/source.h"

namespace hoist::container {

// Whether the file neither begins as a container does nor has a frame behind its header: a
// damaged beginning alone makes no other file of it.
Result<bool> is_foreign(const Source& source);

// The error for such a file: names what it looks like, where that is known.
Error not_a_container(const Source& source);

}  // namespace hoist::container
