// The picture of `hoist tensors info --plot`: how good tensors are by how much of them is loaded.
#pragma once

#include <string>

#include "tensors/file/header.h"

namespace hoist::cli {

// A self-contained SVG that is readable on light and on dark ground: relative squared error
// (1 - quality) over bits an element, a line for each of the largest tensors and one for all
// together, each weighted by its size.
std::string curve_svg(const tensors::HoloTensorHeader& header);

}  // namespace hoist::cli
