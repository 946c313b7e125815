// Texts that hold the texts of other columns on the same row: pool/main/f/foo/foo_1.2_amd64.deb
// beside foo and 1.2. What is left of a text is its pattern:
//
//   byte k from 1 to the number of sources   the text of source k on this row
//   kLiteral, then a byte                    that byte
//   every other byte                         itself
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/shape.h"
#include "records/string_stream.h"

namespace hoist::records {

inline constexpr size_t kMaxTextSources = 4;
inline constexpr char kLiteral = 0x10;

// The rows of a column's values, ascending, where each row has at most one.
struct ColumnRows {
  std::vector<uint32_t> rows;
  bool single = true;  // else rows is empty
};

// The rows of all columns, by the shapes of the rows.
template <typename Number>
std::vector<ColumnRows> rows_of_columns(std::span<const Shape> shapes, std::span<const Number> rows,
                                        size_t columns);

// For each of `rows` the text among `texts`, which are on `their_rows`; empty where there is none.
std::vector<std::string_view> beside(std::span<const uint32_t> rows,
                                     std::span<const uint32_t> their_rows, Strings texts);

// A text's pattern. `parts` are the sources' texts on its row.
void append_pattern(std::string_view text, std::span<const std::string_view> parts,
                    std::string& out);
// The inverse. False where the pattern is damaged, or `out` would be longer than `most_bytes`.
bool append_text(std::string_view pattern, std::span<const std::string_view> parts,
                 size_t most_bytes, std::vector<char>& out);

}  // namespace hoist::records
