// Sorted entries back to lines in a file.
#pragma once

#include <span>

#include "base/threads.h"
#include "ops/sort/entries.h"
#include "ops/sort/output.h"

namespace hoist::sort {

// Appends the lines of the entries that were not dropped to `output`, in order, each with its
// terminator. All threads gather the lines of large results; into a regular file they also write,
// each its own part, provided that `output` is still empty. False once a write has failed (see
// Output::status()).
bool emit(std::span<const Entry> entries, const char* text, char terminator, Output& output,
          ThreadPool& pool);

}  // namespace hoist::sort
