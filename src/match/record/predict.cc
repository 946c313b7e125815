#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/chunks.h"
#include "base/uninitialized_array.h"
#include "match/record/alignment.h"
#include "match/record/ensemble.h"
#include "match/record/record.h"
#include "match/score/scorer.h"

namespace hoist::match {
namespace {

constexpr size_t kPruningFactor = 3;
constexpr size_t kCandidatesPerTask = 64;
constexpr size_t kSummariesPerTask = 1024;
constexpr size_t kPotentialsPerTask = 8192;
constexpr size_t kRecordsPerTask = 16;

// A candidate that the reference would keep, before its record is made.
struct Kept {
  uint64_t id;
  double similarity;  // kDropped: it would not be kept
  double own_potential;
};
constexpr double kDropped = -1;  // no similarity is

Status check_state(const StateView& state, const RecordOptions& options) {
  const size_t covered =
      std::accumulate(state.event_sizes.begin(), state.event_sizes.end(), size_t{0});
  if (covered != state.symbols.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("predict: events of {} symbols for {}", covered, state.symbols.size()));
  }
  if ((options.fuzzy > 0 || options.characters) && state.texts.size() != state.symbols.size()) {
    return fail(ErrorCode::invalid_argument, fmt::format("predict: {} texts for {} symbols",
                                                         state.texts.size(), state.symbols.size()));
  }
  return {};
}

std::vector<Emotive> average(const std::vector<Emotive>& values) {
  std::vector<Emotive> averages;
  std::vector<size_t> counts;
  std::unordered_map<std::string_view, size_t> places;
  for (const Emotive& value : values) {
    const auto [at, is_new] = places.try_emplace(value.key, averages.size());
    const size_t place = at->second;
    if (is_new) {
      averages.push_back({value.key, 0.0});
      counts.push_back(0);
    }
    averages[place].value += value.value;
    ++counts[place];
  }
  for (size_t i = 0; i < averages.size(); ++i) {
    averages[i].value /= static_cast<double>(counts[i]);
  }
  return averages;
}

class Predictor {
 public:
  Predictor(const StateView& state, const RecordSource& source, const RecordOptions& options,
            ThreadPool& pool)
      : state_(state),
        source_(source),
        options_(options),
        pool_(pool),
        aligner_(state, source, options),
        is_flat_(state.symbols.size() == 1) {}

  Result<Prediction> run(std::span<const Candidate> candidates) {
    const UninitializedArray<Kept> all = look(candidates);
    if (is_cancelled()) return fail(ErrorCode::cancelled, "predict: cancelled");
    std::vector<Kept> kept = is_flat_ ? where(all, is_kept) : best(all);
    std::sort(kept.begin(), kept.end(),
              [&](const Kept& x, const Kept& y) { return source_.named_before(x.id, y.id); });
    Prediction prediction;
    prediction.records.resize(kept.size());
    const auto make = [&](size_t i, Aligner::Scratch& scratch, Alignment& alignment) {
      make_record(kept[i], scratch, alignment, prediction.records[i]);
    };
    for_each(kept.size(), kRecordsPerTask, make);
    if (is_cancelled()) return fail(ErrorCode::cancelled, "predict: cancelled");
    if (!is_flat_) {
      add_ensemble_metrics(state_, source_, options_, prediction.records, pool_);
      prediction.futures = add_predictive_information(prediction.records);
    }
    rank(prediction.records);
    return prediction;
  }

 private:
  // Once it was, it stays so, whatever the caller's flag does then: work has been left out.
  bool is_cancelled() const {
    if (was_cancelled_.load(std::memory_order_relaxed)) return true;
    if (!options_.stop.stop_requested()) {
      return false;
    }
    was_cancelled_.store(true, std::memory_order_relaxed);
    return true;
  }

  template <typename Body>
  void for_each(size_t count, size_t per_task, const Body& body) {
    parallel_for_chunks(pool_, count, per_task, [&](size_t begin, size_t end) {
      if (is_cancelled()) return;
      thread_local Aligner::Scratch scratch;
      thread_local Alignment alignment;
      for (size_t i = begin; i < end && !is_cancelled(); ++i) body(i, scratch, alignment);
    });
  }

  // What a device tells of the candidates' blocks, if that is enough here.
  std::vector<BlockSummary> summarize(std::span<const Candidate> candidates) const {
    if (is_flat_ || options_.characters || options_.fuzzy > 0) return {};
    return source_.summarize_blocks(state_.symbols, candidates, options_.stop);
  }

  // Nothing where the threshold is not reached, which only characters decide here.
  std::optional<double> similarity(const Candidate& candidate, const RecordSource::Pattern& pattern,
                                   Aligner::Scratch& scratch) const {
    const size_t n = pattern.symbols.size();
    if (is_flat_) return 2.0 * 1 / static_cast<double>(n + 1);
    if (!options_.characters) return kato_similarity(candidate, n);
    return aligner_.text_similarity(pattern, scratch);
  }

  double kato_similarity(const Candidate& candidate, size_t n) const {
    return score_of(Scorer::kato, candidate.lcs, n, state_.symbols.size()).normalized;
  }

  UninitializedArray<Kept> look(std::span<const Candidate> candidates) {
    UninitializedArray<Kept> kept(candidates.size());
    const std::vector<BlockSummary> summaries = summarize(candidates);
    const auto look_at = [&](size_t i, Aligner::Scratch& scratch, Alignment& alignment) {
      if (!summaries.empty() && summaries[i].is_known != 0) {
        const RecordSource::Shape shape = source_.shape(candidates[i].id);
        const auto potential = aligner_.own_potential(shape, summaries[i]);
        const double score = kato_similarity(candidates[i], shape.length);
        kept[i] = {candidates[i].id, potential ? score : kDropped, potential.value_or(0)};
        return;
      }
      const RecordSource::Pattern pattern = source_.pattern(candidates[i].id, scratch.symbols);
      const std::optional<double> score = similarity(candidates[i], pattern, scratch);
      if (score && aligner_.align(pattern, alignment, scratch)) {
        kept[i] = {candidates[i].id, *score, alignment.own_potential()};
      } else {
        kept[i] = {candidates[i].id, kDropped, 0};
      }
    };
    for_each(candidates.size(), summaries.empty() ? kCandidatesPerTask : kSummariesPerTask,
             look_at);
    return kept;
  }

  static bool is_kept(const Kept& kept) { return kept.similarity != kDropped; }

  template <typename Wanted>
  std::vector<Kept> where(const UninitializedArray<Kept>& all, const Wanted& is_wanted) const {
    std::vector<Kept> kept;
    for (const uint32_t i :
         parallel_select(pool_, static_cast<uint32_t>(all.size()), kPotentialsPerTask,
                         [&](size_t at) { return is_wanted(all[at]); })) {
      kept.push_back(all[i]);
    }
    return kept;
  }

  // The `most`-th potential from above, or nothing where no more than that are kept. It is among
  // the `most` largest of its task.
  std::optional<double> least_potential(const UninitializedArray<Kept>& all, size_t most) const {
    std::mutex mutex;
    std::vector<double> largest;
    size_t count = 0;
    parallel_for_chunks(pool_, all.size(), kPotentialsPerTask, [&](size_t begin, size_t end) {
      std::vector<double> own;
      for (size_t i = begin; i < end; ++i) {
        if (is_kept(all[i])) own.push_back(all[i].own_potential);
      }
      const size_t size = own.size();
      if (size > most) {
        std::nth_element(own.begin(), own.begin() + static_cast<long>(most - 1), own.end(),
                         std::greater<>());
        own.resize(most);
      }
      const std::lock_guard lock(mutex);
      count += size;
      largest.insert(largest.end(), own.begin(), own.end());
    });
    if (count <= most) return std::nullopt;
    const auto last = largest.begin() + static_cast<long>(most - 1);
    std::nth_element(largest.begin(), last, largest.end(), std::greater<>());
    return *last;
  }

  // Names, which lie all over memory, are looked at only where the potential leaves it open.
  std::vector<Kept> best(const UninitializedArray<Kept>& all) const {
    // Without overflow: callers ask for SIZE_MAX where they want all.
    const size_t most = kPruningFactor * std::min(options_.max_predictions, all.size());
    if (most == 0) return {};
    const std::optional<double> least = least_potential(all, most);
    if (!least) return where(all, is_kept);
    std::vector<Kept> kept =
        where(all, [&](const Kept& k) { return is_kept(k) && k.own_potential > *least; });
    std::vector<Kept> equal =
        where(all, [&](const Kept& k) { return is_kept(k) && k.own_potential == *least; });
    const auto wanted = equal.begin() + static_cast<long>(most - kept.size());
    std::nth_element(equal.begin(), wanted, equal.end(), [&](const Kept& x, const Kept& y) {
      return source_.named_before(x.id, y.id);
    });
    kept.insert(kept.end(), equal.begin(), wanted);
    return kept;
  }

  void make_record(const Kept& kept, Aligner::Scratch& scratch, Alignment& alignment,
                   Record& record) const {
    const RecordSource::Pattern pattern = source_.pattern(kept.id, scratch.symbols);
    if (!aligner_.align(pattern, alignment, scratch)) return;  // cancelled
    record.candidate = kept.id;
    record.name = source_.name(kept.id);
    record.frequency = source_.frequency(kept.id);
    record.emotives = average(source_.emotives(kept.id));
    record.symbols.assign(pattern.symbols.begin(), pattern.symbols.end());
    record.event_sizes.assign(pattern.event_sizes.begin(), pattern.event_sizes.end());
    record.present_begin = alignment.present_begin;
    record.present_end = alignment.present_end;
    record.is_flat = is_flat_;
    record.matches = alignment.matches;
    record.anomalies = alignment.anomalies;
    record.similarity = kept.similarity;
    record.evidence = alignment.evidence;
    record.confidence = alignment.confidence;
    record.snr = alignment.snr;
    record.fragmentation = alignment.fragmentation;
    add_missing(record);
    add_extras(record);
    if (!options_.affinity_emotive.empty()) add_weighted(record);
    if (is_flat_) {
      const double evidence = record.weighted ? record.weighted->evidence : record.evidence;
      const double confidence = record.weighted ? record.weighted->confidence : record.confidence;
      const double snr = record.weighted ? record.weighted->snr : record.snr;
      record.potential = (evidence + confidence) * snr + fragmentation_term(record.fragmentation);
    }
  }

  // By value, as the reference has it: a symbol that matched anywhere is missing nowhere.
  void add_missing(Record& record) const {
    std::vector<uint32_t> matched;
    for (const uint32_t position : record.matches) matched.push_back(state_.symbols[position]);
    std::sort(matched.begin(), matched.end());
    const auto add = [&](uint32_t begin, uint32_t end) {
      std::vector<uint32_t>& missing = record.missing.emplace_back();
      for (uint32_t i = begin; i < end; ++i) {
        if (!std::binary_search(matched.begin(), matched.end(), record.symbols[i])) {
          missing.push_back(i);
        }
      }
    };
    if (is_flat_) return add(record.present_begin, record.present_end);
    uint32_t begin = 0;
    for (const uint16_t size : record.event_sizes) {
      if (begin >= record.present_begin && begin < record.present_end) add(begin, begin + size);
      begin += size;
    }
  }

  void add_extras(Record& record) const {
    std::vector<uint32_t> present(record.symbols.begin() + record.present_begin,
                                  record.symbols.begin() + record.present_end);
    std::sort(present.begin(), present.end());
    uint32_t begin = 0;
    for (const uint16_t size : state_.event_sizes) {
      std::vector<uint32_t>& extras = record.extras.emplace_back();
      for (uint32_t i = begin; i < begin + size; ++i) {
        if (!std::binary_search(present.begin(), present.end(), state_.symbols[i])) {
          extras.push_back(i);
        }
      }
      begin += size;
    }
  }

  double weight(uint32_t symbol) const {
    const uint64_t occurrences = source_.occurrences(symbol);
    if (occurrences == 0) return 0.01;
    const double affinity =
        std::abs(options_.affinity ? options_.affinity(source_.text(symbol))
                                   : source_.affinity(symbol, options_.affinity_emotive));
    return affinity / static_cast<double>(occurrences) + 0.01;
  }

  void add_weighted(Record& record) const {
    double matched = 0;
    for (const uint32_t position : record.matches) matched += weight(state_.symbols[position]);
    double extra = 0;
    for (const auto& event : record.extras) {
      for (const uint32_t position : event) extra += weight(state_.symbols[position]);
    }
    double state = 0;
    for (const uint32_t symbol : state_.symbols) state += weight(symbol);
    double pattern = 0;
    double present = 0;
    for (uint32_t i = 0; i < record.symbols.size(); ++i) pattern += weight(record.symbols[i]);
    for (uint32_t i = record.present_begin; i < record.present_end; ++i) {
      present += weight(record.symbols[i]);
    }
    const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0.0; };
    record.weighted = {share(2.0 * matched, state + pattern), share(matched, pattern),
                       share(matched, present), share(matched, matched + extra)};
  }

  // They come in order of their names.
  void rank(std::vector<Record>& records) const {
    std::vector<std::pair<double, size_t>> order(records.size());
    for (size_t i = 0; i < order.size(); ++i) {
      order[i] = {rank_value(records[i], options_.rank), i};
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& x, const auto& y) { return x.first > y.first; });
    if (!options_.whole_ensemble && order.size() > options_.max_predictions) {
      order.resize(options_.max_predictions);
    }
    std::vector<Record> ranked;
    ranked.reserve(order.size());
    for (const auto& [value, i] : order) ranked.push_back(std::move(records[i]));
    records = std::move(ranked);
  }

  const StateView& state_;
  const RecordSource& source_;
  const RecordOptions& options_;
  ThreadPool& pool_;
  Aligner aligner_;
  bool is_flat_;
  mutable std::atomic<bool> was_cancelled_ = false;
};

}  // namespace

Result<Prediction> predict(const StateView& state, std::span<const Candidate> candidates,
                           const RecordSource& source, const RecordOptions& options,
                           ThreadPool& pool) {
  if (const Status checked = check_state(state, options); !checked) {
    return checked.error();
  }
  if (state.symbols.empty()) return Prediction{};
  return Predictor(state, source, options, pool).run(candidates);
}

}  // namespace hoist::match
