// The in-memory sort: lines of one buffer as 16-byte entries, sorted by code, then refined.
//
// An entry is a 128-bit number: the code of the line's current stage (hi) above a LineRef (lo),
// which grows with its position in the input. Sorting entries as numbers (vector_sort.h) orders the
// lines by code and, within equal codes, by input order. Runs of equal codes are then given the
// codes of their next stage and sorted again, breadth first so that the lines' memory can be
// fetched ahead. What codes cannot decide is compared. Large inputs are first dealt into buckets
// by sampled splitters; the buckets, and large runs one after the other, use all threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/threads.h"
#include "ops/sort/code_sorter.h"
#include "ops/sort/codes.h"
#include "ops/sort/line.h"
#include "ops/sort/settled.h"
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

class EntrySorter {
 public:
  // `text` must have 8 readable bytes after its last line. `other` may sort by codes what it wants;
  // null: nobody.
  EntrySorter(const Coder& coder, const char* text, char terminator, ThreadPool& pool,
              CodeSorter* other = nullptr);

  // Sorts entries that carry their first stage's codes; `scratch` is as large as `entries`. With
  // -u all but the first of equal lines are marked as dropped. Codes are meaningless afterwards.
  void sort(std::span<Entry> entries, std::span<Entry> scratch);

  Line line(const Entry& entry) const { return LineRef::line(entry.lo, text_, terminator_); }

 private:
  struct Run {
    std::span<Entry> entries;
    Stage stage;
    Next then = Next::stage;  // how to go on with it
  };

  void sort_parallel(Run run, std::span<Entry> scratch);
  bool wanted_by_other(size_t count) const { return other_ != nullptr && other_->wants(count); }
  static std::vector<size_t> cut_between_codes(std::span<const Entry> sorted);
  void deal(std::span<Entry> entries, std::span<Entry> scratch, std::vector<size_t>& bounds) const;
  void refine(Run run, std::vector<Run>* large);
  void find_runs(const Run& run, std::vector<Run>& next, std::vector<Run>* large);
  bool identical(const Run& run) const;
  void recode(std::span<const Run> runs) const;
  void skip_common_text(Run& run) const;
  void order(const Run& run) const;
  void settle(std::span<Entry> entries);
  void compare_sort(std::span<Entry> entries) const;
  void collate_sort(const Run& run) const;
  void settle_parallel(const Run& run, std::span<Entry> scratch);
  void drop_equal(std::span<Entry> entries) const;
  bool proven(std::span<const Entry> entries);
  bool less(const Entry& a, const Entry& b) const;

  const Coder& coder_;
  const Options& options_;
  const char* text_;
  char terminator_;
  ThreadPool& pool_;
  CodeSorter* const other_;
  SortFunction sort_by_code_ = nullptr;
  const Entry* start_ = nullptr;  // of the entries being sorted
  Settled settled_;
};

}  // namespace hoist::sort
