// Lines that are the same on the first level of a collated text, sorted by the lower levels.
//
// strcoll() reads all levels of such texts, and those that are read backwards in time that grows
// with the square of the text (rulers, tables). So each text is transformed once, by strxfrm(), and
// the lines are sorted by that. glibc's two functions do not always agree: the lines that strcoll()
// puts elsewhere are moved, which takes one comparison a line where there are few.
#pragma once

#include <cstddef>
#include <span>

#include "ops/sort/codes.h"
#include "ops/sort/entry_order.h"

namespace hoist::sort {

class CollationSorter {
 public:
  // What is transformed at once: bytes of the lines and of the memory to sort them. The keys take
  // up to some seven times as much.
  static constexpr size_t kBlockBytes = size_t{2} << 20;

  CollationSorter(const Coder& coder, const EntryOrder& order, size_t block_bytes = kBlockBytes)
      : coder_(coder), order_(order), block_bytes_(block_bytes) {}

  // `stage` is one of a collated text. The result is in `order`.
  void sort(std::span<Entry> entries, Stage stage) const;

 private:
  bool sort_block(std::span<Entry> entries, Stage stage) const;

  const Coder& coder_;
  const EntryOrder& order_;
  const size_t block_bytes_;
};

}  // namespace hoist::sort
