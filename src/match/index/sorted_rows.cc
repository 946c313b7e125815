#include "match/index/sorted_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace hoist::match {
namespace {

constexpr uint32_t kRecentRun = 1 << 14;
// A range of names of so many patterns stays in a core's cache while it is merged.
constexpr size_t kRowsPerRange = 1 << 14;
constexpr size_t kSamplesPerRange = 16;

// Where the ranges of names begin, the first one left out: prefixes, ascending.
std::vector<uint64_t> cuts_of(const std::vector<std::vector<Row>>& runs, size_t rows) {
  const size_t ranges = rows / kRowsPerRange;
  if (ranges < 2 || runs.size() < 2) return {};
  const size_t step = std::max<size_t>(1, kRowsPerRange / kSamplesPerRange);
  std::vector<uint64_t> samples;
  for (const auto& run : runs) {
    for (size_t i = step / 2; i < run.size(); i += step) samples.push_back(run[i].prefix);
  }
  std::sort(samples.begin(), samples.end());
  std::vector<uint64_t> cuts;
  for (size_t i = kSamplesPerRange; i < samples.size(); i += kSamplesPerRange) {
    cuts.push_back(samples[i]);
  }
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace

bool SortedRows::before(const Row& a, const Row& b) const {
  return a.prefix != b.prefix ? a.prefix < b.prefix : compare(name(a), name(b)) < 0;
}

void SortedRows::sort(Run& run) const {
  std::sort(run.begin(), run.end(), [this](const Row& a, const Row& b) { return before(a, b); });
}

SortedRows::Run SortedRows::run_of(uint16_t source, const StableSegment& segment) const {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  const SegmentView view = segment.view();
  std::vector<uint32_t> by_rank(segment.size(), kNone);
  std::vector<uint16_t> lengths(segment.size());
  bool is_order = true;  // ranks from a file may be anything below the number of patterns
  for (const LengthBucket& bucket : view.buckets) {
    for (uint32_t k = 0; k < bucket.count; ++k) {
      const auto place = static_cast<uint32_t>(bucket.first_pattern + k);
      lengths[place] = static_cast<uint16_t>(bucket.length);
      uint32_t& at = by_rank[view.name_rank(place)];
      is_order = is_order && at == kNone;
      at = place;
    }
  }
  Run run;
  run.reserve(segment.live());
  for (uint32_t i = 0; i < segment.size(); ++i) {
    const uint32_t place = is_order ? by_rank[i] : i;
    if (segment.frequency(place) == 0) continue;
    run.push_back({segment.name(place).prefix(), place, source, lengths[place]});
  }
  const auto in_order = [this](const Row& a, const Row& b) { return before(a, b); };
  if (!std::is_sorted(run.begin(), run.end(), in_order)) sort(run);
  return run;
}

SortedRows::Run SortedRows::run_of(uint16_t source, const RecentTier& tier, uint32_t begin,
                                   uint32_t end) const {
  Run run;
  run.reserve(end - begin);
  for (uint32_t place = begin; place < end; ++place) {
    const RecentPattern& pattern = tier.at(place);
    if (pattern.frequency.load(std::memory_order_relaxed) == 0) continue;
    run.push_back(
        {pattern.name().prefix(), place, source, static_cast<uint16_t>(pattern.symbols.size())});
  }
  sort(run);
  return run;
}

std::vector<SortedRows::Run> SortedRows::make_runs(ThreadPool& pool) const {
  struct Part {
    uint16_t source;
    uint32_t begin;
    uint32_t end;
  };
  std::vector<Part> parts;
  const size_t stable = sources_->stable.size();
  for (size_t i = 0; i < stable; ++i) parts.push_back({static_cast<uint16_t>(i), 0, 0});
  for (size_t i = 0; i < sources_->recent.size(); ++i) {
    const uint32_t size = sources_->recent[i]->size();
    for (uint32_t begin = 0; begin < size; begin += kRecentRun) {
      parts.push_back(
          {static_cast<uint16_t>(stable + i), begin, std::min(size, begin + kRecentRun)});
    }
  }
  std::vector<Run> runs(parts.size());
  pool.parallel_for(parts.size(), [&](size_t i) {
    const Part& part = parts[i];
    runs[i] = part.source < stable ? run_of(part.source, *sources_->stable[part.source])
                                   : run_of(part.source, *sources_->recent[part.source - stable],
                                            part.begin, part.end);
  });
  return runs;
}

void SortedRows::merge(const std::vector<Run>& runs, ThreadPool& pool) {
  size_t count = 0;
  for (const Run& run : runs) count += run.size();
  rows_.resize(count);
  const std::vector<uint64_t> cuts = cuts_of(runs, count);
  // Where range r of a run ends. Equal prefixes are in one range.
  const auto end_of = [&](const Run& run, size_t r) {
    if (r == cuts.size()) return run.end();
    return std::lower_bound(run.begin(), run.end(), cuts[r],
                            [](const Row& row, uint64_t cut) { return row.prefix < cut; });
  };
  const auto in_order = [this](const Row& a, const Row& b) { return before(a, b); };
  pool.parallel_for(cuts.size() + 1, [&](size_t r) {
    std::vector<Row> now;
    std::vector<Row> merged;
    std::vector<size_t> ends = {0};  // of the runs in `now`
    size_t first = 0;                // rows before this range
    for (const Run& run : runs) {
      const auto begin = r == 0 ? run.begin() : end_of(run, r - 1);
      const auto end = end_of(run, r);
      first += static_cast<size_t>(begin - run.begin());
      if (begin == end) continue;
      now.insert(now.end(), begin, end);
      ends.push_back(now.size());
    }
    while (ends.size() > 2) {  // neighbours become one
      merged.resize(now.size());
      std::vector<size_t> next = {0};
      for (size_t k = 0; k + 1 < ends.size(); k += 2) {
        const auto at = [&](size_t end) {
          return now.begin() + static_cast<ptrdiff_t>(ends[std::min(end, ends.size() - 1)]);
        };
        std::merge(at(k), at(k + 1), at(k + 1), at(k + 2),
                   merged.begin() + static_cast<ptrdiff_t>(ends[k]), in_order);
        next.push_back(static_cast<size_t>(at(k + 2) - now.begin()));
      }
      now.swap(merged);
      ends.swap(next);
    }
    std::copy(now.begin(), now.end(), rows_.begin() + static_cast<ptrdiff_t>(first));
  });
}

Result<SortedRows> SortedRows::of(const StableSources& sources, ThreadPool& pool) {
  const size_t count = sources.stable.size() + sources.recent.size();
  if (count > std::numeric_limits<uint16_t>::max()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} sources of one segment: at most {}", count,
                            std::numeric_limits<uint16_t>::max()));
  }
  SortedRows sorted(sources);
  sorted.merge(sorted.make_runs(pool), pool);
  return sorted;
}

}  // namespace hoist::match
