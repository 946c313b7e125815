// Files of the program that this grew from, whose names and magic words are similar.
#pragma once

#include "container/source.h"

namespace hoist::tensors {

// `unsupported`, naming the format, where the source begins as one of them.
Status refuse_foreign(const container::Source& source);

}  // namespace hoist::tensors
