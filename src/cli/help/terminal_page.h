// A page of Markdown laid out for a terminal: headings at the margin, text wrapped, code indented,
// tables in columns, comments left out, and where the links lead at the end. md4c parses it
// (CommonMark with GitHub's tables).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hoist::cli {

struct PageStyle {
  size_t width = 80;      // columns
  bool has_bold = false;  // else code keeps its backticks, and nothing has escape sequences
  // Where a link leads, for the reader; empty: nowhere that a reader could go.
  std::function<std::string(std::string_view link)> target = {};
};

Result<std::string> terminal_page(std::string_view markdown, const PageStyle& style);

}  // namespace hoist::cli
