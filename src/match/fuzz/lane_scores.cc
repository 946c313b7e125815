#include "match/fuzz/lane_scores.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <numeric>
#include <optional>

#include "match/fuzz/masked_counts.h"
#include "match/fuzz/place_counts.h"
#include "match/fuzz/prepared_scorer.h"

namespace hoist::match {
namespace {

using Kind = FuzzScorer::Kind;

// A number of `bytes` bytes, with its sign.
int64_t number_at(const std::byte* at, size_t bytes) {
  switch (bytes) {
    case 1:
      return static_cast<int8_t>(*at);
    case 2: {
      int16_t number = 0;
      std::memcpy(&number, at, sizeof(number));
      return number;
    }
    case 4: {
      int32_t number = 0;
      std::memcpy(&number, at, sizeof(number));
      return number;
    }
    default: {
      int64_t number = 0;
      std::memcpy(&number, at, sizeof(number));
      return number;
    }
  }
}

void put_number(std::byte* at, size_t bytes, uint64_t number) { std::memcpy(at, &number, bytes); }

// For each length that a choice may have, what is within reach in each lane.
class Reaches {
 public:
  Reaches(const Batch& batch, const NumberedList& queries) : batch_(batch), queries_(queries) {}

  JaroReach of(size_t length) {
    Line* const lines = rows_.data() + length * kLines;
    if (!is_made_[length]) make(length, lines->bytes);
    is_made_[length] = true;
    return {lines->bytes, lines->bytes + kRowBytes};
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  static constexpr size_t kLines = 2 * kRowBytes / sizeof(Line);

  void make(size_t length, std::byte* out) const {
    const size_t bytes = lane_bytes(batch_.kind);
    for (size_t lane = 0; lane < batch_.members.size(); ++lane) {
      const uint64_t reach = jaro_reach(queries_.length(batch_.members[lane]), length);
      const uint64_t first = reach >= 63 ? ~uint64_t{0} : (uint64_t{2} << reach) - 1;
      put_number(out + lane * bytes, bytes, first);
      put_number(out + kRowBytes + lane * bytes, bytes, reach);
    }
  }

  const Batch& batch_;
  const NumberedList& queries_;
  std::bitset<kMaxJaroStream + 1> is_made_;
  std::vector<Line> rows_ = std::vector<Line>((kMaxJaroStream + 1) * kLines);
};

}  // namespace

// One batch with its masks, and the counts of a block of choices.
class LaneScores::Lanes {
 public:
  Lanes(const LaneScores& all, const Batch& batch)
      : all_(all),
        batch_(batch),
        table_(all.distinct_),
        is_jaro_(all.scoring_.scorer.kind != Kind::osa),
        bytes_(lane_bytes(batch.kind)) {
    table_.fill(batch, all.queries_);
    if (is_jaro_) reaches_.emplace(batch, all.queries_);
  }

  void score(size_t first, size_t size) {
    for (size_t i = 0; i < size && !all_.stop_.stop_requested(); ++i) {
      count(all_.choices_[first + i], i);
    }
    for (size_t lane = 0; lane < batch_.members.size() && !all_.stop_.stop_requested(); ++lane) {
      const uint32_t query = batch_.members[lane];
      for (size_t i = 0; i < size; ++i) {
        scores_[i] = is_jaro_ ? jaro(lane, query, first, i) : osa(lane, query, first, i);
      }
      all_.take_(query, first, {scores_.data(), size});
    }
  }

 private:
  void count(const Sequence& choice, size_t i) {
    if (is_jaro_ && choice.length > kMaxJaroStream) return;
    if (choice.width == 1) {
      const std::span bytes(static_cast<const uint8_t*>(choice.symbols), choice.length);
      return count_stream(ByteStream{bytes, table_.groups()}, i,
                          [](const auto& kernels) { return kernels.of_bytes; });
    }
    groups_.clear();
    with_symbols(choice, [&](const auto symbols) {
      for (const uint32_t symbol : symbols) {
        groups_.push_back(table_.groups()[all_.numbers_.of(symbol)]);
      }
    });
    count_stream(GroupStream(groups_), i, [](const auto& kernels) { return kernels.of_groups; });
  }

  template <typename Stream, typename Which>
  void count_stream(const Stream& stream, size_t i, const Which& which) {
    std::byte* const counts = counts_.data() + i * kRowBytes;
    const PairBatch view = table_.view(batch_.words);
    if (is_jaro_) {
      const JaroReach reach = reaches_->of(stream.size());
      which(all_.kernels_.jaro[batch_.kind][batch_.row])(view, stream, reach, counts,
                                                         moved_.data() + i * kRowBytes);
    } else {
      which(all_.kernels_.osa[batch_.kind].of[batch_.row])(view, stream, counts);
    }
  }

  double osa(size_t lane, uint32_t query, size_t first, size_t i) const {
    const uint64_t m = all_.queries_.length(query);
    const uint64_t n = all_.choices_[first + i].length;
    const int64_t steps = number_at(counts_.data() + i * kRowBytes + lane * bytes_, bytes_);
    const auto distance = static_cast<uint64_t>(static_cast<int64_t>(n) + steps);
    return score_of_distance(all_.scoring_.scorer, distance, std::max(m, n), all_.scoring_.cutoff);
  }

  double jaro(size_t lane, uint32_t query, size_t first, size_t i) {
    const FuzzScorer& scorer = all_.scoring_.scorer;
    const Sequence& choice = all_.choices_[first + i];
    if (choice.length > kMaxJaroStream) return alone(lane, query, choice);
    const uint64_t m = all_.queries_.length(query);
    const size_t at = i * kRowBytes + lane * bytes_;
    const CommonSymbols found = {static_cast<uint64_t>(number_at(counts_.data() + at, bytes_)),
                                 static_cast<uint64_t>(number_at(moved_.data() + at, bytes_))};
    double similarity = m == 0 && choice.length == 0 ? 1.0 : jaro_of(found, m, choice.length);
    if (scorer.kind == Kind::jaro_winkler && similarity > kLeastForPrefix) {
      const uint64_t prefix = common_prefix(all_.queries_.sequence(query), choice);
      similarity = with_prefix(similarity, prefix, scorer.prefix_weight);
    }
    return score_of_jaro(scorer, similarity, all_.scoring_.cutoff);
  }

  double alone(size_t lane, uint32_t query, const Sequence& choice) {
    if (prepared_.empty()) {
      prepared_.resize(batch_.members.size());
      for (size_t k = 0; k < prepared_.size(); ++k) {
        prepared_[k].set(all_.scoring_.scorer, all_.queries_.sequence(batch_.members[k]));
      }
    }
    (void)query;
    return prepared_[lane].score(choice, all_.scoring_.cutoff);
  }

  const LaneScores& all_;
  const Batch& batch_;
  MaskTable table_;
  bool is_jaro_;
  size_t bytes_;  // of a lane
  std::optional<Reaches> reaches_;
  std::vector<PreparedScorer> prepared_;  // for choices that are too long
  std::vector<uint32_t> groups_;
  alignas(64) std::array<std::byte, kBlock * kRowBytes> counts_;
  alignas(64) std::array<std::byte, kBlock * kRowBytes> moved_;
  std::array<double, kBlock> scores_;
};

LaneScores::LaneScores(const FuzzScoring& scoring, const SequenceList& queries,
                       const SequenceList& choices, const Take& take, const std::stop_token& stop)
    : scoring_(scoring),
      kernels_(scoring.kernels != nullptr ? *scoring.kernels : pair_kernels()),
      choices_(choices),
      take_(take),
      stop_(stop),
      queries_(queries, numbers_),
      distinct_(numbers_.size()),
      by_length_(queries.size()) {
  std::iota(by_length_.begin(), by_length_.end(), 0);
  std::stable_sort(by_length_.begin(), by_length_.end(),
                   [&](uint32_t x, uint32_t y) { return queries_.length(x) < queries_.length(y); });
  batches_ = batches_of(queries_, by_length_, distinct_);
}

void LaneScores::run(ThreadPool& pool) const {
  if (choices_.empty() || batches_.empty()) return;
  // As count_pairs() cuts its stream.
  constexpr size_t kLeastStream = 1024;
  const size_t wanted = pool.size() == 1 ? 1 : 4 * static_cast<size_t>(pool.size());
  const size_t most = std::max<size_t>(1, choices_.size() / kLeastStream);
  const size_t pieces = std::min(most, (wanted + batches_.size() - 1) / batches_.size());
  const size_t step = (choices_.size() + pieces - 1) / pieces;
  pool.parallel_for(batches_.size() * pieces, [&](size_t i) {
    const Batch& batch = batches_[i / pieces];
    const size_t begin = i % pieces * step;
    const size_t end = std::min(choices_.size(), begin + step);
    if (begin >= end) return;
    const bool has_lanes = batch.kind < kLongLanes && batch.members.size() > 1;
    has_lanes ? run_lanes(batch, begin, end) : run_single(batch, begin, end);
  });
}

void LaneScores::run_lanes(const Batch& batch, size_t begin, size_t end) const {
  Lanes lanes(*this, batch);
  for (size_t first = begin; first < end && !stop_.stop_requested(); first += kBlock) {
    lanes.score(first, std::min(kBlock, end - first));
  }
}

void LaneScores::run_single(const Batch& batch, size_t begin, size_t end) const {
  PreparedScorer prepared;
  std::array<double, kBlock> scores;
  for (const uint32_t query : batch.members) {
    if (stop_.stop_requested()) return;
    prepared.set(scoring_.scorer, queries_.sequence(query));
    for (size_t first = begin; first < end; first += kBlock) {
      const size_t size = std::min(kBlock, end - first);
      for (size_t i = 0; i < size; ++i) {
        if (stop_.stop_requested()) return;
        scores[i] = prepared.score(choices_[first + i], scoring_.cutoff);
      }
      take_(query, first, {scores.data(), size});
    }
  }
}

}  // namespace hoist::match
