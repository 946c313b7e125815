// Building a segment: the live patterns of all sources, in the order of their names.
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "base/threads.h"
#include "match/index/sorted_rows.h"
#include "match/index/stable_segment.h"

namespace hoist::match {
namespace {

constexpr size_t kRowsPerTask = 1 << 13;
// What a row names lies anywhere: it is fetched so many rows ahead.
constexpr size_t kAhead = 12;

size_t tasks_of(size_t rows) { return (rows + kRowsPerTask - 1) / kRowsPerTask; }

void prefetch_pattern(const SortedRows& rows, const Row& row) {
  if (rows.stable(row) != nullptr) return;
  const auto* const bytes = reinterpret_cast<const std::byte*>(&rows.recent(row));
  __builtin_prefetch(bytes);
  __builtin_prefetch(bytes + sizeof(RecentPattern) - 1);
}

void prefetch_symbols(const SortedRows& rows, const Row& row) {
  if (rows.stable(row) != nullptr) return;
  const auto bytes = std::as_bytes(rows.recent(row).symbols);
  __builtin_prefetch(bytes.data());
  __builtin_prefetch(bytes.data() + bytes.size() - 1);
}

void prefetch_event_sizes(const SortedRows& rows, const Row& row) {
  if (rows.stable(row) == nullptr) __builtin_prefetch(rows.recent(row).event_sizes.data());
}

// All symbols one after the other, as build_segment() takes them.
Result<Segment> lay_out(const SortedRows& rows, uint32_t vocabulary_size, ThreadPool& pool) {
  const size_t count = rows.rows().size();
  AlignedArray<uint64_t> ends(count);
  uint64_t total = 0;
  for (size_t i = 0; i < count; ++i) ends.data()[i] = total += rows.rows()[i].length;
  AlignedArray<uint32_t> symbols(total);
  pool.parallel_for(tasks_of(count), [&](size_t task) {
    std::vector<uint32_t> scratch;
    const size_t end = std::min(count, (task + 1) * kRowsPerTask);
    for (size_t i = task * kRowsPerTask; i < end; ++i) {
      if (i + 2 * kAhead < count) prefetch_pattern(rows, rows.rows()[i + 2 * kAhead]);
      if (i + kAhead < count) prefetch_symbols(rows, rows.rows()[i + kAhead]);
      const auto from = rows.symbols(rows.rows()[i], scratch);
      std::copy(from.begin(), from.end(), symbols.data() + ends.data()[i] - from.size());
    }
  });
  return build_segment({symbols.span(), ends.span(), vocabulary_size}, pool);
}

// Event sizes, each sequence once.
class ShapePool {
 public:
  uint32_t place(std::span<const uint16_t> sizes) {
    const std::span<const uint16_t> last = std::span(pool_).subspan(last_, last_size_);
    if (std::equal(sizes.begin(), sizes.end(), last.begin(), last.end())) return last_;
    key_.assign(reinterpret_cast<const char*>(sizes.data()), sizes.size_bytes());
    const auto [at, is_new] = places_.try_emplace(key_, static_cast<uint32_t>(pool_.size()));
    if (is_new) pool_.insert(pool_.end(), sizes.begin(), sizes.end());
    last_ = at->second;
    last_size_ = sizes.size();
    return last_;
  }
  const std::unordered_map<std::string, uint32_t>& places() const { return places_; }
  std::vector<uint16_t> take() { return std::move(pool_); }

 private:
  std::string key_;
  std::unordered_map<std::string, uint32_t> places_;
  std::vector<uint16_t> pool_;
  uint32_t last_ = 0;
  size_t last_size_ = 0;
};

// The columns besides the symbols, some thousand patterns at a time.
class ColumnFiller {
 public:
  ColumnFiller(const SortedRows& rows, StableSegment::Columns& columns)
      : rows_(rows), columns_(columns), count_(rows.rows().size()), parts_(tasks_of(count_)) {
    columns_.names = PatternNames(count_);
    columns_.serials.resize(count_);
    columns_.shapes.resize(count_);
    columns_.frequencies.resize(count_);
  }

  void fill(ThreadPool& pool) {
    pool.parallel_for(parts_.size(), [this](size_t task) { fill_part(task); });
    ShapePool all;
    std::vector<std::unordered_map<uint32_t, uint32_t>> places(parts_.size());
    for (size_t task = 0; task < parts_.size(); ++task) {
      Part& part = parts_[task];
      for (const auto& [sizes, place] : part.shapes.places()) {
        places[task][place] =
            all.place({reinterpret_cast<const uint16_t*>(sizes.data()), sizes.size() / 2});
      }
      for (const uint32_t i : part.own_names) columns_.names.set(i, rows_.name(row(i)));
    }
    pool.parallel_for(parts_.size(), [&](size_t task) {
      const size_t end = std::min(count_, (task + 1) * kRowsPerTask);
      for (size_t i = task * kRowsPerTask; i < end; ++i) {
        columns_.shapes[i] = places[task].at(columns_.shapes[i]);
      }
    });
    columns_.shape_pool = all.take();
  }

  void give_emotives(StableSegment& segment) {
    for (Part& part : parts_) {
      for (auto& [place, list] : part.emotives) segment.begin_with_emotives(place, std::move(list));
    }
  }

 private:
  struct Part {
    ShapePool shapes;
    std::vector<uint32_t> own_names;
    std::vector<std::pair<uint32_t, std::shared_ptr<const EmotiveList>>> emotives;
  };

  const Row& row(size_t i) const { return rows_.rows()[columns_.symbols.name_ranks[i]]; }

  void fill_part(size_t task) {
    Part& part = parts_[task];
    const size_t end = std::min(count_, (task + 1) * kRowsPerTask);
    for (size_t i = task * kRowsPerTask; i < end; ++i) {
      if (i + 2 * kAhead < count_) prefetch_pattern(rows_, row(i + 2 * kAhead));
      if (i + kAhead < count_) prefetch_event_sizes(rows_, row(i + kAhead));
      const Row& from = row(i);
      const auto place = static_cast<uint32_t>(i);
      const NameKey name = rows_.name(from);
      if (name.is_digest) {
        columns_.names.set_digest(i, name.digest);
      } else {
        part.own_names.push_back(place);
      }
      columns_.serials[i] = rows_.serial(from);
      columns_.shapes[i] = part.shapes.place(rows_.event_sizes(from));
      columns_.frequencies[i] = rows_.frequency(from);
      if (auto list = rows_.emotives(from)) part.emotives.emplace_back(place, std::move(list));
    }
  }

  const SortedRows& rows_;
  StableSegment::Columns& columns_;
  const size_t count_;
  std::vector<Part> parts_;
};

}  // namespace

Result<std::shared_ptr<StableSegment>> build_stable(uint64_t number, const StableSources& sources,
                                                    uint32_t vocabulary_size, ThreadPool& pool) {
  const auto rows = SortedRows::of(sources, pool);
  if (!rows) return rows.error();
  StableSegment::Columns columns;
  Result<Segment> symbols = lay_out(*rows, vocabulary_size, pool);
  if (!symbols) return symbols.error();
  columns.symbols = std::move(*symbols);
  ColumnFiller filler(*rows, columns);
  filler.fill(pool);
  auto segment = std::make_shared<StableSegment>(number, std::move(columns));
  filler.give_emotives(*segment);
  return segment;
}

}  // namespace hoist::match
