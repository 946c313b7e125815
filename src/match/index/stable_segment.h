// A stable segment: patterns laid out for scans (match/segment_view.h) with what a record needs
// besides. Names, symbols and events never change; frequencies and emotives do, one writer at a
// time, while any number of threads read.
//
// A pattern with frequency 0 has been removed: scans still meet it, and it counts no more.
//
// Memory: for each pattern its symbols at 2 bytes (4 in a segment of more than 65 535 distinct
// ones), 36 bytes (20 name, 4 name rank, 4 serial, 4 events, 4 frequency) and 1 bit; besides names
// that users gave, each kind of event sizes once, and emotives.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/threads.h"
#include "match/index/emotive_table.h"
#include "match/index/pattern_names.h"
#include "match/segment_builder.h"

namespace hoist::match {

class RecentTier;

class StableSegment {
 public:
  // What it is made of, by pattern index.
  struct Columns {
    Segment symbols;
    PatternNames names;
    std::vector<uint32_t> serials;
    std::vector<uint32_t> shapes;       // where the pattern's event sizes begin in the pool
    std::vector<uint16_t> shape_pool;   // from there on, until they sum up to the pattern's length
    std::vector<uint32_t> frequencies;  // by pattern index
  };
  // `columns` fit one another (build_stable(), check_columns()).
  StableSegment(uint64_t number, Columns columns);

  uint64_t number() const { return number_; }
  SegmentView view() const { return columns_.symbols.view(); }
  const Columns& columns() const { return columns_; }
  uint32_t size() const { return static_cast<uint32_t>(columns_.serials.size()); }
  // Patterns that have not been removed.
  uint32_t live() const { return live_.load(std::memory_order_relaxed); }

  NameKey name(uint32_t i) const { return columns_.names.key(i); }
  uint32_t serial(uint32_t i) const { return columns_.serials[i]; }
  uint32_t length(uint32_t i) const { return view().bucket_of(i).length; }
  std::span<const uint16_t> event_sizes(uint32_t i) const;
  // As vocabulary ids.
  void read_symbols(uint32_t i, std::vector<uint32_t>& out) const;
  uint32_t frequency(uint32_t i) const;
  const EmotiveTable& emotives() const { return emotives_; }

  // The live pattern of that name and length.
  std::optional<uint32_t> find(const NameKey& name, uint32_t length) const;
  // Also one that was removed.
  std::optional<uint32_t> find_any(const NameKey& name, uint32_t length) const;
  // The live one where the length is not known: in time proportional to the number of lengths.
  std::optional<uint32_t> find(const NameKey& name) const;

  // The writer's; 0 removes.
  void set_frequency(uint32_t i, uint32_t frequency);
  void set_emotives(uint32_t i, std::shared_ptr<const EmotiveList> list);
  // Without noting a change: part of what the segment begins with.
  void begin_with_emotives(uint32_t i, std::shared_ptr<const EmotiveList> list);
  // Patterns whose frequency or emotives differ from those that the segment began with.
  std::vector<uint32_t> changed() const;

  uint64_t memory() const;

 private:
  std::optional<uint32_t> find_in(const LengthBucket& bucket, const NameKey& name) const;
  std::optional<uint32_t> live_only(std::optional<uint32_t> place) const;

  uint64_t number_;
  Columns columns_;  // but for the frequencies it stays as it is
  std::vector<uint64_t> changed_;
  std::atomic<uint32_t> live_ = 0;
  EmotiveTable emotives_;
};

// Whether columns from an untrusted source fit one another: `corrupt` where not.
Status check_columns(const StableSegment::Columns& columns, uint32_t vocabulary_size);

// A new segment of the live patterns of others and of recent tiers. Frequencies and emotives are
// those at some moment of the call, each for itself.
struct StableSources {
  std::vector<std::shared_ptr<const StableSegment>> stable;
  std::vector<std::shared_ptr<const RecentTier>> recent;
};
Result<std::shared_ptr<StableSegment>> build_stable(uint64_t number, const StableSources& sources,
                                                    uint32_t vocabulary_size, ThreadPool& pool);

}  // namespace hoist::match
