#include "match/scan/search.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <mutex>

#include "match/scan/segment_query.h"

namespace hoist::match {
namespace {

// A task's symbols stay in a core's second-level cache while all queries look at them.
constexpr uint64_t kTaskSymbols = 1 << 16;

// Tiles, or singles, of one bucket.
struct Task {
  const LengthBucket* bucket;
  uint32_t begin;
  uint32_t end;
  bool singles;
};

std::vector<Task> tasks_of(const SegmentView& segment) {
  std::vector<Task> tasks;
  const auto split = [&](const LengthBucket& bucket, uint32_t begin, uint32_t end, uint64_t symbols,
                         bool singles) {
    const auto step =
        static_cast<uint32_t>(std::max<uint64_t>(1, kTaskSymbols / std::max<uint64_t>(1, symbols)));
    for (; begin < end; begin += step) {
      tasks.push_back({&bucket, begin, std::min(end, begin + step), singles});
    }
  };
  for (const LengthBucket& bucket : segment.buckets) {
    split(bucket, 0, bucket.tiles(), uint64_t{bucket.length} * kTileWidth, false);
    split(bucket, bucket.tiled(), bucket.count, bucket.length, true);
  }
  return tasks;
}

// What one query has found so far.
class Findings {
 public:
  Findings(const SegmentView& segment, const SearchOptions& options)
      : segment_(segment),
        options_(options),
        most_(2 * std::min<size_t>(options.top, segment.pattern_count()) + 1024),
        bound_(options.threshold) {}

  // The score that a pattern must reach to be of interest still.
  double bound() const { return bound_.load(std::memory_order_relaxed); }

  // Matches of one task, in order of their index.
  void add(const std::vector<Match>& matches) {
    if (matches.empty()) return;
    if (options_.top == 0) {
      std::vector<Match> piece(matches);
      const std::lock_guard lock(mutex_);
      pieces_.push_back(std::move(piece));
      return;
    }
    const std::lock_guard lock(mutex_);
    matches_.insert(matches_.end(), matches.begin(), matches.end());
    if (matches_.size() >= most_) cut();
  }

  std::vector<Match> take() {
    if (options_.top != 0) {
      cut();
      std::sort(matches_.begin(), matches_.end(), better());
      return std::move(matches_);
    }
    std::sort(pieces_.begin(), pieces_.end(),
              [](const auto& x, const auto& y) { return x.front().pattern < y.front().pattern; });
    size_t size = 0;
    for (const auto& piece : pieces_) size += piece.size();
    matches_.reserve(size);
    for (auto& piece : pieces_) {
      matches_.insert(matches_.end(), piece.begin(), piece.end());
      piece = {};
    }
    return std::move(matches_);
  }

 private:
  std::function<bool(const Match&, const Match&)> better() const {
    return [this](const Match& x, const Match& y) {
      if (x.normalized != y.normalized) return x.normalized > y.normalized;
      return segment_.name_rank(x.pattern) < segment_.name_rank(y.pattern);
    };
  }

  void cut() {
    if (matches_.size() <= options_.top) return;
    const auto last = matches_.begin() + static_cast<long>(options_.top) - 1;
    std::nth_element(matches_.begin(), last, matches_.end(), better());
    bound_.store(last->normalized, std::memory_order_relaxed);
    matches_.resize(options_.top);
  }

  const SegmentView& segment_;
  const SearchOptions& options_;
  const size_t most_;  // matches that are kept until the worst of them are dropped
  std::mutex mutex_;
  std::vector<std::vector<Match>> pieces_;  // where all are wanted
  std::vector<Match> matches_;              // where the best are
  std::atomic<double> bound_;
};

class Search {
 public:
  Search(const SegmentView& segment, std::span<const std::span<const uint32_t>> queries,
         const SearchOptions& options)
      : segment_(segment),
        options_(options),
        kernels_(options.kernels != nullptr ? *options.kernels : tile_kernels()) {
    queries_.reserve(queries.size());
    for (const auto& query : queries) {
      queries_.emplace_back(segment, query);
      if (!needs_only_lcs(options.scorer)) scorers_.emplace_back(options.scorer, query);
      findings_.push_back(std::make_unique<Findings>(segment, options));
    }
  }

  Result<std::vector<std::vector<Match>>> run(ThreadPool& pool) {
    const std::vector<Task> tasks = tasks_of(segment_);
    pool.parallel_for(tasks.size(), [&](size_t i) { run_task(tasks[i]); });
    if (is_cancelled()) return fail(ErrorCode::cancelled, "search: cancelled");
    if (stop_ == Stop::too_many) {
      return fail(ErrorCode::exhausted,
                  fmt::format("search: more than {} matches: raise the threshold, ask for the top "
                              "ones, or for fewer states at once",
                              options_.max_matches));
    }
    if (stop_ == Stop::corrupt) {
      return fail(ErrorCode::corrupt, "search: a pattern with a symbol beyond the dictionary");
    }
    std::vector<std::vector<Match>> results;
    results.reserve(findings_.size());
    for (const auto& findings : findings_) results.push_back(findings->take());
    return results;
  }

 private:
  enum class Stop : uint8_t { no, too_many, corrupt };

  bool is_cancelled() const { return options_.stop.stop_requested(); }

  void run_task(const Task& task) {
    thread_local std::vector<Match> found;
    thread_local std::vector<double>
        scores;  // by LCS, of patterns of this length; filled on demand
    for (size_t q = 0; q < queries_.size(); ++q) {
      if (is_cancelled() || stop_.load(std::memory_order_relaxed) != Stop::no) return;
      found.clear();
      Findings& findings = *findings_[q];
      const double bound = findings.bound();
      const auto least =
          least_lcs(options_.scorer, task.bucket->length, queries_[q].length(), bound);
      if (!least) continue;
      const Judge judge = {task, q, bound, scores, found};
      scores.assign(std::min(task.bucket->length, queries_[q].length()) + 1, kUnknown);
      if (task.singles) {
        scan_singles(judge, *least);
      } else {
        scan_tiles(judge, *least);
      }
      if (options_.top == 0 &&
          matches_.fetch_add(found.size()) + found.size() > options_.max_matches) {
        stop_ = Stop::too_many;
        return;
      }
      findings.add(found);
    }
  }

  // One query's pass over one task.
  struct Judge {
    const Task& task;
    size_t query;
    double bound;
    std::vector<double>& scores;
    std::vector<Match>& found;
  };
  static constexpr double kUnknown = -1.0;

  void scan_tiles(const Judge& judge, uint32_t least) {
    alignas(64) uint16_t lcs[kTileWidth];
    for (uint32_t tile = judge.task.begin; tile < judge.task.end && !is_cancelled(); ++tile) {
      uint32_t lanes = queries_[judge.query].scan_tile(segment_, *judge.task.bucket, tile, least,
                                                       kernels_, lcs, options_.stop);
      for (; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
        take(judge, tile * kTileWidth + lane, lcs[lane]);
      }
    }
  }

  void scan_singles(const Judge& judge, uint32_t least) {
    const uint32_t end = judge.task.end;
    for (uint32_t position = judge.task.begin; position < end && !is_cancelled(); ++position) {
      const uint32_t lcs =
          queries_[judge.query].lcs_of(segment_, *judge.task.bucket, position, options_.stop);
      if (lcs >= least) take(judge, position, lcs);
    }
  }

  // A pattern whose LCS is enough: kept if its score is.
  void take(const Judge& judge, uint32_t position, uint32_t lcs) {
    const auto pattern = static_cast<uint32_t>(judge.task.bucket->first_pattern + position);
    const uint32_t n = judge.task.bucket->length;
    const uint32_t m = queries_[judge.query].length();
    if (needs_only_lcs(options_.scorer)) {
      double& score = judge.scores[lcs];
      if (score == kUnknown) score = score_of(options_.scorer, lcs, n, m).normalized;
      judge.found.push_back({pattern, lcs, score});
      return;
    }
    const std::optional<uint64_t> raw = exact_raw(judge.query, pattern);
    if (!raw || !reaches(options_.scorer, *raw, n, m, judge.bound)) return;
    judge.found.push_back(
        {pattern, static_cast<uint32_t>(*raw), score_of(options_.scorer, *raw, n, m).normalized});
  }

  std::optional<uint64_t> exact_raw(size_t query, uint32_t pattern) {
    thread_local std::vector<uint32_t> symbols;
    thread_local QueryScorer::Scratch scratch;
    if (!read_pattern(segment_, pattern, symbols)) {
      stop_ = Stop::corrupt;
      return {};
    }
    return scorers_[query].raw(symbols, scratch, options_.stop);
  }

  const SegmentView& segment_;
  const SearchOptions& options_;
  const TileKernels& kernels_;
  std::vector<SegmentQuery> queries_;
  std::vector<QueryScorer> scorers_;  // by query, for scorers that need more than the LCS
  std::vector<std::unique_ptr<Findings>> findings_;
  std::atomic<size_t> matches_{0};
  std::atomic<Stop> stop_{Stop::no};
};

template <typename T>
void find_first(const SegmentView& segment, std::span<const T> symbols, uint32_t id,
                std::vector<uint32_t>& found) {
  for (const LengthBucket& bucket : segment.buckets) {
    if (bucket.length == 0) continue;
    for (uint32_t position = 0; position < bucket.count; ++position) {
      if (symbols[bucket.pattern_at(position)] == id) {
        found.push_back(static_cast<uint32_t>(bucket.first_pattern + position));
      }
    }
  }
}

}  // namespace

Result<std::vector<std::vector<Match>>> search(const SegmentView& segment,
                                               std::span<const std::span<const uint32_t>> queries,
                                               const SearchOptions& options, ThreadPool& pool) {
  for (const auto& query : queries) {
    if (query.size() > kMaxPatternLength) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("search: a state of {} symbols: at most {}", query.size(),
                              kMaxPatternLength));
    }
  }
  return Search(segment, queries, options).run(pool);
}

std::vector<uint32_t> patterns_that_begin_with(const SegmentView& segment, uint32_t symbol) {
  std::vector<uint32_t> found;
  const uint32_t id = dense_ids(segment, {&symbol, 1}).front();
  if (id == kAbsentId) return found;
  if (segment.symbols32.empty()) {
    find_first(segment, segment.symbols16, id, found);
  } else {
    find_first(segment, segment.symbols32, id, found);
  }
  return found;
}

}  // namespace hoist::match
