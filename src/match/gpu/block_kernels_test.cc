// Blocks in summary: the kernel on threads of the host, the plain loops of the CPU device and a GPU
// where there is one, all beside the matcher of the CPU and the oracle.
#include <gtest/gtest.h>

#include "base/test_seed.h"
#include "match/gpu/block_threads.h"
//
#include "match/gpu/block_kernels.cuh"
//
#include "device/test_devices.h"
#include "match/gpu/gpu_scan.h"
#include "match/scan/scan_testing.h"
#include "match/scan/segment_query.h"

namespace hoist::match {
namespace {

BlockSummary oracle_summary(const Symbols& pattern, const Symbols& state) {
  std::vector<Block> blocks;
  for (const auto& block : oracle::matching_blocks(pattern, state, false)) {
    if (block.size != 0) {
      blocks.push_back({static_cast<uint32_t>(block.a), static_cast<uint32_t>(block.b),
                        static_cast<uint32_t>(block.size)});
    }
  }
  BlockSummary summary = {0, 0, 0, 0, 0, 1};
  if (blocks.empty()) return summary;
  summary.blocks = static_cast<uint16_t>(blocks.size());
  for (const Block& block : blocks) summary.matches += static_cast<uint16_t>(block.size);
  summary.begin = static_cast<uint16_t>(blocks.front().a);
  summary.end = static_cast<uint16_t>(blocks.back().a + blocks.back().size);
  for (uint16_t i = 0; i < summary.begin; ++i) {
    if (pattern[i] == pattern[summary.begin]) summary.before = static_cast<uint16_t>(i + 1);
  }
  return summary;
}

void expect_equal(const BlockSummary& got, const BlockSummary& wanted, const char* by,
                  size_t length, size_t state_length) {
  ASSERT_EQ(got, wanted) << by << ": " << length << " and " << state_length << " symbols, "
                         << got.blocks << " blocks of " << got.matches << ", not " << wanted.blocks
                         << " of " << wanted.matches << "; known " << got.is_known;
}

// Pattern i of the segment is rank i's.
std::vector<BlockSummary> by_kernel(const SegmentView& view, const Symbols& state,
                                    const std::vector<uint32_t>& patterns, uint32_t blocks) {
  const bool is_wide = !view.symbols32.empty();
  const std::vector<ScanRun> runs = deal_runs(view, 1).front().runs;
  const std::vector<uint32_t> ids = dense_ids(view, state);
  std::vector<BlockSummary> summaries(patterns.size());
  const BlockJob job = {is_wide ? static_cast<const void*>(view.symbols32.data())
                                : static_cast<const void*>(view.symbols16.data()),
                        is_wide ? 1u : 0u,
                        runs.data(),
                        static_cast<uint32_t>(runs.size()),
                        ids.data(),
                        static_cast<uint32_t>(ids.size()),
                        patterns.data(),
                        static_cast<uint32_t>(patterns.size()),
                        summaries.data()};
  block_threads::run(blocks, kBlockThreads, [&] {
    is_wide ? summarize_blocks<uint32_t>(job) : summarize_blocks<uint16_t>(job);
  });
  return summaries;
}

class BlockKernels : public device::OnDevices {
 protected:
  // Each pattern with each state; the kernel, which takes long here, those that are short.
  void expect_same(const std::vector<Symbols>& patterns, uint32_t vocabulary,
                   const std::vector<Symbols>& states) {
    constexpr size_t kShort = 1000;
    const auto segment = segment_of(patterns, vocabulary);
    const SegmentView view = segment->view();
    std::vector<uint32_t> indices;  // out of order
    for (uint32_t i = 0; i < patterns.size(); ++i) {
      indices.push_back(static_cast<uint32_t>(patterns.size()) - 1 - i);
    }
    device::Device* const devices[] = {&device()};
    GpuScan scan(devices);
    for (const Symbols& state : states) {
      std::vector<BlockSummary> by_device(indices.size());
      ASSERT_TRUE(scan.summarize_blocks(segment, view, state, indices, {}, by_device));
      std::vector<uint32_t> short_ones;
      for (const uint32_t index : indices) {
        if (view.bucket_of(index).length <= kShort) short_ones.push_back(index);
      }
      const std::vector<BlockSummary> kernel = by_kernel(view, state, short_ones, 2);
      size_t shorts = 0;
      const BlockMatcher matcher(state);
      BlockMatcher::Scratch scratch;
      std::vector<Block> blocks;
      for (size_t i = 0; i < indices.size(); ++i) {
        const Symbols& pattern = patterns[view.name_ranks[indices[i]]];
        const BlockSummary wanted = oracle_summary(pattern, state);
        expect_equal(by_device[i], wanted, "device", pattern.size(), state.size());
        if (pattern.size() <= kShort) {
          expect_equal(kernel[shorts++], wanted, "kernel", pattern.size(), state.size());
        }
        matcher.find(pattern, blocks, scratch);
        expect_equal(summarize(pattern, blocks), wanted, "matcher", pattern.size(), state.size());
        if (HasFatalFailure()) return;
      }
    }
    EXPECT_EQ(scan.statistics().summarized, indices.size() * states.size());
  }
};
INSTANTIATE_TEST_SUITE_P(, BlockKernels, device::kTestDevices, device::device_name);

TEST_P(BlockKernels, EqualTheOracle) {
  std::mt19937_64 random(test_seed());
  for (const uint32_t vocabulary : {2, 5, 30, 70'000}) {
    std::vector<Symbols> patterns = random_patterns(random, 60, 40, std::min(vocabulary, 200u));
    if (vocabulary > 65'535) {  // each symbol somewhere: so many that ids take 32 bits
      Symbols all(vocabulary);
      for (uint32_t i = 0; i < vocabulary; ++i) all[i] = i;
      for (size_t at = 0; at < all.size(); at += 14'000) {
        patterns.emplace_back(all.begin() + static_cast<long>(at),
                              all.begin() + static_cast<long>(at + 14'000));
      }
    }
    std::vector<Symbols> states;
    for (const size_t length : {1, 7, 31, 33, 64}) {
      states.push_back(random_symbols(random, length, std::min(vocabulary, 200u)));
    }
    states[1][3] = vocabulary + 1000;  // one that no pattern has
    expect_same(patterns, vocabulary, states);
  }
}

// Longer than what shared memory holds, of both kinds of patterns; few symbols make many windows.
TEST_P(BlockKernels, EqualTheOracleOnLongSequences) {
  std::mt19937_64 random(test_seed());
  std::vector<Symbols> patterns;
  for (const size_t length : {255, 256, 257, 300, 700}) {
    patterns.push_back(random_symbols(random, length, 6));
  }
  const std::vector<Symbols> states = {random_symbols(random, kNearState, 6),
                                       random_symbols(random, kNearState + 1, 6)};
  expect_same(patterns, 6, states);
}

// Every second symbol is equal: each window loses one row only, or all wait that may.
TEST_P(BlockKernels, KeepAllWindowsThatWait) {
  Symbols pattern;
  Symbols state;
  for (uint32_t i = 0; i < 100; ++i) {
    pattern.insert(pattern.end(), {i, 1000});
    state.insert(state.end(), {i, 2000});
  }
  Symbols backwards(state.rbegin(), state.rend());
  // Runs whose lengths halve the window each time: 1 2 1 4 1 2 1 8 …
  Symbols ruler;
  Symbols ruled;
  for (uint32_t i = 1; i < 64; ++i) {
    const uint32_t size = i & -i;
    for (uint32_t k = 0; k < size; ++k) ruler.push_back(3000 + i * 64 + k);
    for (uint32_t k = 0; k < size; ++k) ruled.push_back(3000 + i * 64 + k);
    ruler.push_back(1000);
    ruled.push_back(2000);
  }
  expect_same({pattern, backwards, state, ruler}, 10'000, {state, ruled, pattern});
}

TEST_P(BlockKernels, LeavesToTheCallerWhatTakesTooLong) {
  std::mt19937_64 random(test_seed());
  const std::vector<Symbols> patterns = {random_symbols(random, 5000, 4000),
                                         random_symbols(random, 10, 4000)};
  const auto segment = segment_of(patterns, 4000);
  device::Device* const devices[] = {&device()};
  GpuScan scan(devices);
  const Symbols state = random_symbols(random, 4000, 4000);
  const std::vector<uint32_t> both = {0, 1};
  std::vector<BlockSummary> summaries(2);
  ASSERT_TRUE(scan.summarize_blocks(segment, segment->view(), state, both, {}, summaries));
  EXPECT_EQ(summaries[0], oracle_summary(patterns[1], state));  // shorter ones come first
  EXPECT_EQ(summaries[1].is_known, 0);
}

TEST(DeviceBlocks, DealsPatternsToAllParts) {
  std::mt19937_64 random(test_seed());
  const std::vector<Symbols> patterns = random_patterns(random, 5000, 12, 9);
  const auto segment = segment_of(patterns, 9);
  const SegmentView view = segment->view();
  const Symbols state = random_symbols(random, 10, 9);
  std::vector<uint32_t> indices(3000);
  for (uint32_t& index : indices) index = static_cast<uint32_t>(random() % patterns.size());
  device::FailingDevice first(INT32_MAX);
  device::FailingDevice second(INT32_MAX);
  device::Device* const devices[] = {&first, &second};
  GpuScan scan(devices, {.split_bytes = 0});
  std::vector<BlockSummary> summaries(indices.size());
  ASSERT_TRUE(scan.summarize_blocks(segment, view, state, indices, {}, summaries));
  for (size_t i = 0; i < indices.size(); ++i) {
    const Symbols& pattern = patterns[view.name_ranks[indices[i]]];
    expect_equal(summaries[i], oracle_summary(pattern, state), "parts", pattern.size(), 10);
  }
}

TEST(DeviceBlocks, IsFalseWhereADeviceFailsAndWhenCancelled) {
  std::mt19937_64 random(test_seed());
  const std::vector<Symbols> patterns = random_patterns(random, 500, 12, 9);
  const auto segment = segment_of(patterns, 9);
  const Symbols state = random_symbols(random, 10, 9);
  const std::vector<uint32_t> indices = {5, 100, 499, 0};
  bool has_answered = false;
  int failures = 0;
  for (int operations = 0; operations < 200 && !has_answered; ++operations) {
    device::FailingDevice failing(operations);
    device::Device* const devices[] = {&failing};
    GpuScan scan(devices);
    std::vector<BlockSummary> summaries(indices.size());
    has_answered = scan.summarize_blocks(segment, segment->view(), state, indices, {}, summaries);
    failures += has_answered ? 0 : 1;
    EXPECT_EQ(scan.statistics().summarized, has_answered ? indices.size() : 0);
  }
  EXPECT_TRUE(has_answered);
  EXPECT_GT(failures, 3);
  device::Device* const devices[] = {&device::cpu_device()};
  GpuScan scan(devices);
  std::vector<BlockSummary> summaries(indices.size());
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_FALSE(scan.summarize_blocks(segment, segment->view(), state, indices, stopped.get_token(),
                                     summaries));
}

}  // namespace
}  // namespace hoist::match
