// Building a segment: the live patterns of all sources, in the order of their names.
#include <algorithm>
#include <unordered_map>

#include "base/threads.h"
#include "match/index/recent_tier.h"
#include "match/index/stable_segment.h"

namespace hoist::match {
namespace {

constexpr size_t kRowsPerTask = 1 << 14;

// A pattern of one of the sources: the stable ones first, then the recent ones.
struct Row {
  uint64_t prefix;  // of its name
  uint32_t source;
  uint32_t place;
};

class Rows {
 public:
  explicit Rows(const StableSources& sources) : sources_(sources) {
    for (const auto& segment : sources.stable) {
      for (uint32_t i = 0; i < segment->size(); ++i) add(i);
      ++source_;
    }
    for (const auto& tier : sources.recent) {
      const uint32_t count = tier->size();
      for (uint32_t i = 0; i < count; ++i) add(i);
      ++source_;
    }
    std::sort(rows_.begin(), rows_.end(), [this](const Row& a, const Row& b) {
      return a.prefix != b.prefix ? a.prefix < b.prefix : compare(name(a), name(b)) < 0;
    });
  }

  const std::vector<Row>& rows() const { return rows_; }
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
  uint32_t length(const Row& row) const {
    return stable(row) ? stable(row)->length(row.place)
                       : static_cast<uint32_t>(recent(row).symbols.size());
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
  void add(uint32_t place) {
    Row row{0, source_, place};
    if (frequency(row) == 0) return;
    row.prefix = name(row).prefix();
    rows_.push_back(row);
  }
  const StableSegment* stable(const Row& row) const {
    return row.source < sources_.stable.size() ? sources_.stable[row.source].get() : nullptr;
  }
  const RecentTier& tier(const Row& row) const {
    return *sources_.recent[row.source - sources_.stable.size()];
  }
  const RecentPattern& recent(const Row& row) const { return tier(row).at(row.place); }

  const StableSources& sources_;
  uint32_t source_ = 0;
  std::vector<Row> rows_;
};

// Event sizes, each sequence once.
class ShapePool {
 public:
  uint32_t place(std::span<const uint16_t> sizes) {
    key_.assign(reinterpret_cast<const char*>(sizes.data()), sizes.size_bytes());
    const auto [at, is_new] = places_.try_emplace(key_, static_cast<uint32_t>(pool_.size()));
    if (is_new) pool_.insert(pool_.end(), sizes.begin(), sizes.end());
    return at->second;
  }
  std::vector<uint16_t> take() { return std::move(pool_); }

 private:
  std::string key_;
  std::unordered_map<std::string, uint32_t> places_;
  std::vector<uint16_t> pool_;
};

// All symbols one after the other, as build_segment() takes them.
Result<Segment> lay_out(const Rows& rows, uint32_t vocabulary_size, ThreadPool& pool) {
  std::vector<uint64_t> ends(rows.rows().size());
  uint64_t total = 0;
  for (size_t i = 0; i < ends.size(); ++i) ends[i] = total += rows.length(rows.rows()[i]);
  std::vector<uint32_t> symbols(total);
  pool.parallel_for((ends.size() + kRowsPerTask - 1) / kRowsPerTask, [&](size_t task) {
    std::vector<uint32_t> scratch;
    const size_t end = std::min(ends.size(), (task + 1) * kRowsPerTask);
    for (size_t i = task * kRowsPerTask; i < end; ++i) {
      const auto from = rows.symbols(rows.rows()[i], scratch);
      std::copy(from.begin(), from.end(),
                symbols.begin() + static_cast<ptrdiff_t>(ends[i] - from.size()));
    }
  });
  return build_segment({symbols, ends, vocabulary_size}, pool);
}

}  // namespace

Result<std::shared_ptr<StableSegment>> build_stable(uint64_t number, const StableSources& sources,
                                                    uint32_t vocabulary_size, ThreadPool& pool) {
  const Rows rows(sources);
  StableSegment::Columns columns;
  Result<Segment> symbols = lay_out(rows, vocabulary_size, pool);
  if (!symbols) return tl::unexpected(symbols.error());
  columns.symbols = std::move(*symbols);

  const size_t count = rows.rows().size();
  columns.names.reserve(count);
  columns.serials.resize(count);
  columns.shapes.resize(count);
  columns.frequencies.resize(count);
  ShapePool shapes;
  std::vector<std::pair<uint32_t, std::shared_ptr<const EmotiveList>>> emotives;
  for (uint32_t i = 0; i < count; ++i) {
    const Row& row = rows.rows()[columns.symbols.name_ranks[i]];
    columns.names.push_back(rows.name(row));
    columns.serials[i] = rows.serial(row);
    columns.shapes[i] = shapes.place(rows.event_sizes(row));
    columns.frequencies[i] = rows.frequency(row);
    if (auto list = rows.emotives(row)) emotives.emplace_back(i, std::move(list));
  }
  columns.shape_pool = shapes.take();
  auto segment = std::make_shared<StableSegment>(number, std::move(columns));
  for (auto& [place, list] : emotives) segment->begin_with_emotives(place, std::move(list));
  return segment;
}

}  // namespace hoist::match
