#include "match/index/tier_search.h"

#include <algorithm>

#include "base/chunks.h"
#include "match/index/record_view.h"
#include "match/scan/search.h"

namespace hoist::match {
namespace {

constexpr uint32_t kRecentPerTask = 1 << 10;
constexpr size_t kMatchesPerTask = 1 << 12;

}  // namespace

Place place_of(const Tiers& tiers, const IndexHit& hit) {
  if (hit.tier < tiers.stable.size()) return {tiers.stable[hit.tier].get(), nullptr, hit.place};
  return {nullptr, tiers.recent[hit.tier - tiers.stable.size()].get(), hit.place};
}

// Large segments one after the other, each on all threads; then all that is small together, so that
// many small tiers cost little more than one.
Status TierSearch::run() {
  std::vector<Part> parts;
  const auto stable = static_cast<uint32_t>(tiers_.stable.size());
  for (uint32_t i = 0; i < stable; ++i) {
    if (tiers_.stable[i]->size() < kLargeSegment) {
      parts.push_back({i, 0, tiers_.stable[i]->size()});
    } else if (Status done = search_stable(i); !done) {
      return done;
    }
  }
  for (uint32_t i = 0; i < tiers_.recent.size(); ++i) {
    const uint32_t count = view_.recent_sizes[i];
    for (uint32_t begin = 0; begin < count; begin += kRecentPerTask) {
      parts.push_back({stable + i, begin, std::min(count, begin + kRecentPerTask)});
    }
  }
  return search_parts(parts);
}

void TierSearch::take(size_t state, uint32_t tier, std::vector<Match> matches) {
  if (matches.empty()) return;
  const std::lock_guard lock(mutex_);
  lists_[state].push_back({tier, std::move(matches)});
}

template <typename Body>
size_t TierSearch::for_each_list(size_t state, const Body& body) const {
  size_t size = 0;
  for (const List& list : lists_[state]) {
    body(list, size);
    size += list.matches.size();
  }
  return size;
}

UninitializedArray<Candidate> TierSearch::candidates(size_t state) const {
  UninitializedArray<Candidate> candidates(for_each_list(state, [](const List&, size_t) {}));
  for_each_list(state, [&](const List& list, size_t first) {
    parallel_for_chunks(
        ThreadPool::process(), list.matches.size(), kMatchesPerTask, [&](size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i) {
            const Match& match = list.matches[i];
            candidates[first + i] = {RecordView::candidate(list.tier, match.pattern), match.raw};
          }
        });
  });
  return candidates;
}

std::vector<TierSearch::Found> TierSearch::score(size_t state) const {
  std::vector<Found> all(for_each_list(state, [](const List&, size_t) {}));
  for_each_list(state, [&](const List& list, size_t first) {
    parallel_for_chunks(
        ThreadPool::process(), list.matches.size(), kMatchesPerTask, [&](size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i) {
            const Match& match = list.matches[i];
            Found& found = all[first + i];
            found.hit = {0, 0, 0, list.tier, match.pattern};
            const Place place = place_of(tiers_, found.hit);
            const Score score =
                score_of(options_.scorer, match.raw, place.length(), states_[state].size());
            found.hit.score = score.value;
            found.hit.normalized = score.normalized;
            found.hit.id = place.serial();
            found.raw = match.raw;
            found.prefix = place.name().prefix();
          }
        });
  });
  return all;
}

Status TierSearch::search_stable(uint32_t tier) {
  const StableSegment& segment = *tiers_.stable[tier];
  SearchOptions options;
  options.scorer = options_.scorer;
  options.threshold = options_.threshold;
  options.stop = options_.stop;
  // The scan meets removed patterns too, and none may take the place of a live one.
  if (options_.top != 0) {
    options.top = std::min<size_t>(options_.top, segment.size()) + segment.size() - segment.live();
  }
  const bool is_large = segment.size() >= kLargeSegment;
  std::vector<std::vector<Match>> live;
  for (bool is_enough = false; !is_enough;) {
    auto matches =
        is_large ? segment_search_.search(tiers_.stable[tier], segment.view(), states_, options)
                 : search(segment.view(), states_, options);
    if (!matches) return matches.error();
    // Those that are being removed meanwhile may be more than were counted.
    live = std::move(*matches);
    is_enough = true;
    for (std::vector<Match>& found : live) {
      const bool has_all =
          options.top == 0 || options.top >= segment.size() || found.size() < options.top;
      if (segment.live() != segment.size()) {
        std::erase_if(found, [&](const Match& m) { return segment.frequency(m.pattern) == 0; });
      }
      is_enough = is_enough && (has_all || found.size() >= options_.top);
    }
    options.top *= 2;
  }
  for (size_t state = 0; state < states_.size(); ++state) {
    take(state, tier, std::move(live[state]));
  }
  return {};
}

Status TierSearch::search_parts(const std::vector<Part>& parts) {
  std::vector<QueryScorer> scorers;
  if (!parts.empty() && parts.back().tier >= tiers_.stable.size()) {
    for (const auto& state : states_) scorers.emplace_back(options_.scorer, state);
  }
  std::mutex mutex;
  Status status;
  ThreadPool::process().parallel_for(parts.size(), [&](size_t i) {
    const Part& part = parts[i];
    Status done;
    if (part.tier < tiers_.stable.size()) {
      done = search_stable(part.tier);
    } else {
      done = search_recent(scorers, part);
    }
    if (done) return;
    const std::lock_guard lock(mutex);
    if (status) status = std::move(done);
  });
  return status;
}

Status TierSearch::search_recent(const std::vector<QueryScorer>& scorers, const Part& part) {
  for (size_t state = 0; state < states_.size(); ++state) {
    if (!search_part(scorers[state], part, state)) {
      return fail(ErrorCode::cancelled, "the search was cancelled");
    }
  }
  return {};
}

// False where it was cancelled.
bool TierSearch::search_part(const QueryScorer& scorer, const Part& part, size_t state) {
  const RecentTier& recent = *tiers_.recent[part.tier - tiers_.stable.size()];
  std::vector<Match> matches;
  QueryScorer::Scratch scratch;
  const std::stop_token& stop = options_.stop;
  for (uint32_t place = part.begin; place < part.end; ++place) {
    if (place % 256 == 0 && stop.stop_requested()) return false;
    const RecentPattern& pattern = recent.at(place);
    if (pattern.frequency.load(std::memory_order_relaxed) == 0) continue;
    const auto raw = scorer.raw(pattern.symbols, scratch, stop);
    if (!raw) return false;
    if (reaches(options_.scorer, *raw, pattern.symbols.size(), states_[state].size(),
                options_.threshold)) {
      matches.push_back({place, static_cast<uint32_t>(*raw), 0});  // scored when they are ranked
    }
  }
  take(state, part.tier, std::move(matches));
  return true;
}

Status TierSearch::rank() {
  for (size_t state = 0; state < found_.size(); ++state) {
    if (options_.stop.stop_requested()) {
      return fail(ErrorCode::cancelled, "the search was cancelled");
    }
    found_[state] = score(state);
    lists_[state] = {};
    rank(found_[state]);
  }
  return {};
}

void TierSearch::rank(std::vector<Found>& all) const {
  const auto before = [this](const Found& a, const Found& b) {
    if (a.hit.normalized != b.hit.normalized) return a.hit.normalized > b.hit.normalized;
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    return compare(place_of(tiers_, a.hit).name(), place_of(tiers_, b.hit).name()) < 0;
  };
  if (options_.top != 0 && all.size() > options_.top) {
    std::nth_element(all.begin(), all.begin() + static_cast<ptrdiff_t>(options_.top), all.end(),
                     before);
    all.resize(options_.top);
  }
  std::sort(all.begin(), all.end(), before);
}

}  // namespace hoist::match
