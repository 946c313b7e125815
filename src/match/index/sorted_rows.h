// The live patterns of several segments and recent tiers in one order, that of their names.
//
//   Result<SortedRows> rows = SortedRows::of(sources, pool);
//   for (const Row& row : rows->rows()) use(rows->name(row), rows->length(row));
//
// Runs are merged: a segment's patterns are one already, recent ones are sorted a few at a time.
// The merge is cut into ranges of names, which need nothing of one another.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/threads.h"
#include "match/index/recent_tier.h"
#include "match/index/stable_segment.h"

namespace hoist::match {

// A pattern of one of the sources: the stable ones count first, then the recent ones.
struct Row {
  uint64_t prefix;  // of its name
  uint32_t place;   // in its source
  uint16_t source;
  uint16_t length;
};

class SortedRows {
 public:
  // Sorts the patterns whose frequency was not 0 when it was read. `sources` must outlive it.
  // `invalid_argument` for more than 65 535 sources.
  static Result<SortedRows> of(const StableSources& sources, ThreadPool& pool);

  std::span<const Row> rows() const { return rows_; }

  const StableSegment* stable(const Row& row) const {
    return row.source < sources_->stable.size() ? sources_->stable[row.source].get() : nullptr;
  }
  // Where stable() is null.
  const RecentTier& tier(const Row& row) const {
    return *sources_->recent[row.source - sources_->stable.size()];
  }
  const RecentPattern& recent(const Row& row) const { return tier(row).at(row.place); }

  NameKey name(const Row& row) const {
    return stable(row) ? stable(row)->name(row.place) : recent(row).name();
  }
  uint32_t frequency(const Row& row) const {
    return stable(row) ? stable(row)->frequency(row.place)
                       : recent(row).frequency.load(std::memory_order_relaxed);
  }
  uint32_t serial(const Row& row) const {
    return stable(row) ? stable(row)->serial(row.place) : recent(row).serial;
  }
  std::span<const uint16_t> event_sizes(const Row& row) const {
    return stable(row) ? stable(row)->event_sizes(row.place) : recent(row).event_sizes;
  }
  // `scratch` may be what is returned.
  std::span<const uint32_t> symbols(const Row& row, std::vector<uint32_t>& scratch) const {
    if (!stable(row)) return recent(row).symbols;
    stable(row)->read_symbols(row.place, scratch);
    return scratch;
  }
  std::shared_ptr<const EmotiveList> emotives(const Row& row) const {
    return stable(row) ? stable(row)->emotives().get(row.place)
                       : tier(row).emotives().get(row.place);
  }

 private:
  using Run = std::vector<Row>;

  explicit SortedRows(const StableSources& sources) : sources_(&sources) {}
  bool before(const Row& a, const Row& b) const;
  void sort(Run& run) const;
  Run run_of(uint16_t source, const StableSegment& segment) const;
  Run run_of(uint16_t source, const RecentTier& tier, uint32_t begin, uint32_t end) const;
  std::vector<Run> make_runs(ThreadPool& pool) const;
  void merge(const std::vector<Run>& runs, ThreadPool& pool);

  const StableSources* sources_;
  std::vector<Row> rows_;
};

}  // namespace hoist::match
