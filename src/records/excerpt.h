// Excerpts of a block's sequences, the same rows of all that have as many values, and what
// predictions would cost there.
//
// Groups need history: an excerpt is two long stretches of rows, and bits are counted at the end of
// each. Exceptions are filled as sources.h does, and not counted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "records/prediction_search.h"

namespace hoist::records {

class Excerpt {
 public:
  struct Size {
    size_t rows;
    size_t counted;
  };
  Excerpt(std::span<const Sequence> sequences, Effort effort);

  std::span<const int64_t> values(uint32_t sequence) const { return parts_[sequence].values; }

  // Bits that tokens of the counted rows' differences would take. What is predicted from nothing
  // counts from the least value, as it will be stored.
  double cost(uint32_t own, const Prediction& prediction);
  // The same, if all numbers between the least and the largest were as frequent.
  double bits_of_range(uint32_t own) const;
  // Bits of the differences of a few rows: tells hopeless predictions quickly. Stops where there
  // are more than `most`.
  size_t quick_cost(uint32_t own, const Prediction& prediction, size_t rows,
                    size_t most = SIZE_MAX);
  static constexpr size_t kQuickRows = 64;

  // Whether the sequence's numbers in a few rows can be times of day (hours × 100 + minutes).
  bool may_be_times(uint32_t sequence) const;

  // Whether values of the sequence, or pairs of values, recur with others between them.
  bool is_group(uint32_t group) { return before(group, group).recurs; }
  bool are_group(uint32_t group, uint32_t other) { return before(group, other).recurs; }
  // Rows of the sequence that count.
  size_t counted(uint32_t sequence) const { return parts_[sequence].counted; }
  // Places of the rows of quick_cost() in values().
  std::span<const uint32_t> quick_rows(uint32_t sequence) const { return parts_[sequence].quick; }

 private:
  struct Part {
    std::vector<int64_t> values;
    std::vector<bool> is_number;                        // empty: all are
    std::vector<std::pair<uint32_t, uint32_t>> ranges;  // that count
    std::vector<uint32_t> quick;
    // The value before each quick row, exceptions too, and its own, side by side: most
    // predictions need no others.
    std::vector<int64_t> beside;
    std::vector<uint32_t> quick_beside;  // places of the quick rows in it
    size_t counted = 0;
    int64_t least = 0;
    int64_t most = 0;
  };
  struct Before {
    std::vector<uint32_t> positions;
    bool recurs = false;
  };

  Part make_part(const Sequence& sequence) const;
  static void add_beside(Part& part);
  Sources sources(const Prediction& prediction);
  Sources sources_beside(const Prediction& prediction) const;
  // Nothing where few values recur, or they collide.
  const std::optional<Groups>& numbered(uint32_t sequence);
  std::optional<Groups> pairs(uint32_t group, uint32_t other);
  // The pair of a sequence with itself is the sequence.
  const Before& before(uint32_t group, uint32_t other);
  bool recurs(const Part& part, const std::vector<uint32_t>& positions) const;

  Size size_;
  std::vector<Part> parts_;
  std::map<uint32_t, std::optional<Groups>> numbered_;
  std::map<std::pair<uint32_t, uint32_t>, Before> before_;
};

}  // namespace hoist::records
