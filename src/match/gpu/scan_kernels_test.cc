// The kernels on threads of the host beside the plain loops of the CPU device: the same matches,
// counts and scores, however many blocks there are and however many states a block takes.
#include <gtest/gtest.h>

#include <cstring>

#include "base/test_seed.h"
#include "match/gpu/block_threads.h"
//
#include "match/gpu/scan_kernels.cuh"
//
#include "device/device.h"
#include "match/gpu/device_segment.h"
#include "match/gpu/scan_enqueue.h"
#include "match/gpu/scan_plan.h"
#include "match/scan/scan_testing.h"
#include "match/scan/segment_query.h"

namespace hoist::match {
namespace {

// What a scan leaves.
struct Outcome {
  unsigned long long count = 0;
  std::vector<uint64_t> found;
  std::vector<uint32_t> bins;

  explicit Outcome(size_t states, uint64_t capacity) : found(capacity), bins(states * kScoreBins) {}
  ScanOutput output(Scorer scorer, bool has_bins) {
    return {&count, found.data(), found.size(), has_bins ? bins.data() : nullptr, base_of(scorer)};
  }
  void sort() {
    found.resize(std::min<uint64_t>(count, found.size()));
    std::sort(found.begin(), found.end());
  }
};

template <template <typename> typename Steps, typename Table>
void run_tiles(const TileScanJob& job, uint32_t states_of_block, uint32_t workers) {
  const uint32_t state_blocks = (job.state_count + states_of_block - 1) / states_of_block;
  block_threads::run(workers * state_blocks, kTileThreads,
                     [&] { scan_tiles<Steps, Table>(job, states_of_block); });
}

template <template <typename> typename Steps>
void run_tiles_of_width(const TileScanJob& job, uint32_t states_of_block, uint32_t workers) {
  switch (job.width) {
    case SlotWidth::narrow:
      return run_tiles<Steps, NarrowTable<kLanes>>(job, states_of_block, workers);
    case SlotWidth::medium:
      return run_tiles<Steps, MediumTable<kLanes>>(job, states_of_block, workers);
    case SlotWidth::wide:
      return run_tiles<Steps, WideTable<kLanes>>(job, states_of_block, workers);
  }
}

void run_job(const TileScanJob& job, uint32_t states_of_block, uint32_t workers) {
  if (job.count == Count::lcs) {
    run_tiles_of_width<LcsSteps>(job, states_of_block, workers);
  } else {
    run_tiles_of_width<DistanceSteps>(job, states_of_block, workers);
  }
}

void run_job(const SequenceScanJob& job, uint32_t blocks) {
  if (job.carries != nullptr) blocks = std::min(blocks, job.threads / kSequenceThreads);
  block_threads::run(blocks, kSequenceThreads, [&] {
    if (job.count == Count::lcs) {
      job.is_wide != 0 ? scan_sequences<LcsStrip, uint32_t>(job)
                       : scan_sequences<LcsStrip, uint16_t>(job);
    } else {
      job.is_wide != 0 ? scan_sequences<DistanceStrip, uint32_t>(job)
                       : scan_sequences<DistanceStrip, uint16_t>(job);
    }
  });
}

void expect_same(const std::vector<Symbols>& patterns, uint32_t vocabulary,
                 const std::vector<Symbols>& states, double threshold, uint64_t capacity) {
  const auto segment = segment_of(patterns, vocabulary);
  const SegmentView view = segment->view();
  const bool is_wide = !view.symbols32.empty();
  const void* const symbols = is_wide ? static_cast<const void*>(view.symbols32.data())
                                      : static_cast<const void*>(view.symbols16.data());
  const std::vector<DealtRuns> dealt = deal_runs(view, 1);
  std::vector<ScanState> scan_states;
  for (const Symbols& state : states) scan_states.push_back({dense_ids(view, state), threshold});
  auto stream = device::Stream::create(device::cpu_device()).value();
  for (const Scorer scorer : {Scorer::kato, Scorer::levenshtein}) {
    const ScanPlan plan(dealt.front().runs, is_wide, scan_states, scorer);
    std::vector<uint64_t> sent(plan.bytes().size() / sizeof(uint64_t) + 1);
    std::memcpy(sent.data(), plan.bytes().data(), plan.bytes().size());
    const auto* const base = reinterpret_cast<const std::byte*>(sent.data());
    std::vector<uint8_t> carries(plan.carry_bytes(1 << 16));
    Outcome expected(states.size(), 1 << 20);
    const ScanOutput plain = expected.output(scorer, true);
    for (const auto& job : plan.tile_jobs(base, symbols, plain)) {
      ASSERT_TRUE(enqueue(stream, job));
    }
    for (const auto& job : plan.sequence_jobs(base, symbols, plain, carries)) {
      ASSERT_TRUE(enqueue(stream, job));
    }
    ASSERT_TRUE(stream.synchronize());
    expected.sort();
    ASSERT_GT(expected.count, 0u);
    for (const auto& [blocks, states_of_block] : {std::pair{1u, 1u}, {2u, 2u}, {3u, 3u}}) {
      Outcome outcome(states.size(), capacity);
      const ScanOutput output = outcome.output(scorer, blocks != 1);
      for (const auto& job : plan.tile_jobs(base, symbols, output)) {
        run_job(job, states_of_block, blocks);
      }
      for (const auto& job : plan.sequence_jobs(base, symbols, output, carries)) {
        run_job(job, blocks);
      }
      outcome.sort();
      ASSERT_EQ(outcome.count, expected.count);
      if (blocks != 1) {
        ASSERT_EQ(outcome.bins, expected.bins);
      }
      if (capacity >= expected.count) {
        ASSERT_EQ(outcome.found, expected.found);
      } else {
        ASSERT_TRUE(std::includes(expected.found.begin(), expected.found.end(),
                                  outcome.found.begin(), outcome.found.end()));
      }
    }
  }
}

TEST(ScanKernels, EqualPlainLoopsOnTiles) {
  std::mt19937_64 random(test_seed());
  std::vector<Symbols> patterns = random_patterns(random, 800, 6, 12);
  for (int i = 0; i < 2500; ++i) patterns.push_back(random_symbols(random, 9, 12));
  std::vector<Symbols> states;
  for (const size_t m : {8, 9, 16, 15, 3, 20, 48, 64}) {
    states.push_back(random_symbols(random, m, 12));
  }
  expect_same(patterns, 12, states, 0.55, 1 << 20);
  expect_same(patterns, 12, {states[0]}, 0.0, 1 << 20);
}

TEST(ScanKernels, KeepWhatThereIsRoomFor) {
  std::mt19937_64 random(test_seed());
  const std::vector<Symbols> patterns = random_patterns(random, 600, 6, 5);
  expect_same(patterns, 5, {random_symbols(random, 6, 5), random_symbols(random, 4, 5)}, 0.4, 100);
}

TEST(ScanKernels, EqualPlainLoopsOnSequences) {
  std::mt19937_64 random(test_seed());
  std::vector<Symbols> patterns = random_patterns(random, 300, 40, 30);
  for (const size_t n : {33, 257, 300, 400, 1030}) {
    patterns.push_back(random_symbols(random, n, 30));
  }
  const Symbols& short_state = patterns[300];
  Symbols state = patterns.back();
  state.resize(990);
  expect_same(patterns, 30, {state, random_symbols(random, 65, 30), short_state}, 0.3, 1 << 20);
}

TEST(ScanKernels, EqualPlainLoopsOnWideSymbols) {
  std::mt19937_64 random(test_seed());
  const std::vector<Symbols> patterns = random_patterns(random, 1'200, 140, 400'000);
  ASSERT_FALSE(segment_of(patterns, 400'000)->view().symbols32.empty());
  const Symbols& longest =
      *std::max_element(patterns.begin(), patterns.end(),
                        [](const Symbols& x, const Symbols& y) { return x.size() < y.size(); });
  expect_same(patterns, 400'000, {longest, Symbols(longest.begin(), longest.begin() + 60)}, 0.2,
              1 << 20);
}

}  // namespace
}  // namespace hoist::match
