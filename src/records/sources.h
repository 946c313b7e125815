// The sources of a column's prediction, lined up with its own numbers.
//
// Columns may have exceptions: values that are no number. A source's exceptions take the number
// before them, 0 where there is none; and it is looked at where own has numbers. So column
// values of the same row stay side by side, whichever of them lack a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "records/prediction.h"

namespace hoist::records {

// A column's numbers or codes, and where its exceptions are among its values.
struct NumberRows {
  std::span<const int64_t> numbers;
  std::span<const int64_t> exceptions;  // ascending
  size_t count = 0;                     // of both together
};

// The most values of a column with groups or with exceptions beside those of its sources: lining up
// takes memory.
inline constexpr size_t kMaxLinedUp = size_t{1} << 18;

// A number for each value: the one before where there is none.
std::vector<int64_t> filled(const NumberRows& rows);

class LinedUpSources {
 public:
  // Nothing where a source does not exist or has not as many values as `own`, or a group's values
  // were made to collide, or there are too many to line up. What the spans of `rows_of` point at
  // must outlive the sources.
  static std::optional<LinedUpSources> make(
      const Prediction& prediction, const NumberRows& own,
      const std::function<std::optional<NumberRows>(uint32_t)>& rows_of);

  Sources get() const;

 private:
  struct Column {
    std::span<const int64_t> view;
    std::vector<int64_t> copy;  // where one was needed
    std::span<const int64_t> get() const { return copy.empty() ? view : copy; }
  };
  static std::optional<Column> line_up(const NumberRows& source, const NumberRows& own);

  Column first_;
  Column second_;
  std::vector<uint32_t> before_;
  int64_t factor_ = 0;
};

}  // namespace hoist::records
