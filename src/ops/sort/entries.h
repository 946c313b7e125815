// The in-memory sort: lines of one buffer as 16-byte entries, sorted by code, then refined.
//
// An entry is a 128-bit number: the code of the line's current stage (hi) above a LineRef (lo),
// which grows with its position in the input. Sorting entries as numbers (vector_sort.h) orders the
// lines by code and, within equal codes, by input order. Runs of equal codes are then given the
// codes of their next stage and sorted again, breadth first so that the lines' memory can be
// fetched ahead. What codes cannot decide is compared. Large inputs that are neither in order
// already nor sorted by another, a GPU, are first dealt into buckets by sampled splitters; the
// buckets, and large runs one after the other, use all threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "ops/sort/code_sorter.h"
#include "ops/sort/codes.h"
#include "ops/sort/collation_sorter.h"
#include "ops/sort/entry_order.h"
#include "ops/sort/settled.h"
#include "ops/sort/vector_sort.h"

namespace hoist::sort {

// Entries from which on other threads save more than it takes to start them: a millisecond or two
// for sixteen.
inline constexpr size_t kWorthThreads = size_t{1} << 15;

class EntrySorter {
 public:
  // `text` must have 8 readable bytes after its last line. `other` may sort by codes what it wants;
  // null: nobody.
  EntrySorter(const Coder& coder, const char* text, char terminator, ThreadPool& pool,
              CodeSorter* other = nullptr);

  // Sorts entries that carry their first stage's codes; `scratch` is as large as `entries`. With
  // -u all but the first of equal lines are marked as dropped. Codes are meaningless afterwards.
  // Should the other lose entries, `remake` makes all of them again as they were given, and they
  // are sorted without it. The error is that of `remake`.
  Status sort(std::span<Entry> entries, std::span<Entry> scratch,
              const std::function<Status()>& remake);

  Line line(const Entry& entry) const { return order_.line(entry); }

 private:
  struct Run {
    std::span<Entry> entries;
    Stage stage;
    Next then = Next::stage;  // how to go on with it
  };

  bool sort_by_codes(std::span<Entry> entries, std::span<Entry> scratch);
  bool sort_parallel(Run run, std::span<Entry> scratch);
  bool wanted_by_other(size_t count) const { return other_ != nullptr && other_->wants(count); }
  bool is_ascending(std::span<const Entry> entries) const;
  static std::vector<size_t> cut_between_codes(std::span<const Entry> sorted);
  void deal(std::span<Entry> entries, std::span<Entry> scratch, std::vector<size_t>& bounds) const;
  void refine(Run run, std::vector<Run>* large);
  void find_runs(const Run& run, std::vector<Run>& next, std::vector<Run>* large);
  bool are_bare_numbers(std::span<const Entry> entries, Stage stage) const;
  bool identical(const Run& run) const;
  void recode(std::span<const Run> runs) const;
  void skip_common_text(Run& run) const;
  bool begins_alike(const Run& run) const;
  void order_run(const Run& run) const;
  void settle(std::span<Entry> entries);
  void settle_parallel(const Run& run, std::span<Entry> scratch);
  void drop_equal(std::span<Entry> entries) const;
  bool proven(std::span<const Entry> entries);

  const Coder& coder_;
  const Options& options_;
  const char* text_;
  const EntryOrder order_;
  ThreadPool& pool_;
  CodeSorter* other_;
  SortFunction sort_by_code_ = nullptr;
  const Entry* start_ = nullptr;  // of the entries being sorted
  Settled settled_;
  size_t key_block_bytes_ = 0;
};

}  // namespace hoist::sort
