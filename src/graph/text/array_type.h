// Types and numbers in the text of a program.
#pragma once

#include <optional>

#include "graph/program/graph.h"
#include "graph/text/line_reader.h"

namespace hoist::graph::text {

struct ArrayType {
  program::DType dtype = program::DType::f32;
  program::Extents shape;  // no extent is negative
  px::Span span;
};

// ": f32[2,3]". Of all readers: nothing where what is wrong has been said.
std::optional<ArrayType> read_type(LineReader& reader);

// What attributes_of() says of the operation: those of the first word, then those of the second.
std::optional<program::Extents> read_attributes(LineReader& reader, program::Op op);

}  // namespace hoist::graph::text
