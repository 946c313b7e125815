#include "match/index/stable_segment.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/threads.h"

namespace hoist::match {
namespace {

constexpr size_t kPatternsPerTask = 1 << 16;

template <typename T>
uint64_t bytes_of(const std::vector<T>& vector) {
  return vector.capacity() * sizeof(T);
}

// std::atomic_ref wants a mutable object although it only reads.
uint32_t load(const uint32_t& value) {
  return std::atomic_ref<uint32_t>(const_cast<uint32_t&>(value)).load(std::memory_order_relaxed);
}

Error corrupt(const char* what) {
  return fail(ErrorCode::corrupt, fmt::format("damaged segment: {}", what));
}

// Whether the sizes of a pattern's events are in the pool and sum up to its length.
bool check_shape(std::span<const uint16_t> pool, uint32_t begin, uint32_t length) {
  uint32_t sum = 0;
  for (size_t i = begin; sum < length; ++i) {
    if (i >= pool.size() || pool[i] == 0) return false;
    sum += pool[i];
  }
  return sum == length;
}

}  // namespace

StableSegment::StableSegment(uint64_t number, Columns columns)
    : number_(number), columns_(std::move(columns)), changed_((size() + size_t{63}) / 64) {
  live_ =
      static_cast<uint32_t>(std::count_if(columns_.frequencies.begin(), columns_.frequencies.end(),
                                          [](uint32_t frequency) { return frequency != 0; }));
}

std::span<const uint16_t> StableSegment::event_sizes(uint32_t i) const {
  const uint32_t begin = columns_.shapes[i];
  uint32_t sum = 0;
  size_t end = begin;
  for (const uint32_t all = length(i); sum < all; ++end) sum += columns_.shape_pool[end];
  return std::span(columns_.shape_pool).subspan(begin, end - begin);
}

void StableSegment::read_symbols(uint32_t i, std::vector<uint32_t>& out) const {
  if (!read_pattern(view(), i, out)) out.assign(length(i), 0);
}

uint32_t StableSegment::frequency(uint32_t i) const { return load(columns_.frequencies[i]); }

std::optional<uint32_t> StableSegment::find_in(const LengthBucket& bucket,
                                               const NameKey& name) const {
  const auto first = static_cast<size_t>(bucket.first_pattern);
  const auto found = columns_.names.find(name, first, first + bucket.count);
  if (!found) return std::nullopt;
  return static_cast<uint32_t>(*found);
}

std::optional<uint32_t> StableSegment::live_only(std::optional<uint32_t> place) const {
  return place && frequency(*place) != 0 ? place : std::nullopt;
}

std::optional<uint32_t> StableSegment::find_any(const NameKey& name, uint32_t length) const {
  const auto& buckets = columns_.symbols.buckets;
  const auto at =
      std::lower_bound(buckets.begin(), buckets.end(), length,
                       [](const LengthBucket& b, uint32_t wanted) { return b.length < wanted; });
  if (at == buckets.end() || at->length != length) return std::nullopt;
  return find_in(*at, name);
}

std::optional<uint32_t> StableSegment::find(const NameKey& name, uint32_t length) const {
  return live_only(find_any(name, length));
}

std::optional<uint32_t> StableSegment::find(const NameKey& name) const {
  for (const LengthBucket& bucket : columns_.symbols.buckets) {
    if (const auto found = live_only(find_in(bucket, name))) return found;
  }
  return std::nullopt;
}

void StableSegment::set_frequency(uint32_t i, uint32_t frequency) {
  std::atomic_ref<uint32_t> place(columns_.frequencies[i]);
  const uint32_t before = place.exchange(frequency, std::memory_order_relaxed);
  if ((before == 0) != (frequency == 0)) live_ += frequency == 0 ? -1u : 1u;
  std::atomic_ref<uint64_t>(changed_[i / 64]).fetch_or(uint64_t{1} << (i % 64));
}

void StableSegment::set_emotives(uint32_t i, std::shared_ptr<const EmotiveList> list) {
  emotives_.set(i, std::move(list));
  std::atomic_ref<uint64_t>(changed_[i / 64]).fetch_or(uint64_t{1} << (i % 64));
}

void StableSegment::begin_with_emotives(uint32_t i, std::shared_ptr<const EmotiveList> list) {
  emotives_.set(i, std::move(list));
}

std::vector<uint32_t> StableSegment::changed() const {
  std::vector<uint32_t> places;
  for (size_t word = 0; word < changed_.size(); ++word) {
    uint64_t bits = std::atomic_ref<uint64_t>(const_cast<uint64_t&>(changed_[word])).load();
    for (; bits != 0; bits &= bits - 1) {
      places.push_back(
          static_cast<uint32_t>(word * 64 + static_cast<size_t>(__builtin_ctzll(bits))));
    }
  }
  return places;
}

uint64_t StableSegment::memory() const {
  const Columns& c = columns_;
  return c.symbols.symbols16.span().size_bytes() + c.symbols.symbols32.span().size_bytes() +
         bytes_of(c.symbols.buckets) + bytes_of(c.symbols.dense_symbols) +
         bytes_of(c.symbols.name_ranks) + c.names.memory() + bytes_of(c.serials) +
         bytes_of(c.shapes) + bytes_of(c.shape_pool) + bytes_of(c.frequencies) +
         bytes_of(changed_) + emotives_.memory();
}

Status check_columns(const StableSegment::Columns& columns, uint32_t vocabulary_size) {
  const SegmentView view = columns.symbols.view();
  if (Status checked = check_segment(view); !checked) return checked;
  const uint64_t count = view.pattern_count();
  if (columns.serials.size() != count || columns.names.size() != count ||
      columns.shapes.size() != count || columns.frequencies.size() != count ||
      view.name_ranks.size() != count) {
    return corrupt("columns of different sizes");
  }
  for (const uint32_t symbol : view.dense_symbols) {
    if (symbol >= vocabulary_size) return corrupt("a symbol that the vocabulary does not have");
  }
  std::atomic<bool> good = true;
  ThreadPool::process().parallel_for(
      (count + kPatternsPerTask - 1) / kPatternsPerTask, [&](size_t t) {
        const size_t end = std::min<size_t>(count, (t + 1) * kPatternsPerTask);
        for (size_t i = t * kPatternsPerTask; i < end; ++i) {
          if (!check_shape(columns.shape_pool, columns.shapes[i], view.bucket_of(i).length))
            good = false;
        }
      });
  if (!good) return corrupt("events that do not fit their pattern");
  return {};
}

}  // namespace hoist::match
