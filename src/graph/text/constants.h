// The values of constants in the text of a program.
#pragma once

#include <memory>
#include <string>

#include "graph/program/graph.h"
#include "graph/text/line_reader.h"

namespace hoist::graph::text {

// Up to so many values are written as numbers, more as the bytes of the array in hexadecimal.
inline constexpr size_t kMostNumbers = 16;

std::string constant_text(const program::Node& constant);

// Null where what is wrong has been said.
std::shared_ptr<const program::Values> read_constant(LineReader& reader, program::DType dtype,
                                                     const program::Extents& shape);

}  // namespace hoist::graph::text
