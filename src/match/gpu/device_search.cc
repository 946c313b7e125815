#include "match/gpu/device_search.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/chunks.h"
#include "match/gpu/sequence_scan.h"
#include "match/scan/query_scorer.h"
#include "match/scan/segment_query.h"

namespace hoist::match {
namespace {

// Limits of one batch: the memory that is sent stays below the 64 MiB of a pinned block.
constexpr uint64_t kMostStrips = 4096;
constexpr uint64_t kMostLimits = 1 << 20;
// Up to so many matches a state are fetched and sorted rather than looked for again.
constexpr uint64_t kFetchedForBest = 4096;
// Above what rounding makes of a score, far below a step between two bins.
constexpr double kRounding = 1e-9;
constexpr size_t kPatternsPerTask = 256;

}  // namespace

// Goes back to its device for the next search.
struct DeviceSearch::Loan {
  const SegmentPart* part;
  std::unique_ptr<ScanWorkspace> workspace;

  Loan(const SegmentPart& part, std::unique_ptr<ScanWorkspace> workspace)
      : part(&part), workspace(std::move(workspace)) {}
  Loan(Loan&&) = default;
  Loan& operator=(Loan&&) = default;
  ~Loan() {
    if (workspace == nullptr) return;
    const std::lock_guard lock(part->device->mutex);
    part->device->idle.push_back(std::move(workspace));
  }
};

Status DeviceSearch::failed(ScanDevice& device, const Status& status) {
  if (!status) failed_ = &device;
  return status;
}

Result<std::vector<std::vector<Match>>> DeviceSearch::run(Queries queries) {
  results_.reserve(queries.size());
  while (!queries.empty()) {
    const size_t count = batch_size(queries);
    if (Status done = run_batch(queries.first(count)); !done) return done.error();
    queries = queries.subspan(count);
  }
  return std::move(results_);
}

size_t DeviceSearch::batch_size(Queries queries) const {
  uint64_t runs = 1;
  for (const SegmentPart& part : on_devices_.parts()) runs = std::max(runs, part.runs.size());
  const size_t most =
      std::clamp<uint64_t>(kMostLimits / runs, 1, std::min(tuning_.states, kMostStates));
  uint64_t strips = 0;
  size_t count = 0;
  while (count < std::min(most, queries.size())) {
    strips += strips_of(static_cast<uint32_t>(queries[count].size()));
    if (count != 0 && strips > kMostStrips) break;
    ++count;
  }
  return count;
}

Status DeviceSearch::run_batch(Queries queries) {
  std::vector<ScanState> states;
  for (const auto& query : queries) {
    states.push_back({dense_ids(segment_, query), options_.threshold});
  }
  std::vector<Loan> loans;
  for (const SegmentPart& part : on_devices_.parts()) {
    std::unique_ptr<ScanWorkspace> workspace;
    {
      const std::lock_guard lock(part.device->mutex);
      if (!part.device->idle.empty()) {
        workspace = std::move(part.device->idle.back());
        part.device->idle.pop_back();
      }
    }
    if (workspace == nullptr) {
      auto made = ScanWorkspace::create(*part.device, tuning_);
      if (!made) return failed(*part.device, made.error());
      workspace = std::move(*made);
    }
    loans.emplace_back(part, std::move(workspace));
  }
  uint64_t total = 0;
  Status done = find(loans, states, total);
  const size_t first_result = results_.size();
  results_.resize(first_result + queries.size());
  std::vector<uint64_t> found;
  for (size_t i = 0; i < loans.size() && done; ++i) {
    found.clear();
    done = failed(*loans[i].part->device, loans[i].workspace->fetch(found));
    if (done) done = take(queries, found, first_result);
  }
  if (failed_ != nullptr) {  // what is under way ends with the workspace
    for (Loan& loan : loans) loan.workspace.reset();
  }
  if (!done) return done;
  if (options_.top == 0) return check_matches(0);
  for (size_t i = first_result; i < results_.size(); ++i) keep_best(results_[i]);
  return {};
}

// Scans until the workspaces hold all matches, `total` of them; for the best ones with the
// thresholds raised to what leaves enough.
Status DeviceSearch::find(std::vector<Loan>& loans, std::vector<ScanState>& states,
                          uint64_t& total) {
  bool wants_bins = options_.top != 0 && !scores_again();
  for (;;) {
    if (is_cancelled()) return fail(ErrorCode::cancelled, "search: cancelled");
    for (Loan& loan : loans) {
      Status begun = loan.workspace->begin(*loan.part, on_devices_.is_wide(), states,
                                           options_.scorer, wants_bins);
      if (!begun) return failed(*loan.part->device, begun);
    }
    std::vector<ScanCounts> counts;
    bool has_all = true;
    total = 0;
    for (Loan& loan : loans) {
      auto finished = loan.workspace->finish();
      if (!finished) return failed(*loan.part->device, finished.error());
      total += finished->found;
      has_all = has_all && finished->has_all;
      counts.push_back(std::move(*finished));
    }
    if (is_cancelled()) return fail(ErrorCode::cancelled, "search: cancelled");
    if (wants_bins && total > kFetchedForBest * states.size()) {
      wants_bins = false;
      if (raise_thresholds(counts, states)) continue;
    }
    if (scores_again()) {
      gave_up_ = total > tuning_.rescored;
      if (gave_up_) return fail(ErrorCode::unsupported, "search: too many candidates");
    } else if (options_.top == 0) {
      if (Status few = check_matches(total); !few) return few;
    }
    if (has_all) return {};
    for (size_t i = 0; i < loans.size(); ++i) {
      if (counts[i].has_all) continue;
      if (Status grown = loans[i].workspace->grow(); !grown) {
        return failed(*loans[i].part->device, grown);
      }
    }
  }
}

// A bin's matches have at least its score, so all of the best ones reach the lowest bin of those
// that hold enough.
bool DeviceSearch::raise_thresholds(std::span<const ScanCounts> counts,
                                    std::vector<ScanState>& states) const {
  bool is_raised = false;
  for (size_t s = 0; s < states.size(); ++s) {
    uint64_t above = 0;
    uint32_t bin = kScoreBins;
    while (bin > 0 && above < options_.top) {
      --bin;
      for (const ScanCounts& part : counts) above += part.bins[s * kScoreBins + bin];
    }
    const double reached = static_cast<double>(bin) / kScoreBins - kRounding;
    if (above < options_.top || reached <= states[s].threshold) continue;
    states[s].threshold = reached;
    is_raised = true;
  }
  return is_raised;
}

// Appends matches, which come sorted by state and pattern, to the results of their states.
Status DeviceSearch::take(Queries queries, std::span<const uint64_t> found, size_t first_result) {
  for (size_t at = 0; at < found.size();) {
    const auto state = static_cast<size_t>(found[at] >> 48);
    const auto m = static_cast<uint32_t>(queries[state].size());
    std::vector<Match>& result = results_[first_result + state];
    const auto after = std::upper_bound(found.begin() + static_cast<ptrdiff_t>(at), found.end(),
                                        found[at] | ((uint64_t{1} << 48) - 1));
    result.reserve(result.size() + static_cast<size_t>(after - found.begin()) - at);
    std::vector<uint32_t> candidates;
    const LengthBucket* bucket = nullptr;
    std::vector<double> scores;  // by count, of patterns of this length; filled on demand
    for (; at < found.size() && found[at] >> 48 == state; ++at) {
      const auto pattern = static_cast<uint32_t>(found[at] >> 16);
      const auto raw = static_cast<uint32_t>(found[at] & 0xFFFF);
      if (scores_again()) {
        candidates.push_back(pattern);
        continue;
      }
      if (bucket == nullptr || pattern >= bucket->first_pattern + bucket->count) {
        bucket = &segment_.bucket_of(pattern);
        scores.assign(std::max(bucket->length, m) + 1, -1.0);
      }
      if (scores[raw] < 0) {
        scores[raw] = score_of(options_.scorer, raw, bucket->length, m).normalized;
      }
      result.push_back({pattern, raw, scores[raw]});
    }
    if (!scores_again()) continue;
    auto again = score_again(queries[state], candidates);
    if (!again) return again.error();
    result.insert(result.end(), again->begin(), again->end());
  }
  return {};
}

Result<std::vector<Match>> DeviceSearch::score_again(std::span<const uint32_t> query,
                                                     std::span<const uint32_t> patterns) const {
  const QueryScorer scorer(options_.scorer, query);
  const auto m = static_cast<uint32_t>(query.size());
  const size_t tasks = (patterns.size() + kPatternsPerTask - 1) / kPatternsPerTask;
  std::vector<std::vector<Match>> pieces(tasks);
  std::atomic<bool> is_corrupt = false;
  parallel_for_chunks(pool_, patterns.size(), kPatternsPerTask, [&](size_t begin, size_t end) {
    std::vector<uint32_t> symbols;
    QueryScorer::Scratch scratch;
    for (size_t i = begin; i < end && !is_cancelled(); ++i) {
      if (!read_pattern(segment_, patterns[i], symbols)) {
        is_corrupt = true;
        return;
      }
      const auto raw = scorer.raw(symbols, scratch, options_.stop);
      const auto n = static_cast<uint32_t>(symbols.size());
      if (!raw || !reaches(options_.scorer, *raw, n, m, options_.threshold)) continue;
      pieces[begin / kPatternsPerTask].push_back(
          {patterns[i], static_cast<uint32_t>(*raw),
           score_of(options_.scorer, *raw, n, m).normalized});
    }
  });
  if (is_cancelled()) return fail(ErrorCode::cancelled, "search: cancelled");
  if (is_corrupt) {
    return fail(ErrorCode::corrupt, "search: a pattern with a symbol beyond the dictionary");
  }
  std::vector<Match> matches;
  for (const auto& piece : pieces) matches.insert(matches.end(), piece.begin(), piece.end());
  return matches;
}

void DeviceSearch::keep_best(std::vector<Match>& matches) const {
  const auto better = [this](const Match& x, const Match& y) {
    if (x.normalized != y.normalized) return x.normalized > y.normalized;
    return segment_.name_rank(x.pattern) < segment_.name_rank(y.pattern);
  };
  if (matches.size() > options_.top) {
    std::nth_element(matches.begin(), matches.begin() + static_cast<ptrdiff_t>(options_.top),
                     matches.end(), better);
    matches.resize(options_.top);
  }
  std::sort(matches.begin(), matches.end(), better);
}

Status DeviceSearch::check_matches(uint64_t more) const {
  uint64_t matches = more;
  for (const auto& result : results_) matches += result.size();
  if (matches <= options_.max_matches) return {};
  return fail(ErrorCode::exhausted,
              fmt::format("search: more than {} matches: raise the threshold, ask for the top "
                          "ones, or for fewer states at once",
                          options_.max_matches));
}

}  // namespace hoist::match
