// The picture of `hoist records info --plot`: what each column takes, and how.
#pragma once

#include <string>

#include "cli/records/facts.h"

namespace hoist::cli {

// A self-contained SVG that is readable on light and on dark ground: a bar for each of the largest
// columns, as long as the bytes that it takes, in the colours of the types that store it, with its
// text's size and their ratio; one bar for all others, and one for what is no column.
std::string sizes_svg(const records::RecordReader& reader, const RecordsFacts& facts);

}  // namespace hoist::cli
