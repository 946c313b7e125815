// What the first rows of a CSV say: its delimiter, and whether there is a header.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "records/tokens.h"

namespace hoist::records {

// The first of a text, by which it is judged.
inline constexpr size_t kSampleLines = 64;
inline constexpr size_t kSampleBytes = size_t{1} << 20;

// Its first lines without their ends; empty ones are left out.
std::vector<std::string_view> first_lines(std::string_view text);

using CsvRows = std::vector<std::string_view>;

class CsvSample {
 public:
  // `by_lines`: each line is a row. Else fields between quotes may hold line feeds.
  explicit CsvSample(std::string_view text, bool by_lines = false);

  CsvRows rows(char delimiter) const;

  // The delimiter that occurs equally often in nearly all rows: best as often in the first, then
  // most often. `preferred` where it occurs so, or none occurs in the first; 0 where there is none.
  char find_delimiter(char preferred = 0) const;

  // Gives the dialect the first row as its header where that is one. Where it is not clear:
  // `unless_not`.
  void find_header(Dialect& dialect, bool unless_not) const;
  void take_header(Dialect& dialect) const;

 private:
  std::string_view text_;  // without a byte order mark and empty lines in front
  bool is_cut_;            // there is more of it
  bool by_lines_;
};

}  // namespace hoist::records
