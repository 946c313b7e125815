// Entries as the lines that they refer to.
#pragma once

#include <cstdint>
#include <cstring>

#include "ops/sort/compare.h"
#include "ops/sort/line.h"
#include "ops/sort/vector_sort.h"

namespace hoist::sort {

// Offset of a line in its buffer (39 bits) and its length (24 bits; kLong: look for the end), so
// that references order as the lines stand. The top bit marks a line dropped by -u.
class LineRef {
 public:
  static constexpr uint64_t kLong = (uint64_t{1} << 24) - 1;
  static constexpr uint64_t kMaximumOffset = (uint64_t{1} << 39) - 1;
  static constexpr uint64_t kDropped = uint64_t{1} << 63;

  static uint64_t make(uint64_t offset, uint64_t length) {
    return offset << 24 | (length < kLong ? length : kLong);
  }
  static bool dropped(uint64_t ref) { return (ref & kDropped) != 0; }
  // kLong: that or more.
  static uint64_t length(uint64_t ref) { return ref & kLong; }
  static uint64_t offset(uint64_t ref) { return (ref & ~kDropped) >> 24; }
  // Every line of the buffer ends with the terminator.
  static Line line(uint64_t ref, const char* text, char terminator) {
    const char* start = text + offset(ref);
    const uint64_t length = ref & kLong;
    if (length != kLong) return {start, length};
    const void* end = ::rawmemchr(start + kLong, terminator);
    return {start, static_cast<size_t>(static_cast<const char*>(end) - start)};
  }
};

// The order of the sort, stated by Comparator, over entries of one buffer.
class EntryOrder {
 public:
  EntryOrder(const Comparator& comparator, const char* text, char terminator)
      : comparator_(comparator), text_(text), terminator_(terminator) {}

  Line line(const Entry& entry) const { return LineRef::line(entry.lo, text_, terminator_); }

  // Equal lines as they stand in the input.
  bool operator()(const Entry& a, const Entry& b) const {
    const int order = comparator_.compare(line(a), line(b));
    return order != 0 ? order < 0 : a.lo < b.lo;
  }

 private:
  const Comparator& comparator_;
  const char* text_;
  char terminator_;
};

}  // namespace hoist::sort
