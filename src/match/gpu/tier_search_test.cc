// A search of all tiers is the same with and without devices: with the patterns of a large segment
// on a device, some of them removed, beside a recent tier on the CPU.
#include "match/index/tier_search.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>

#include "base/test_seed.h"
#include "device/test_devices.h"
#include "match/index/index.h"
#include "match/index/record_view.h"
#include "match/record/record.h"

namespace hoist::match {
namespace {

constexpr uint32_t kVocabulary = 20;

class TierSearchTest : public device::OnDevices {};
INSTANTIATE_TEST_SUITE_P(, TierSearchTest, device::kTestDevices, device::device_name);

std::shared_ptr<RecentTier> recent_tier(std::mt19937_64& random, uint32_t count, uint32_t serial) {
  auto tier = std::make_shared<RecentTier>();
  for (uint32_t i = 0; i < count; ++i) {
    std::vector<uint32_t> symbols(2 + random() % 8);
    for (uint32_t& symbol : symbols) symbol = static_cast<uint32_t>(random() % kVocabulary);
    const auto size = static_cast<uint16_t>(symbols.size());
    const std::string name = fmt::format("pattern {}", serial + i);
    tier->append(NameKey(name), symbols, {&size, 1}, serial + i, 1);
  }
  return tier;
}

bool equal(const TierSearch::Found& x, const TierSearch::Found& y) {
  return x.hit.score == y.hit.score && x.hit.normalized == y.hit.normalized &&
         x.hit.id == y.hit.id && x.hit.tier == y.hit.tier && x.hit.place == y.hit.place &&
         x.raw == y.raw;
}

TEST_P(TierSearchTest, IsTheSameWithDevices) {
  std::mt19937_64 random(test_seed());
  ThreadPool pool(2);
  constexpr uint32_t kRecent = 500;
  Tiers tiers;
  tiers.stable.push_back(
      build_stable(0, {{}, {recent_tier(random, kLargeSegment, 0)}}, kVocabulary, pool).value());
  tiers.recent.push_back(recent_tier(random, kRecent, kLargeSegment));
  for (int i = 0; i < 5000; ++i) {
    tiers.stable[0]->set_frequency(static_cast<uint32_t>(random() % kLargeSegment), 0);
  }
  const TierView view{std::make_shared<const Tiers>(tiers), {kRecent}};
  std::vector<std::vector<uint32_t>> states(3);
  for (auto& state : states) {
    state.resize(6);
    for (uint32_t& symbol : state) symbol = static_cast<uint32_t>(random() % kVocabulary);
  }
  const std::vector<std::span<const uint32_t>> queries(states.begin(), states.end());
  device::Device* const devices[] = {&device()};
  auto scan = std::make_unique<GpuScan>(devices);
  const GpuScan& gpu = *scan;
  SegmentSearch on_device(std::move(scan));
  SegmentSearch on_cpu(nullptr);
  for (const Scorer scorer : {Scorer::kato, Scorer::levenshtein, Scorer::difflib}) {
    for (const size_t top : {0, 20}) {
      const IndexSearchOptions options{.scorer = scorer, .threshold = 0.4, .top = top};
      TierSearch with(view, queries, options, on_device);
      TierSearch without(view, queries, options, on_cpu);
      ASSERT_TRUE(with.run());
      ASSERT_TRUE(without.run());
      ASSERT_TRUE(with.rank());
      ASSERT_TRUE(without.rank());
      for (size_t i = 0; i < states.size(); ++i) {
        ASSERT_FALSE(without.found(i).empty());
        ASSERT_TRUE(std::equal(with.found(i).begin(), with.found(i).end(), without.found(i).begin(),
                               without.found(i).end(), equal))
            << name(scorer) << " top " << top;
      }
    }
  }
  EXPECT_EQ(gpu.statistics().on_cpu, 0u);
  EXPECT_EQ(gpu.statistics().on_devices, 6u);
}

// The device finds the blocks of all candidates of the large segments; which of them become records
// hangs on these. Between them and behind them are tiers that stay on the CPU.
TEST_P(TierSearchTest, PredictsTheSameWithDevices) {
  std::mt19937_64 random(test_seed());
  ThreadPool pool(2);
  Vocabulary vocabulary;
  for (uint32_t i = 0; i < kVocabulary; ++i) vocabulary.add(fmt::format("symbol {}", i));
  Tiers tiers;
  uint32_t patterns = 0;
  const auto next_tier = [&](uint32_t count) {
    auto tier = recent_tier(random, count, patterns);
    patterns += count;
    return tier;
  };
  for (const uint32_t count : {kLargeSegment, 1000u, kLargeSegment + 77}) {
    tiers.stable.push_back(
        build_stable(tiers.stable.size(), {{}, {next_tier(count)}}, kVocabulary, pool).value());
  }
  for (int i = 0; i < 1000; ++i) {
    tiers.stable[2]->set_frequency(static_cast<uint32_t>(random() % kLargeSegment), 0);
  }
  for (const uint32_t count : {300, 70}) tiers.recent.push_back(next_tier(count));
  const TierView view{std::make_shared<const Tiers>(tiers), {300, 70}};
  device::Device* const devices[] = {&device()};
  auto scan = std::make_unique<GpuScan>(devices);
  const GpuScan& gpu = *scan;
  SegmentSearch on_device(std::move(scan), /*least_blocks=*/4096);
  SegmentSearch on_cpu(nullptr);
  const auto predict_with = [&](SegmentSearch& search, const std::vector<uint32_t>& symbols) {
    const std::vector<uint16_t> event_sizes = {3, static_cast<uint16_t>(symbols.size() - 3)};
    const std::span<const uint32_t> state = symbols;
    const IndexSearchOptions options{.threshold = 0.3};
    TierSearch found(view, {&state, 1}, options, search);
    EXPECT_TRUE(found.run());
    const RecordView source(view, vocabulary, patterns, search);
    const UninitializedArray<Candidate> candidates = found.candidates(0);
    RecordOptions record_options;
    record_options.threshold = options.threshold;
    record_options.max_predictions = 200;
    return match::predict({state, event_sizes, {}}, candidates.span(), source, record_options)
        .value();
  };
  for (int i = 0; i < 4; ++i) {
    std::vector<uint32_t> state(7);
    for (uint32_t& symbol : state) symbol = static_cast<uint32_t>(random() % kVocabulary);
    const uint64_t before = gpu.statistics().summarized;
    const Prediction with = predict_with(on_device, state);
    EXPECT_GT(gpu.statistics().summarized, before + 4096);
    const Prediction without = predict_with(on_cpu, state);
    ASSERT_EQ(with.records.size(), 200u);
    ASSERT_EQ(without.records.size(), 200u);
    for (size_t k = 0; k < with.records.size(); ++k) {
      ASSERT_EQ(with.records[k].name, without.records[k].name) << k;
      ASSERT_EQ(with.records[k].potential, without.records[k].potential) << k;
    }
  }
}

TEST(IndexDevice, IsRefusedWhereThereIsNone) {
  const auto code = [](const char* device) {
    const auto index = Index::open("", {.device = device});
    return index ? ErrorCode::internal : index.error().code;
  };
  EXPECT_EQ(code("cpu"), ErrorCode::internal);
  EXPECT_EQ(code("auto"), ErrorCode::internal);
  for (const char* const name : {"", "gpu", "cuda", "cuda:x", "cuda:0,", "cpu,cuda:0"}) {
    EXPECT_EQ(code(name), ErrorCode::invalid_argument) << name;
  }
  const ErrorCode far = code("cuda:99");
  EXPECT_TRUE(far == ErrorCode::unavailable || far == ErrorCode::not_found);
}

}  // namespace
}  // namespace hoist::match
