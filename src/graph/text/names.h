// How the text of a program calls element types, shapes and attributes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/program/graph.h"

namespace hoist::graph::text {

// "f32"
std::string type_name(program::DType dtype);
std::optional<program::DType> find_type(std::string_view name);

// "f32[2,3]"; "f32" of a number.
std::string type_text(program::DType dtype, const program::Extents& shape);
// "[2,3]"
std::string list_text(const program::Extents& numbers);

std::optional<program::Op> find_op(std::string_view name);

// The words before the numbers of a node, in the order of Node::numbers. With two words these are
// taken in turns.
struct Attributes {
  std::string_view first;   // empty: none
  std::string_view second;  // empty: none
  bool is_list = true;      // else a single number
};
Attributes attributes_of(program::Op op);

}  // namespace hoist::graph::text
