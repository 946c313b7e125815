// Merging: one segment in the place of recent tiers or of several segments.
//
// While a segment is being built, patterns in what it is built from may be learned again or
// removed. The writer notes which (`touched`), and before the new segment takes their place it is
// given what was noted. One merge of recent tiers and one of segments may be under way at a time:
// they share no tier.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <new>

#include "base/log.h"
#include "match/index/index_state.h"

namespace hoist::match {
namespace {

// So many segments of like size become one, which is of the next size: the number of segments
// stays logarithmic, and so does how often each pattern is copied.
constexpr int kSizeRatioLog2 = 2;
constexpr size_t kSegmentsOfLikeSize = 4;
// No more at once than this, however many a file has.
constexpr size_t kMostAtOnce = 64;
// Segments of which more than a quarter was removed are made again.
constexpr uint32_t kRemovedShare = 4;
// So many may be brought over while nobody can learn.
constexpr size_t kFewTouched = 16;
constexpr int kRounds = 8;
// Fewer patterns are laid out sooner than other threads are there.
constexpr uint32_t kManyPatterns = 1 << 16;

int size_class(uint32_t live) { return std::bit_width(live) / kSizeRatioLog2; }

using Segments = std::vector<std::shared_ptr<StableSegment>>;

// The segments to be merged next; none where all is well.
Segments due(const Segments& segments) {
  for (const auto& segment : segments) {
    if (segment->size() - segment->live() > segment->size() / kRemovedShare) return {segment};
  }
  for (int wanted = 0; wanted <= size_class(UINT32_MAX); ++wanted) {
    Segments alike;
    for (const auto& segment : segments) {
      if (size_class(segment->live()) == wanted) alike.push_back(segment);
    }
    if (alike.size() > kMostAtOnce) alike.resize(kMostAtOnce);
    if (alike.size() >= kSegmentsOfLikeSize) return alike;
  }
  return {};
}

// What befell a pattern while it was being merged. One that was removed may have been left out.
void bring_over(const Place& place, StableSegment& built) {
  const auto at = built.find_any(place.name(), place.length());
  if (!at) return;
  built.set_frequency(*at, place.frequency());
  if (auto emotives = place.emotives()) built.set_emotives(*at, std::move(emotives));
}

template <typename T>
bool part_of(const std::vector<std::shared_ptr<T>>& tiers, const T* tier) {
  return std::any_of(tiers.begin(), tiers.end(), [&](const auto& t) { return t.get() == tier; });
}

}  // namespace

bool Index::State::Merge::has(const Place& place) const {
  return place.stable != nullptr ? part_of(stable, place.stable) : part_of(recent, place.recent);
}

void Index::State::note_touched(const Place& place) {
  for (Merge* const merge : merges) {
    if (merge->has(place)) merge->touched.push_back(place);
  }
}

// `writing` is held.
void Index::State::begin(Merge& merge) {
  merge.number = next_segment++;
  merge.symbols = vocabulary->size();
  merges.push_back(&merge);
}

void Index::State::end(const Merge& merge) {
  merges.erase(std::find(merges.begin(), merges.end(), &merge));
}

// Puts one segment in the place of what is merged. Without live patterns there is none.
Status Index::State::replace(Merge& merge) {
  const StableSources sources{{merge.stable.begin(), merge.stable.end()},
                              {merge.recent.begin(), merge.recent.end()}};
  uint64_t patterns_in = 0;
  for (const auto& segment : merge.stable) patterns_in += segment->size();
  for (const auto& recent : merge.recent) patterns_in += recent->size();
  ThreadPool alone(1);
  const auto build = [&]() -> Result<std::shared_ptr<StableSegment>> {
    try {
      return build_stable(merge.number, sources, merge.symbols,
                          patterns_in < kManyPatterns ? alone : merge_pool);
    } catch (const std::bad_alloc&) {
      return fail(ErrorCode::exhausted,
                  fmt::format("no memory to lay out {} patterns", patterns_in));
    }
  };
  auto built = build();
  if (built) hold_on_gpu(*built);
  std::unique_lock lock(writing);
  const auto bring_all_over = [&] {
    // Learning goes on while most of it is brought over; what is touched meanwhile is noted again.
    for (int round = 0; round < kRounds && merge.touched.size() > kFewTouched; ++round) {
      std::vector<Place> touched;
      touched.swap(merge.touched);
      lock.unlock();
      for (const Place& place : touched) bring_over(place, **built);
      lock.lock();
    }
    for (const Place& place : merge.touched) bring_over(place, **built);
  };
  try {
    if (built) bring_all_over();
  } catch (...) {  // no memory
    if (!lock.owns_lock()) lock.lock();
    end(merge);
    throw;
  }
  end(merge);
  if (!built) return built.error();
  Tiers next;
  const auto now = tiers.get();
  const auto keep = [](const auto& all, const auto& merged, auto& kept) {
    for (const auto& tier : all) {
      if (std::find(merged.begin(), merged.end(), tier) == merged.end()) kept.push_back(tier);
    }
  };
  keep(now->stable, merge.stable, next.stable);
  keep(now->recent, merge.recent, next.recent);
  if ((*built)->live() != 0) next.stable.push_back(std::move(*built));
  uint64_t sum = 0;
  for (const auto& segment : next.stable) sum += segment->memory();
  stable_memory = sum;
  tiers.set(std::move(next));
  return {};
}

// Merges segments until none is due; how many merges that took.
Result<uint32_t> Index::State::merge_where_due() {
  for (uint32_t done = 0;; ++done) {
    Merge merge;
    {
      const std::lock_guard lock(writing);
      merge.stable = due(tiers.get()->stable);
      if (merge.stable.empty()) return done;
      begin(merge);
    }
    if (Status replaced = replace(merge); !replaced) return replaced.error();
  }
}

void Index::State::run_merges() {
  std::unique_lock lock(waking);
  for (;;) {
    wake.wait(lock, [this] { return stop_merging || merge_wanted; });
    if (!merge_wanted) return;
    merge_wanted = false;
    merge_running = true;
    lock.unlock();
    const Result<uint32_t> done = merge_where_due();
    if (!done) log(LogLevel::warn, "{}: segments stay as they are", done.error().message);
    lock.lock();
    merge_running = false;
    if (done && *done != 0) merged_unsaved = true;
    wake.notify_all();
  }
}

void Index::State::want_merges() {
  const std::lock_guard lock(waking);
  merge_wanted = true;
  wake.notify_all();
}

void Index::State::await_merges() {
  std::unique_lock lock(waking);
  wake.wait(lock, [this] { return !merge_wanted && !merge_running; });
}

}  // namespace hoist::match
