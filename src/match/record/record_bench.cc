// A whole prediction over 100 000 candidates of 15 symbols, 100 records out; and Ratcliff–Obershelp
// blocks alone. Items are candidates.
#include <benchmark/benchmark.h>

#include <random>

#include "match/record/record.h"
#include "match/score/blocks.h"
#include "match/score/edit_distance.h"

namespace hoist::match {
namespace {

constexpr uint32_t kVocabulary = 31'029;
constexpr size_t kCandidates = 100'000;
constexpr uint32_t kLength = 15;

// Symbols mostly from a few hundred, as those of candidates are.
uint32_t random_symbol(std::mt19937_64& random) {
  return static_cast<uint32_t>(random() % 4 != 0 ? random() % 40 : random() % kVocabulary);
}

class Source final : public RecordSource {
 public:
  Source() : event_sizes_(kLength, 1) {
    std::mt19937_64 random(1);
    symbols_.resize(kCandidates * kLength);
    for (uint32_t& symbol : symbols_) symbol = random_symbol(random);
    for (uint32_t i = 0; i < kLength; ++i) state_.push_back(random_symbol(random));
    const MatchMasks masks(state_);
    std::vector<uint32_t> scratch;
    for (uint64_t i = 0; i < kCandidates; ++i) {
      const auto lcs = static_cast<uint32_t>(lcs_length(masks, pattern(i, scratch).symbols));
      candidates_.push_back({i, lcs});
    }
  }

  StateView state() const { return {state_, event_sizes_, {}}; }
  std::span<const Candidate> candidates() const { return candidates_; }

  Pattern pattern(uint64_t candidate, std::vector<uint32_t>&) const override {
    return {std::span(symbols_).subspan(candidate * kLength, kLength), event_sizes_};
  }
  Shape shape(uint64_t) const override { return {kLength, event_sizes_}; }
  std::string name(uint64_t candidate) const override { return std::to_string(candidate); }
  bool named_before(uint64_t x, uint64_t y) const override { return x < y; }
  uint64_t frequency(uint64_t) const override { return 1; }
  std::vector<Emotive> emotives(uint64_t) const override { return {}; }
  uint64_t patterns_with(uint32_t symbol) const override { return 1 + symbol % 1000; }
  uint64_t occurrences(uint32_t) const override { return 1; }
  double affinity(uint32_t, std::string_view) const override { return 0; }
  std::string_view text(uint32_t symbol) const override {
    return {reinterpret_cast<const char*>(&symbols_[symbol]), sizeof(uint32_t)};
  }
  Totals totals() const override { return {kCandidates, kCandidates, kVocabulary}; }

 private:
  std::vector<uint16_t> event_sizes_;
  std::vector<uint32_t> symbols_;
  std::vector<uint32_t> state_;
  std::vector<Candidate> candidates_;
};

const Source& source() {
  static const Source made;
  return made;
}

void predict_100(benchmark::State& state) {
  ThreadPool one(1);
  ThreadPool& pool = state.range(0) == 1 ? one : ThreadPool::process();
  for (auto _ : state) {
    const auto prediction =
        predict(source().state(), source().candidates(), source(), RecordOptions{}, pool);
    if (!prediction || prediction->records.size() != 100) {
      return state.SkipWithError("no prediction");
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kCandidates));
}

void blocks(benchmark::State& state) {
  const BlockMatcher matcher(source().state().symbols);
  BlockMatcher::Scratch scratch;
  std::vector<Block> found;
  std::vector<uint32_t> unused;
  for (auto _ : state) {
    for (uint64_t i = 0; i < kCandidates; ++i) {
      matcher.find(source().pattern(i, unused).symbols, found, scratch);
      benchmark::DoNotOptimize(found.data());
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kCandidates));
}

BENCHMARK(predict_100)
    ->Name("match/record/predict")
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(0)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(blocks)->Name("match/record/blocks")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hoist::match
