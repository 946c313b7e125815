#include "match/gpu/gpu_scan.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/test_seed.h"
#include "device/test_devices.h"
#include "match/scan/scan_testing.h"

namespace hoist::match {
namespace {

class GpuScanTest : public device::OnDevices {
 protected:
  // The same scan in many small pieces.
  static ScanTuning small_tuning() {
    return {.found_capacity = 4, .carry_bytes = 1, .split_bytes = 0, .states = 3};
  }

  // Every search that devices are for must have been answered by them.
  void expect_same(const std::vector<Symbols>& patterns, uint32_t vocabulary,
                   const std::vector<Symbols>& states, Scorer scorer,
                   const std::vector<double>& thresholds, const std::vector<size_t>& tops = {0}) {
    const auto segment = segment_of(patterns, vocabulary);
    const SegmentView view = segment->view();
    const States queries(states.begin(), states.end());
    std::vector<std::vector<uint64_t>> raws(states.size());
    for (size_t i = 0; i < states.size(); ++i) {
      for (const uint32_t rank : view.name_ranks) {
        raws[i].push_back(oracle_raw(scorer, patterns[rank], states[i]));
      }
    }
    device::Device* const devices[] = {&device()};
    for (const ScanTuning& tuning : {ScanTuning{}, small_tuning()}) {
      GpuScan scan(devices, tuning);
      for (const double threshold : thresholds) {
        for (const size_t top : tops) {
          const SearchOptions options = {.scorer = scorer, .threshold = threshold, .top = top};
          const auto found = scan.search(segment, view, queries, options);
          ASSERT_TRUE(found) << found.error().message;
          for (size_t i = 0; i < states.size(); ++i) {
            ASSERT_EQ((*found)[i], oracle_matches(view, raws[i], states[i].size(), options))
                << name(scorer) << " " << threshold << " top " << top << " state "
                << states[i].size();
          }
        }
      }
      EXPECT_EQ(scan.statistics().on_cpu, 0u);
      EXPECT_GT(scan.statistics().on_devices, 0u);
    }
  }
};

uint64_t held_bytes(const GpuScan& scan) {
  uint64_t bytes = 0;
  for (const DeviceBytes& held : scan.held()) bytes += held.bytes;
  return bytes;
}

INSTANTIATE_TEST_SUITE_P(, GpuScanTest, device::kTestDevices, device::device_name);

constexpr Scorer kScorers[] = {Scorer::kato,        Scorer::lcs,     Scorer::indel,
                               Scorer::levenshtein, Scorer::difflib, Scorer::difflib_autojunk};

// All widths of tables, and states of several strips.
TEST_P(GpuScanTest, EqualsTheOracle) {
  std::mt19937_64 random(test_seed());
  for (const uint32_t vocabulary : {2u, 9u, 60u, 3000u}) {
    const std::vector<Symbols> patterns = random_patterns(random, 150, 24, vocabulary);
    std::vector<Symbols> states = {Symbols(3, 1)};
    for (const size_t m : {65, 64, 63, 49, 48, 47, 40, 17, 16, 15, 5, 1, 128, 129, 200}) {
      states.push_back(random_symbols(random, m, vocabulary + 2));  // some are in no pattern
    }
    for (const Scorer scorer : kScorers) {
      expect_same(patterns, vocabulary, states, scorer, {0.0, 0.1, 0.25, 0.5, 2.0 / 3, 1.0, 1.01},
                  {0, 1, 7});
    }
  }
}

TEST_P(GpuScanTest, EqualsTheOracleAtExactTies) {
  std::mt19937_64 random(test_seed());
  const std::vector<Symbols> patterns = random_patterns(random, 100, 20, 6);
  const std::vector<Symbols> states = {random_symbols(random, 12, 6),
                                       random_symbols(random, 20, 6)};
  std::vector<double> thresholds;
  for (int k = 0; k <= 1000; ++k) thresholds.push_back(k / 1000.0);
  expect_same(patterns, 6, states, Scorer::kato, thresholds, {0, 5});
  expect_same(patterns, 6, states, Scorer::levenshtein, thresholds, {0, 5});
}

// Buckets that end just before, at and behind the ends of tiles and of groups of tiles.
TEST_P(GpuScanTest, EqualsTheOracleAtTheEndsOfTiles) {
  std::mt19937_64 random(test_seed());
  std::vector<Symbols> patterns;
  size_t length = 2;
  for (const size_t count : {1, 7, 8, 9, 31, 32, 33, 63, 255, 256, 257, 511, 513}) {
    for (size_t i = 0; i < count; ++i) patterns.push_back(random_symbols(random, length, 12));
    ++length;
  }
  std::shuffle(patterns.begin(), patterns.end(), random);
  const std::vector<Symbols> states = {random_symbols(random, 8, 12),
                                       random_symbols(random, 30, 12)};
  for (const Scorer scorer : {Scorer::kato, Scorer::levenshtein}) {
    expect_same(patterns, 12, states, scorer, {0.0, 0.5}, {0, 40});
  }
}

// Long patterns lie one by one, or in tiles; longer ones than 1024 symbols are scanned apart.
TEST_P(GpuScanTest, EqualsTheOracleOnLongPatterns) {
  std::mt19937_64 random(test_seed());
  std::vector<Symbols> patterns;
  for (const size_t n : {63, 64, 65, 255, 256, 257, 257, 300, 1023, 1024, 1025, 1500}) {
    for (int i = 0; i < 3; ++i) patterns.push_back(random_symbols(random, n, 300));
  }
  for (int i = 0; i < 50; ++i) patterns.push_back(random_symbols(random, 400, 300));
  const std::vector<Symbols> states = {patterns[26], patterns.front(),
                                       random_symbols(random, 64, 300),
                                       random_symbols(random, 300, 500), patterns[35]};
  for (const Scorer scorer : {Scorer::kato, Scorer::levenshtein, Scorer::difflib}) {
    expect_same(patterns, 300, states, scorer, {0.0, 0.2}, {0, 5});
  }
}

TEST_P(GpuScanTest, EqualsTheOracleOnWideSymbols) {
  std::mt19937_64 random(test_seed());
  const std::vector<Symbols> patterns = random_patterns(random, 15'000, 15, 200'000);
  ASSERT_FALSE(segment_of(patterns, 200'000)->view().symbols32.empty());
  std::vector<Symbols> states;
  for (const size_t i : {5, 6, 7}) {
    states.push_back(patterns[i]);
    states.back().push_back(199'999);
  }
  states.push_back(patterns[8]);
  states.back().resize(100, patterns[9].empty() ? 1 : patterns[9].front());
  for (const Scorer scorer : {Scorer::kato, Scorer::levenshtein}) {
    expect_same(patterns, 200'000, states, scorer, {0.1}, {0, 20});
  }
}

// More matches than are fetched at once, and so many that the best ones are looked for again.
TEST_P(GpuScanTest, EqualsTheCpuWithManyMatches) {
  std::mt19937_64 random(test_seed());
  const auto segment = segment_of(random_patterns(random, 30'000, 20, 30), 30);
  const std::vector<Symbols> states = {random_symbols(random, 15, 30),
                                       random_symbols(random, 44, 30),
                                       random_symbols(random, 70, 30), Symbols(2, 999)};
  const States queries(states.begin(), states.end());
  device::Device* const devices[] = {&device()};
  for (const ScanTuning& tuning : {ScanTuning{}, ScanTuning{.found_capacity = 5000}}) {
    GpuScan scan(devices, tuning);
    for (const Scorer scorer : kScorers) {
      for (const double threshold : {0.0, 0.3}) {
        for (const size_t top : {0, 1, 100, 29'000}) {
          const SearchOptions options = {.scorer = scorer, .threshold = threshold, .top = top};
          const auto expected = search(segment->view(), queries, options);
          const auto found = scan.search(segment, segment->view(), queries, options);
          ASSERT_TRUE(found && expected);
          ASSERT_EQ(*found, *expected) << name(scorer) << " " << threshold << " top " << top;
        }
      }
    }
    EXPECT_EQ(scan.statistics().on_cpu, 0u);
  }
}

TEST_P(GpuScanTest, SharesASegmentAmongDevices) {
  std::mt19937_64 random(test_seed());
  const auto segment = segment_of(random_patterns(random, 3000, 300, 40), 40);
  const std::vector<Symbols> states = {random_symbols(random, 30, 40)};
  const States queries(states.begin(), states.end());
  device::FailingDevice second(INT32_MAX);
  device::FailingDevice third(INT32_MAX);
  device::Device* const devices[] = {&device(), &second, &third};
  GpuScan scan(devices, {.split_bytes = 0});
  for (const size_t top : {0, 10}) {
    const SearchOptions options = {.threshold = 0.2, .top = top};
    const auto found = scan.search(segment, segment->view(), queries, options);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, *search(segment->view(), queries, options));
    EXPECT_FALSE(found->front().empty());
  }
  EXPECT_EQ(scan.statistics().on_cpu, 0u);
  EXPECT_GE(held_bytes(scan), segment->view().symbols16.size_bytes());
}

TEST_P(GpuScanTest, FreesWhatNobodyOwns) {
  std::mt19937_64 random(test_seed());
  auto segment = segment_of(random_patterns(random, 100, 20, 40), 40);
  const auto other = segment_of(random_patterns(random, 100, 5, 40), 40);
  device::Device* const devices[] = {&device()};
  GpuScan scan(devices);
  ASSERT_TRUE(scan.hold(segment, segment->view()));
  EXPECT_TRUE(scan.hold(segment, segment->view()));
  EXPECT_EQ(held_bytes(scan), segment->view().symbols16.size_bytes());
  segment.reset();
  ASSERT_TRUE(scan.hold(other, other->view()));
  EXPECT_EQ(held_bytes(scan), other->view().symbols16.size_bytes());
}

TEST_P(GpuScanTest, SearchesOnSeveralThreads) {
  std::mt19937_64 random(test_seed());
  const auto segment = segment_of(random_patterns(random, 5000, 20, 20), 20);
  const Symbols state = random_symbols(random, 12, 20);
  const States queries = {state};
  const SearchOptions options = {.threshold = 0.5, .top = 50};
  const auto expected = search(segment->view(), queries, options);
  device::Device* const devices[] = {&device()};
  GpuScan scan(devices);
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        const auto found = scan.search(segment, segment->view(), queries, options);
        if (found && *found == *expected) ++equal;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 40);
}

TEST_P(GpuScanTest, StopsWhereItMust) {
  std::mt19937_64 random(test_seed());
  const auto segment = segment_of(random_patterns(random, 1000, 10, 5), 5);
  const Symbols state = {1, 2, 3};
  device::Device* const devices[] = {&device()};
  GpuScan scan(devices);
  const auto code = [&](const Symbols& query, const SearchOptions& options) {
    const States queries = {query, query};
    const auto found = scan.search(segment, segment->view(), queries, options);
    return found ? ErrorCode::internal : found.error().code;
  };
  std::stop_source stopped;
  stopped.request_stop();
  SearchOptions options;
  options.stop = stopped.get_token();
  EXPECT_EQ(code(state, options), ErrorCode::cancelled);
  for (const Scorer scorer : {Scorer::kato, Scorer::difflib}) {
    options = {.scorer = scorer, .max_matches = 1999};
    EXPECT_EQ(code(state, options), ErrorCode::exhausted);
    options.max_matches = 2000;
    EXPECT_EQ(code(state, options), ErrorCode::internal);
  }
  options.max_matches = 10;
  options.top = 10;  // keeps few
  EXPECT_EQ(code(state, options), ErrorCode::internal);
  EXPECT_EQ(code(Symbols(65'536), {}), ErrorCode::invalid_argument);
}

// What a device cannot do the CPU does, and the answer is the same.
TEST(GpuScan, SurvivesDevicesThatFail) {
  std::mt19937_64 random(test_seed());
  const auto segment = segment_of(random_patterns(random, 6000, 12, 8), 8);
  const Symbols state = random_symbols(random, 10, 8);
  const States queries = {state, state};
  const SearchOptions options = {.threshold = 0.1, .top = 0};
  const auto expected = search(segment->view(), queries, options);
  bool has_failed = false;
  bool has_worked = false;
  for (int operations = 0; operations < 40; ++operations) {
    device::FailingDevice first(operations);
    device::FailingDevice second(INT32_MAX);
    device::Device* const devices[] = {&first, &second};
    for (const uint64_t split : {uint64_t{0}, UINT64_MAX}) {
      GpuScan scan(devices, {.found_capacity = 100, .split_bytes = split});
      for (int turn = 0; turn < 2; ++turn) {
        const auto found = scan.search(segment, segment->view(), queries, options);
        ASSERT_TRUE(found) << found.error().message;
        ASSERT_EQ(*found, *expected) << operations;
      }
      has_failed = has_failed || scan.statistics().on_cpu != 0;
      has_worked = has_worked || scan.statistics().on_devices != 0;
    }
  }
  EXPECT_TRUE(has_failed && has_worked);
}

// A CPU device whose memory is full when it is told to be.
class FullDevice : public device::CpuDevice {
 public:
  Result<void*> allocate(size_t size, device::StreamHandle stream) override {
    ++asked;
    if (is_full) return fail(ErrorCode::exhausted, "full (test)");
    return CpuDevice::allocate(size, stream);
  }

  std::atomic<bool> is_full = false;
  std::atomic<int> asked = 0;
};

TEST(GpuScan, SendsASegmentAgainWhenMemoryMayBeFree) {
  std::mt19937_64 random(test_seed());
  auto first = segment_of(random_patterns(random, 500, 12, 8), 8);
  const auto second = segment_of(random_patterns(random, 500, 12, 8), 8);
  FullDevice full;
  device::Device* const devices[] = {&full};
  GpuScan scan(devices);
  ASSERT_TRUE(scan.hold(first, first->view()));
  full.is_full = true;
  const Symbols state = random_symbols(random, 10, 8);
  const auto search_second = [&] {
    const States queries = {state};
    const auto found = scan.search(second, second->view(), queries, {.threshold = 0.1});
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, *search(second->view(), queries, {.threshold = 0.1}));
  };
  const auto asked_by = [&](const auto& action) {
    const int before = full.asked;
    action();
    return full.asked - before;
  };
  EXPECT_EQ(asked_by([&] { EXPECT_FALSE(scan.hold(second, second->view())); }), 1);
  EXPECT_EQ(asked_by(search_second), 0);  // nothing was freed: it is not tried again
  scan.expect_memory();
  EXPECT_EQ(asked_by(search_second), 1);
  EXPECT_EQ(asked_by(search_second), 0);
  first.reset();  // its memory goes with the next search
  EXPECT_EQ(asked_by(search_second), 1);
  EXPECT_EQ(asked_by(search_second), 0);
  EXPECT_EQ(held_bytes(scan), 0u);
  EXPECT_EQ(scan.statistics().on_devices, 0u);
  full.is_full = false;
  EXPECT_FALSE(scan.hold(second, second->view()));
  scan.expect_memory();
  EXPECT_TRUE(scan.hold(second, second->view()));
  search_second();
  EXPECT_EQ(scan.statistics().on_devices, 1u);
  EXPECT_EQ(held_bytes(scan), second->view().symbols16.size_bytes());
}

TEST(GpuScan, LeavesTheRestToTheCpu) {
  std::mt19937_64 random(test_seed());
  const auto segment = segment_of(random_patterns(random, 500, 12, 8), 8);
  const Symbols state = random_symbols(random, 10, 8);
  const Symbols empty;
  device::Device* const devices[] = {&device::cpu_device()};
  GpuScan scan(devices, {.rescored = 10});
  const SearchOptions options = {.scorer = Scorer::difflib, .threshold = 0.0};
  for (const States& queries : {States{state}, States{state, empty}, States{}}) {
    const auto found = scan.search(segment, segment->view(), queries, options);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, *search(segment->view(), queries, options));
  }
  GpuScan without({});
  const States queries = {state};
  EXPECT_EQ(*without.search(segment, segment->view(), queries, options),
            *search(segment->view(), queries, options));
  EXPECT_EQ(scan.statistics().on_cpu, 2u);
  EXPECT_EQ(without.statistics().on_cpu, 1u);
}

TEST(DealRuns, CoversEveryPatternOnce) {
  std::mt19937_64 random(test_seed());
  for (const size_t longest : {0, 3, 40, 700}) {
    const auto segment = segment_of(random_patterns(random, 2000, longest, 9), 9);
    const SegmentView view = segment->view();
    for (const size_t parts : {1, 2, 3, 8}) {
      const auto dealt = deal_runs(view, parts);
      ASSERT_LE(dealt.size(), parts);
      uint64_t next_symbol = 0;
      uint32_t next_pattern = 0;
      for (const DealtRuns& part : dealt) {
        ASSERT_EQ(part.first_symbol, next_symbol);
        next_symbol += part.symbols;
        for (const ScanRun& run : part.runs) {
          ASSERT_EQ(run.first_pattern, next_pattern);
          next_pattern += run.count;
          const LengthBucket& bucket = view.bucket_of(run.first_pattern);
          const auto position = static_cast<uint32_t>(run.first_pattern - bucket.first_pattern);
          ASSERT_EQ(part.first_symbol + run.first_symbol, bucket.pattern_at(position));
          ASSERT_EQ(run.is_tiled != 0, bucket.stride_of(position) != 1);
          ASSERT_EQ(run.length, bucket.length);
        }
      }
      ASSERT_EQ(next_pattern, view.pattern_count());
      ASSERT_EQ(next_symbol, view.symbols16.size());
      for (const DealtRuns& part : dealt) {
        // A tile of the longest and what rounds each bucket up may come on top.
        ASSERT_LE(part.symbols, next_symbol / parts + (longest + 1) * 2 * kTileWidth * 33);
      }
    }
  }
}

TEST(LimitOf, IsTheFirstCountThatReachesTheThreshold) {
  for (const Scorer scorer : {Scorer::kato, Scorer::lcs, Scorer::indel, Scorer::levenshtein}) {
    for (uint32_t n = 0; n <= 12; ++n) {
      for (uint32_t m = 1; m <= 12; ++m) {
        for (int k = -1; k <= 101; ++k) {
          const double threshold = k / 100.0;
          const int32_t limit = limit_of(scorer, n, m, threshold);
          const bool is_distance = scorer == Scorer::levenshtein;
          for (uint32_t raw = 0; raw <= (is_distance ? std::max(n, m) : std::min(n, m)); ++raw) {
            const auto count = static_cast<int32_t>(raw);
            ASSERT_EQ(is_distance ? count <= limit : count >= limit,
                      reaches(scorer, raw, n, m, threshold))
                << name(scorer) << " " << n << " " << m << " " << threshold;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace hoist::match
