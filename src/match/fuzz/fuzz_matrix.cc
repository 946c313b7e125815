#include "match/fuzz/fuzz_matrix.h"

#include <algorithm>
#include <vector>

#include "match/fuzz/lane_scores.h"
#include "match/fuzz/place_counts.h"
#include "match/fuzz/prepared_scorer.h"
#include "match/fuzz/score_time.h"
#include "match/fuzz/words.h"
#include "match/pairs/score_matrix.h"

namespace hoist::match {
namespace {

using Kind = FuzzScorer::Kind;

// Choices that one prepared query is compared with before the next one is: they stay in the cache.
constexpr size_t kPiece = 1024;
constexpr size_t kPairsPerStop = 16;  // where they take next to no time

// Sequences as their words in order, by which token_sort_ratio is a ratio.
class SortedWords {
 public:
  explicit SortedWords(const SequenceList& list) {
    std::vector<uint32_t> room;
    std::vector<uint32_t> text;
    std::vector<size_t> ends;
    Words words;
    ends.reserve(list.size());
    for (const Sequence& sequence : list) {
      sort_words({wide_symbols(sequence, room), sequence.width == 1}, words);
      join(words, text);
      if (sequence.width == 1) {
        narrow_.insert(narrow_.end(), text.begin(), text.end());
      } else {
        wide_.insert(wide_.end(), text.begin(), text.end());
      }
      ends.push_back(sequence.width == 1 ? narrow_.size() : wide_.size());
    }
    sequences_.reserve(list.size());
    size_t narrow = 0;
    size_t wide = 0;
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].width == 1) {
        sequences_.emplace_back(narrow_.data() + narrow, ends[i] - narrow);
        narrow = ends[i];
      } else {
        sequences_.emplace_back(wide_.data() + wide, ends[i] - wide);
        wide = ends[i];
      }
    }
  }

  SequenceList view() const { return sequences_; }

 private:
  std::vector<uint8_t> narrow_;
  std::vector<uint32_t> wide_;
  std::vector<Sequence> sequences_;
};

template <typename T>
void fill_rows(const FuzzScoring& scoring, const SequenceList& queries, const SequenceList& choices,
               ThreadPool& pool, T* out, const std::stop_token& stop) {
  const size_t rows = queries.size();
  const size_t columns = choices.size();
  const size_t pieces = (columns + kPiece - 1) / kPiece;
  pool.parallel_for(pieces, [&](size_t piece) {
    PreparedScorer prepared;
    const size_t end = std::min(columns, (piece + 1) * kPiece);
    for (size_t row = 0; row < rows && !stop.stop_requested(); ++row) {
      const Sequence& query = queries[row];
      prepared.set(scoring.scorer, query);
      T* const at = out + row * columns;
      for (size_t i = piece * kPiece; i < end && !stop.stop_requested(); ++i) {
        const double score =
            stoppable_score(prepared, scoring.scorer, query, choices[i], scoring.cutoff, stop);
        at[i] = score_element<T>(score * scoring.multiplier);
      }
    }
  });
}

// work(distance), of two sequences, where the scorer has one that takes less time than preparing a
// sequence; whether it has.
template <typename Work>
bool with_distance_by_place(Kind kind, const Work& work) {
  if (kind == Kind::hamming) {
    work([](const Sequence& a, const Sequence& b) { return hamming_distance(a, b); });
  } else if (kind == Kind::prefix) {
    work([](const Sequence& a, const Sequence& b) {
      return std::max(a.length, b.length) - common_prefix(a, b);
    });
  } else if (kind == Kind::postfix) {
    work([](const Sequence& a, const Sequence& b) {
      return std::max(a.length, b.length) - common_suffix(a, b);
    });
  } else {
    return false;
  }
  return true;
}

// What a count of places scores.
template <typename T>
T element_of_places(const FuzzScoring& scoring, uint64_t count, const Sequence& a,
                    const Sequence& b) {
  const bool is_plain = scoring.scorer.value == FuzzScorer::Value::distance && !scoring.cutoff &&
                        scoring.multiplier == 1;
  if (is_plain) return static_cast<T>(count);
  const uint64_t most = std::max(a.length, b.length);
  const double score = score_of_distance(scoring.scorer, count, most, scoring.cutoff);
  return score_element<T>(score * scoring.multiplier);
}

// By distance(query, choice), where a pair takes less time than preparing a query.
template <typename T, typename Distance>
void fill_by_place(const FuzzScoring& scoring, const Distance& distance,
                   const SequenceList& queries, const SequenceList& choices, ThreadPool& pool,
                   T* out, const std::stop_token& stop) {
  const size_t columns = choices.size();
  pool.parallel_for((columns + kPiece - 1) / kPiece, [&](size_t piece) {
    const size_t end = std::min(columns, (piece + 1) * kPiece);
    for (size_t row = 0; row < queries.size(); ++row) {
      const Sequence& query = queries[row];
      T* const at = out + row * columns;
      for (size_t i = piece * kPiece; i < end; ++i) {
        if (i % kPairsPerStop == 0 && stop.stop_requested()) return;
        at[i] = element_of_places<T>(scoring, distance(query, choices[i]), query, choices[i]);
      }
    }
  });
}

template <typename T>
void fill_lanes(const FuzzScoring& scoring, const SequenceList& queries,
                const SequenceList& choices, ThreadPool& pool, T* out,
                const std::stop_token& stop) {
  const size_t columns = choices.size();
  const LaneScores::Take take = [&](uint32_t query, size_t first, std::span<const double> scores) {
    T* const at = out + query * columns + first;
    for (size_t i = 0; i < scores.size(); ++i) {
      at[i] = score_element<T>(scores[i] * scoring.multiplier);
    }
  };
  LaneScores(scoring, queries, choices, take, stop).run(pool);
}

}  // namespace

template <typename T>
void fill_fuzz_scores(const FuzzScoring& scoring, const SequenceList& queries,
                      const SequenceList& choices, ThreadPool& pool, std::span<T> out,
                      const std::stop_token& stop) {
  const Kind kind = scoring.scorer.kind;
  if (kind == Kind::token_sort_ratio) {
    if (scoring.cutoff && *scoring.cutoff > 100.0) return std::fill(out.begin(), out.end(), T{});
    FuzzScoring by_words = scoring;
    by_words.scorer.kind = Kind::ratio;
    const SortedWords rows(queries);
    const SortedWords columns(choices);
    return fill_fuzz_scores<T>(by_words, rows.view(), columns.view(), pool, out, stop);
  }
  if (kind == Kind::osa || kind == Kind::jaro || kind == Kind::jaro_winkler) {
    return fill_lanes(scoring, queries, choices, pool, out.data(), stop);
  }
  const auto by_place = [&](const auto& distance) {
    fill_by_place(scoring, distance, queries, choices, pool, out.data(), stop);
  };
  if (with_distance_by_place(kind, by_place)) return;
  FuzzScorer scorer = scoring.scorer;
  if (kind == Kind::quick_ratio) scorer.kind = Kind::ratio;
  const auto pair = scorer.pair_scorer();
  if (!pair) return fill_rows(scoring, queries, choices, pool, out.data(), stop);
  fill_scores<T>({*pair, scoring.cutoff, scoring.multiplier}, queries, choices, pool, out, stop);
  if (kind != Kind::quick_ratio) return;
  // Only that of two empty sequences is not 0 anyway.
  for (size_t row = 0; row < queries.size(); ++row) {
    if (queries[row].length != 0) continue;
    std::fill_n(out.data() + row * choices.size(), choices.size(), T{});
  }
}

template <typename T>
void fill_fuzz_pairs(const FuzzScoring& scoring, const SequenceList& queries,
                     const SequenceList& choices, ThreadPool& pool, std::span<T> out,
                     const std::stop_token& stop) {
  // fill(begin, end) of some of the pairs.
  const auto in_pieces = [&](const auto& fill) {
    const size_t share = out.size() / (8 * static_cast<size_t>(pool.size()));
    const size_t size = std::clamp<size_t>(share, 1, kPiece);
    pool.parallel_for((out.size() + size - 1) / size, [&](size_t piece) {
      const size_t begin = piece * size;
      fill(begin, std::min(out.size(), begin + size));
    });
  };
  const auto by_place = [&](const auto& distance) {
    in_pieces([&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        if (i % kPairsPerStop == 0 && stop.stop_requested()) return;
        const Sequence& query = queries[i];
        out[i] = element_of_places<T>(scoring, distance(query, choices[i]), query, choices[i]);
      }
    });
  };
  if (with_distance_by_place(scoring.scorer.kind, by_place)) return;
  in_pieces([&](size_t begin, size_t end) {
    PreparedScorer prepared;
    const auto score = [&](const Sequence& a, const Sequence& b) {
      const bool is_short = std::max(a.length, b.length) <= kMostMasked;
      if (!is_short) return fuzz_score(scoring.scorer, a, b, scoring.cutoff, stop);
      prepared.set(scoring.scorer, a);
      return prepared.score(b, scoring.cutoff);
    };
    for (size_t i = begin; i < end && !stop.stop_requested(); ++i) {
      out[i] = score_element<T>(score(queries[i], choices[i]) * scoring.multiplier);
    }
  });
}

#define HOIST_FILL_FUZZ_SCORES(T)                                                                 \
  template void fill_fuzz_scores<T>(const FuzzScoring&, const SequenceList&, const SequenceList&, \
                                    ThreadPool&, std::span<T>, const std::stop_token&);           \
  template void fill_fuzz_pairs<T>(const FuzzScoring&, const SequenceList&, const SequenceList&,  \
                                   ThreadPool&, std::span<T>, const std::stop_token&);
HOIST_FILL_FUZZ_SCORES(float)
HOIST_FILL_FUZZ_SCORES(double)
HOIST_FILL_FUZZ_SCORES(int8_t)
HOIST_FILL_FUZZ_SCORES(uint8_t)
HOIST_FILL_FUZZ_SCORES(int16_t)
HOIST_FILL_FUZZ_SCORES(uint16_t)
HOIST_FILL_FUZZ_SCORES(int32_t)
HOIST_FILL_FUZZ_SCORES(uint32_t)
HOIST_FILL_FUZZ_SCORES(int64_t)
HOIST_FILL_FUZZ_SCORES(uint64_t)

}  // namespace hoist::match
