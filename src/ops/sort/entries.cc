#include "ops/sort/entries.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <utility>

#include "base/log.h"

namespace hoist::sort {
namespace {

constexpr size_t kLargeRun = size_t{1} << 17;  // a run that all threads should share
constexpr size_t kShortRun = 8;
constexpr uint32_t kDeepStart = 14;    // bytes: two rounds of codes
constexpr size_t kWorthSampling = 64;  // lines
constexpr size_t kLeastKeyBlock = size_t{16} << 10;
constexpr size_t kPiece = size_t{1} << 14;  // entries a loop hands to a thread at a time
constexpr size_t kBuckets = 256;
constexpr size_t kSamplesPerBucket = 32;
constexpr size_t kFetchAhead = 24;  // entries between a prefetch and its use

// Calls body(begin, end) over [0, count) in pieces, on all threads of the pool where that pays.
template <typename Body>
void parallel_pieces(ThreadPool& pool, size_t count, const Body& body) {
  if (count < kWorthThreads) return body(0, count);
  pool.parallel_for((count + kPiece - 1) / kPiece, [&](size_t piece) {
    body(piece * kPiece, std::min(count, (piece + 1) * kPiece));
  });
}

}  // namespace

EntrySorter::EntrySorter(const Coder& coder, const char* text, char terminator, ThreadPool& pool,
                         CodeSorter* other)
    : coder_(coder),
      options_(coder.comparator().options()),
      text_(text),
      order_(coder.comparator(), text, terminator),
      pool_(pool),
      other_(other) {}

Status EntrySorter::sort(std::span<Entry> entries, std::span<Entry> scratch,
                         const std::function<Status()>& remake) {
  if (!sort_by_codes(entries, scratch)) {
    log(LogLevel::info, "sort: {} entries were lost: made anew", entries.size());
    if (Status made = remake(); !made) return made;
    other_ = nullptr;
    (void)sort_by_codes(entries, scratch);
  }
  if (coder_.guessed() && !proven(entries)) {
    for (Entry& entry : entries) entry.lo &= ~LineRef::kDropped;
    settle_parallel({entries, coder_.first_stage(), Next::compare}, scratch);
  }
  return {};
}

// False: the other has lost entries.
bool EntrySorter::sort_by_codes(std::span<Entry> entries, std::span<Entry> scratch) {
  sort_by_code_ = sort_function(entries.size());
  start_ = entries.data();
  settled_.reset(coder_.guessed() ? entries.size() : 0);
  // Keys of all threads together stay far below what the entries take.
  const size_t share = entries.size_bytes() / (8 * static_cast<size_t>(pool_.size()));
  key_block_bytes_ = std::clamp(share, kLeastKeyBlock, CollationSorter::kBlockBytes);
  const Run all{entries, coder_.first_stage()};
  const bool alone = entries.size() < kWorthThreads || pool_.size() == 1;
  if (alone && !wanted_by_other(entries.size())) {
    sort_by_code_(entries.data(), entries.size());
    refine(all, nullptr);
    return true;
  }
  return sort_parallel(all, scratch);
}

// Sorts a run whose entries carry the codes of run.stage. False: as above.
bool EntrySorter::sort_parallel(Run run, std::span<Entry> scratch) {
  auto are = is_ascending(run.entries) ? EntriesAre::sorted : EntriesAre::as_they_were;
  if (are != EntriesAre::sorted && wanted_by_other(run.entries.size())) {
    are = other_->sort(run.entries);
  }
  if (are == EntriesAre::lost) return false;
  const bool sorted = are == EntriesAre::sorted;
  std::vector<size_t> bounds;
  if (sorted) {
    bounds = cut_between_codes(run.entries);
  } else {
    deal(run.entries, scratch, bounds);
  }
  std::vector<std::vector<Run>> large(bounds.size() - 1);
  pool_.parallel_for(bounds.size() - 1, [&](size_t bucket) {
    const std::span<Entry> part =
        run.entries.subspan(bounds[bucket], bounds[bucket + 1] - bounds[bucket]);
    if (!sorted) {
      std::copy_n(scratch.begin() + static_cast<ptrdiff_t>(bounds[bucket]), part.size(),
                  part.begin());
      sort_by_code_(part.data(), part.size());
    }
    refine({part, run.stage}, &large[bucket]);
  });
  for (const std::vector<Run>& runs : large) {
    for (Run again : runs) {
      const auto offset = static_cast<size_t>(again.entries.data() - run.entries.data());
      const std::span<Entry> space = scratch.subspan(offset, again.entries.size());
      if (again.then != Next::stage) {
        settle_parallel(again, space);
        continue;
      }
      skip_common_text(again);
      parallel_pieces(pool_, again.entries.size(), [&](size_t begin, size_t end) {
        const Run piece{again.entries.subspan(begin, end - begin), again.stage};
        recode({&piece, 1});
      });
      if (!sort_parallel(again, space)) return false;
    }
  }
  return true;
}

// Whether the entries are in the order of their codes, as those of an input that has been sorted
// before are, and those of a run whose lines are all alike. Others are found out soon.
bool EntrySorter::is_ascending(std::span<const Entry> entries) const {
  std::atomic<bool> ascending{true};
  parallel_pieces(pool_, entries.size(), [&](size_t begin, size_t end) {
    if (!ascending.load(std::memory_order_relaxed)) return;
    const size_t first = std::max<size_t>(begin, 1);  // looks at the end of the piece before
    for (size_t i = first; i < end; ++i) {
      if (!below(entries[i], entries[i - 1])) continue;
      ascending.store(false, std::memory_order_relaxed);
      return;
    }
  });
  return ascending;
}

// Where parts of about kPiece entries begin and end; equal codes are in one part.
std::vector<size_t> EntrySorter::cut_between_codes(std::span<const Entry> sorted) {
  std::vector<size_t> bounds = {0};
  while (bounds.back() < sorted.size()) {
    size_t end = std::min(bounds.back() + kPiece, sorted.size());
    if (end < sorted.size() && sorted[end].hi == sorted[end - 1].hi) {
      const uint64_t code = sorted[end].hi;
      end = static_cast<size_t>(
          std::partition_point(sorted.begin() + static_cast<ptrdiff_t>(end), sorted.end(),
                               [=](const Entry& entry) { return entry.hi == code; }) -
          sorted.begin());
    }
    bounds.push_back(end);
  }
  return bounds;
}

// Copies the entries into `scratch`, bucket after bucket; bounds[b] is where bucket b starts. Equal
// codes meet in one bucket, so that refining never looks across buckets.
void EntrySorter::deal(std::span<Entry> entries, std::span<Entry> scratch,
                       std::vector<size_t>& bounds) const {
  std::minstd_rand random(static_cast<unsigned>(entries.size()));
  std::vector<uint64_t> samples(kBuckets * kSamplesPerBucket);
  for (uint64_t& sample : samples) {
    sample = entries[(uint64_t{random()} << 31 | random()) % entries.size()].hi;
  }
  std::sort(samples.begin(), samples.end());
  // Bucket b holds codes in (splitters[b - 1], splitters[b]]; equal splitters leave buckets empty.
  std::array<uint64_t, kBuckets - 1> splitters;
  for (size_t b = 1; b < kBuckets; ++b) splitters[b - 1] = samples[b * kSamplesPerBucket];
  const auto bucket_of = [&](uint64_t code) {
    // The number of splitters below `code`, by bisection without a branch to mispredict.
    size_t bucket = 0;
    for (size_t step = kBuckets / 2; step > 0; step /= 2) {
      bucket += splitters[bucket + step - 1] < code ? step : 0;
    }
    return bucket;
  };

  const size_t stripes = static_cast<size_t>(pool_.size()) * 4;
  const size_t stripe = (entries.size() + stripes - 1) / stripes;
  std::vector<std::array<size_t, kBuckets>> at(stripes);
  const auto stripe_of = [&](size_t s) {
    const size_t begin = std::min(s * stripe, entries.size());
    return entries.subspan(begin, std::min(stripe, entries.size() - begin));
  };
  pool_.parallel_for(stripes, [&](size_t s) {
    for (const Entry& entry : stripe_of(s)) ++at[s][bucket_of(entry.hi)];
  });
  bounds.assign(1, 0);
  size_t position = 0;
  for (size_t b = 0; b < kBuckets; ++b) {
    for (size_t s = 0; s < stripes; ++s) position += std::exchange(at[s][b], position);
    bounds.push_back(position);
  }
  pool_.parallel_for(stripes, [&](size_t s) {
    for (const Entry& entry : stripe_of(s)) scratch[at[s][bucket_of(entry.hi)]++] = entry;
  });
}

// Resolves equal codes in entries that are sorted by the codes of run.stage. Runs that all threads
// should share go to `large` where that is given.
void EntrySorter::refine(Run run, std::vector<Run>* large) {
  std::vector<Run> runs;
  std::vector<Run> next;
  find_runs(run, runs, large);
  while (!runs.empty()) {
    for (Run& tied : runs) skip_common_text(tied);
    recode(runs);
    next.clear();
    for (const Run& tied : runs) {
      sort_by_code_(tied.entries.data(), tied.entries.size());
      find_runs(tied, next, large);
    }
    std::swap(runs, next);
  }
}

void EntrySorter::find_runs(const Run& run, std::vector<Run>& next, std::vector<Run>* large) {
  const std::span<Entry> entries = run.entries;
  for (size_t begin = 0, end; begin < entries.size(); begin = end) {
    end = begin + 1;
    while (end < entries.size() && entries[end].hi == entries[begin].hi) ++end;
    if (end - begin == 1) continue;
    Run tied{entries.subspan(begin, end - begin), run.stage};
    tied.then = coder_.next(entries[begin].hi, tied.stage);
    // A few lines that share a long start are told apart sooner by comparing them.
    const bool short_and_deep = tied.entries.size() < kShortRun && tied.stage.depth >= kDeepStart;
    if (tied.then == Next::stage && short_and_deep) tied.then = Next::compare;
    if (tied.then != Next::done && are_bare_numbers(tied.entries, run.stage)) {
      tied.then = Next::done;
      settled_.mark(static_cast<size_t>(tied.entries.data() - start_), tied.entries.size());
    }
    const bool undecided = tied.then == Next::compare || tied.then == Next::collate;
    if (undecided && identical(tied)) tied.then = coder_.next_if_identical(tied.stage);
    if (tied.then == Next::done) {
      if (!options_.unique) continue;
      for (Entry& entry : tied.entries.subspan(1)) entry.lo |= LineRef::kDropped;
    } else if (large != nullptr && tied.entries.size() >= kLargeRun) {
      large->push_back(tied);
    } else if (tied.then == Next::stage) {
      next.push_back(tied);
    } else {
      order_run(tied);
      settle(tied.entries);
    }
  }
}

// Whether entries with the same code at `stage` are of lines that are the same bytes, which is seen
// without them: lines lie anywhere in memory.
bool EntrySorter::are_bare_numbers(std::span<const Entry> entries, Stage stage) const {
  const uint64_t length = coder_.length_of_bare_number(entries[0].hi, stage);
  return length != 0 && std::ranges::all_of(entries, [=](const Entry& entry) {
           return LineRef::length(entry.lo) == length;
         });
}

// Whether all lines of the run look the same to the run's stage, byte for byte.
bool EntrySorter::identical(const Run& run) const {
  const Line first = coder_.stage_text(line(run.entries[0]), run.stage);
  for (size_t i = 1; i < run.entries.size(); ++i) {
    if (i + kFetchAhead < run.entries.size()) {
      __builtin_prefetch(text_ + LineRef::offset(run.entries[i + kFetchAhead].lo));
    }
    const Line other = coder_.stage_text(line(run.entries[i]), run.stage);
    if (other.length != first.length || std::memcmp(first.text, other.text, first.length) != 0) {
      return false;
    }
  }
  return true;
}

// Gives the entries of all runs the codes of their runs' stages. The lines lie anywhere in memory:
// a second cursor runs ahead and asks for them.
void EntrySorter::recode(std::span<const Run> runs) const {
  size_t ahead_run = 0;
  size_t ahead_entry = 0;
  const auto fetch_next = [&] {
    if (ahead_run == runs.size()) return;
    const Run& run = runs[ahead_run];
    const char* const start = text_ + LineRef::offset(run.entries[ahead_entry].lo);
    __builtin_prefetch(start);
    __builtin_prefetch(start + run.stage.depth + sizeof(uint64_t));
    if (++ahead_entry == run.entries.size()) {
      ahead_entry = 0;
      ++ahead_run;
    }
  };
  for (size_t i = 0; i < kFetchAhead; ++i) fetch_next();
  for (const Run& run : runs) {
    for (Entry& entry : run.entries) {
      fetch_next();
      entry.hi = coder_.code(line(entry), run.stage);
    }
  }
}

// Moves a text stage over what all lines of the run have in common, so that long common prefixes
// (dates, paths) do not take a round of sorting for every few bytes.
void EntrySorter::skip_common_text(Run& run) const {
  constexpr size_t kWorthIt = 8;
  if (run.entries.size() < kShortRun || !coder_.is_plain_text(run.stage)) return;
  const Line first = coder_.stage_text(line(run.entries[0]), run.stage);
  size_t common = first.length;
  for (size_t i = 1; i < run.entries.size(); ++i) {
    if (i + kFetchAhead < run.entries.size()) {
      __builtin_prefetch(text_ + LineRef::offset(run.entries[i + kFetchAhead].lo) +
                         run.stage.depth);
    }
    const Line other = coder_.stage_text(line(run.entries[i]), run.stage);
    const size_t limit = std::min(common, other.length);
    common = static_cast<size_t>(std::mismatch(first.text, first.text + limit, other.text).first -
                                 first.text);
    if (common < kWorthIt) return;
  }
  run.stage.depth += static_cast<uint32_t>(std::min<size_t>(common, UINT32_MAX / 2));
}

// Whether comparing lines of a collated text, of which the codes have told a part that is the same
// in all, is quick because most of that part is the same byte for byte.
bool EntrySorter::begins_alike(const Run& run) const {
  constexpr size_t kSamples = 16;
  const ElementEnds& ends = coder_.comparator().locale().element_ends;
  const auto text = [&](size_t i) { return coder_.stage_text(line(run.entries[i]), run.stage); };
  size_t alike = 0;
  for (size_t sample = 0; sample < kSamples; ++sample) {
    const size_t i = sample * (run.entries.size() - 1) / kSamples;
    alike += ends.common(text(i), text(i + 1)) >= run.stage.depth / 2 ? 1 : 0;
  }
  return alike >= kSamples / 2;
}

// Sorts a run that further codes would not.
void EntrySorter::order_run(const Run& run) const {
  const bool long_texts = run.then == Next::compare && run.stage.depth > 0 &&
                          run.entries.size() >= kWorthSampling && coder_.is_collated(run.stage);
  if (run.then == Next::collate || (long_texts && !begins_alike(run))) {
    CollationSorter(coder_, order_, key_block_bytes_).sort(run.entries, run.stage);
  } else {
    std::stable_sort(run.entries.begin(), run.entries.end(), order_);
  }
}

// The entries were sorted by comparison.
void EntrySorter::settle(std::span<Entry> entries) {
  drop_equal(entries);
  settled_.mark(static_cast<size_t>(entries.data() - start_), entries.size());
}

// Sorts and settles a run on all threads.
void EntrySorter::settle_parallel(const Run& run, std::span<Entry> scratch) {
  const std::span<Entry> entries = run.entries;
  size_t pieces = 1;
  while (pieces < static_cast<size_t>(pool_.size()) && entries.size() / pieces > kWorthThreads) {
    pieces *= 2;
  }
  const auto bound = [&](size_t piece) { return entries.size() * piece / pieces; };
  pool_.parallel_for(pieces, [&](size_t p) {
    order_run({entries.subspan(bound(p), bound(p + 1) - bound(p)), run.stage, run.then});
  });
  std::span<Entry> from = entries;
  std::span<Entry> to = scratch;
  for (size_t width = 1; width < pieces; width *= 2) {
    pool_.parallel_for(pieces / (2 * width), [&](size_t pair) {
      const size_t begin = bound(2 * width * pair);
      const size_t middle = bound(2 * width * pair + width);
      const size_t end = bound(2 * width * (pair + 1));
      std::merge(from.begin() + static_cast<ptrdiff_t>(begin),
                 from.begin() + static_cast<ptrdiff_t>(middle),
                 from.begin() + static_cast<ptrdiff_t>(middle),
                 from.begin() + static_cast<ptrdiff_t>(end),
                 to.begin() + static_cast<ptrdiff_t>(begin), order_);
    });
    std::swap(from, to);
  }
  if (from.data() != entries.data()) std::copy(from.begin(), from.end(), entries.begin());
  settle(entries);
}

// With -u: keeps the first of equal lines in entries that were sorted by comparison.
void EntrySorter::drop_equal(std::span<Entry> entries) const {
  if (!options_.unique || entries.empty()) return;
  Line kept = line(entries[0]);
  for (Entry& entry : entries.subspan(1)) {
    const Line next = line(entry);
    if (coder_.comparator().compare(kept, next) == 0) {
      entry.lo |= LineRef::kDropped;
    } else {
      kept = next;
    }
  }
}

// Whether every line compares after its predecessor as the order of the entries says. Comparing
// neighbours is enough: the comparison is transitive. What is settled has been compared already.
bool EntrySorter::proven(std::span<const Entry> entries) {
  std::atomic<bool> good{true};
  parallel_pieces(pool_, entries.size(), [&](size_t begin, size_t end) {
    for (size_t i = std::max<size_t>(begin, 1); i < end && good; ++i) {
      if (i + kFetchAhead < entries.size()) {
        __builtin_prefetch(text_ + LineRef::offset(entries[i + kFetchAhead].lo));
      }
      if (settled_[i]) continue;
      const Entry& before = entries[i - 1];
      const Entry& after = entries[i];
      const int order = coder_.comparator().compare(line(before), line(after));
      const bool ascending = order < 0 || (order == 0 && !options_.unique && before.lo < after.lo);
      if (LineRef::dropped(after.lo) ? order != 0 : !ascending) {
        good.store(false, std::memory_order_relaxed);
      }
    }
  });
  return good;
}

}  // namespace hoist::sort
