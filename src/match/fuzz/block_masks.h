// Where each symbol of a sequence is, as bits, 64 of its symbols a word; and another sequence as
// places in that table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "match/pairs/symbol_numbers.h"

namespace hoist::match {

class BlockMasks {
 public:
  // Masks of `rows`; `columns` is what will be gone through.
  BlockMasks(const Sequence& rows, const Sequence& columns)
      : words_(std::max<size_t>(1, (size_t{rows.length} + 63) / 64)) {
    SymbolNumbers numbers;
    std::vector<uint32_t> of_rows(rows.length);
    numbers.add(rows, of_rows.data());
    masks_.resize(words_ * numbers.size());
    for (size_t i = 0; i < of_rows.size(); ++i) {
      masks_[of_rows[i] * words_ + i / 64] |= uint64_t{1} << i % 64;
    }
    columns_.reserve(columns.length);
    with_symbols(columns, [&](const auto symbols) {
      for (const uint32_t symbol : symbols) columns_.push_back(numbers.of(symbol));
    });
  }

  size_t words() const { return words_; }
  size_t columns() const { return columns_.size(); }
  // The words of the symbol of a column.
  const uint64_t* of_column(size_t column) const {
    return masks_.data() + size_t{columns_[column]} * words_;
  }

 private:
  size_t words_;
  std::vector<uint64_t> masks_;
  std::vector<uint32_t> columns_;
};

}  // namespace hoist::match
