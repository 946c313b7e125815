// Text in columns for a terminal. Texts may hold escape sequences of styles, which take no column;
// each other character takes one, which holds for what our guides are written in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::cli {

// Each word by itself is bold, so that a line may be broken between two.
std::string bold(std::string_view text);

size_t columns_of(std::string_view text);

// Lines of at most `width` columns, broken at blanks; a longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, size_t width);

// Rows of cells, the first of them the head, below which a rule is drawn. Cells are wrapped where
// the table would be wider than `width`.
using TableRows = std::vector<std::vector<std::string>>;
std::vector<std::string> table_lines(const TableRows& rows, size_t width);

}  // namespace hoist::cli
