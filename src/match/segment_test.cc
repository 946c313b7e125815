#include <gtest/gtest.h>

#include <random>

#include "base/test_seed.h"
#include "match/segment_builder.h"

namespace hoist::match {
namespace {

struct Patterns {
  std::vector<uint32_t> symbols;
  std::vector<uint64_t> ends;
  uint32_t vocabulary = 0;

  void add(std::span<const uint32_t> pattern) {
    symbols.insert(symbols.end(), pattern.begin(), pattern.end());
    ends.push_back(symbols.size());
  }
  std::vector<uint32_t> at(size_t i) const {
    const auto begin = symbols.begin() + static_cast<long>(i == 0 ? 0 : ends[i - 1]);
    return {begin, symbols.begin() + static_cast<long>(ends[i])};
  }
  SegmentInput input() const { return {symbols, ends, vocabulary}; }
};

Patterns random_patterns(std::mt19937_64& random, std::span<const uint32_t> lengths,
                         uint32_t vocabulary) {
  Patterns patterns;
  patterns.vocabulary = vocabulary;
  std::vector<uint32_t> pattern;
  for (const uint32_t length : lengths) {
    pattern.resize(length);
    for (uint32_t& symbol : pattern) symbol = static_cast<uint32_t>(random() % vocabulary);
    patterns.add(pattern);
  }
  return patterns;
}

void expect_round_trip(const Patterns& patterns) {
  const Result<Segment> segment = build_segment(patterns.input());
  ASSERT_TRUE(segment) << segment.error().message;
  const SegmentView view = segment->view();
  ASSERT_TRUE(check_segment(view));
  ASSERT_EQ(view.pattern_count(), patterns.ends.size());
  std::vector<uint32_t> symbols;
  for (uint64_t i = 0; i < view.pattern_count(); ++i) {
    ASSERT_TRUE(read_pattern(view, i, symbols));
    ASSERT_EQ(symbols, patterns.at(view.name_rank(i))) << i;
    ASSERT_EQ(view.bucket_of(i).length, symbols.size());
    if (i > 0 && view.bucket_of(i - 1).length == symbols.size()) {
      ASSERT_LT(view.name_rank(i - 1), view.name_rank(i));
    }
  }
}

TEST(Segment, KeepsPatternsOfAllLengths) {
  std::mt19937_64 random(test_seed());
  std::vector<uint32_t> lengths = {0, 0, 65'535, 256, 257, 257};
  for (int i = 0; i < 2000; ++i) lengths.push_back(static_cast<uint32_t>(random() % 40));
  for (int i = 0; i < 15; ++i) lengths.push_back(300);
  for (int i = 0; i < 16; ++i) lengths.push_back(301);
  for (int i = 0; i < 33; ++i) lengths.push_back(302);
  for (int i = 0; i < 48; ++i) lengths.push_back(303);
  std::shuffle(lengths.begin(), lengths.end(), random);
  expect_round_trip(random_patterns(random, lengths, 500));
}

TEST(Segment, TakesWideSymbolsBeyond65535) {
  std::mt19937_64 random(test_seed());
  for (const uint32_t distinct : {65'535u, 65'536u}) {
    Patterns patterns;
    patterns.vocabulary = 2 * distinct;
    for (uint32_t i = 0; i < distinct; i += 3) {
      const uint32_t end = std::min(i + 3, distinct);
      std::vector<uint32_t> pattern;
      for (uint32_t symbol = i; symbol < end; ++symbol) pattern.push_back(2 * symbol);
      patterns.add(pattern);
    }
    expect_round_trip(patterns);
    const Result<Segment> segment = build_segment(patterns.input());
    EXPECT_EQ(segment->view().symbols16.empty(), distinct > 65'535);
    EXPECT_EQ(segment->view().dense_symbols.size(), distinct);
  }
}

TEST(Segment, StaysWithin34BytesAPattern) {
  std::mt19937_64 random(test_seed());
  const std::vector<uint32_t> lengths(100'000, 15);
  const Result<Segment> segment = build_segment(random_patterns(random, lengths, 31'029).input());
  const SegmentView view = segment->view();
  EXPECT_LE(view.symbols16.size_bytes() + view.name_ranks.size_bytes(), 34 * lengths.size() + 1024);
}

TEST(Segment, RefusesWrongInput) {
  const std::vector<uint32_t> symbols = {1, 2, 3};
  const auto refused = [&](std::vector<uint64_t> ends, uint32_t vocabulary) {
    const Result<Segment> segment = build_segment({symbols, ends, vocabulary});
    return !segment && segment.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(refused({2, 1, 3}, 4));
  EXPECT_TRUE(refused({2}, 4));
  EXPECT_TRUE(refused({2, 5}, 4));
  EXPECT_TRUE(refused({3}, 3));
  EXPECT_FALSE(refused({3}, 4));
  const std::vector<uint32_t> long_pattern(65'536);
  const std::vector<uint64_t> end = {65'536};
  EXPECT_FALSE(build_segment({long_pattern, end, 1}));
}

TEST(Segment, ChecksViews) {
  std::mt19937_64 random(test_seed());
  const std::vector<uint32_t> lengths = {3, 3, 5, 5, 5, 900};
  const Result<Segment> segment = build_segment(random_patterns(random, lengths, 9).input());
  const auto corrupt = [&](auto damage) {
    std::vector<LengthBucket> buckets = segment->buckets;
    std::vector<uint32_t> ranks = segment->name_ranks;
    SegmentView view = segment->view();
    view.buckets = buckets;
    view.name_ranks = ranks;
    damage(view, buckets, ranks);
    const Status status = check_segment(view);
    return !status && status.error().code == ErrorCode::corrupt;
  };
  EXPECT_FALSE(corrupt([](auto&, auto&, auto&) {}));
  EXPECT_TRUE(corrupt([](auto&, auto& b, auto&) { b[1].length = 3; }));
  EXPECT_TRUE(corrupt([](auto&, auto& b, auto&) { b[1].count = 0; }));
  EXPECT_TRUE(corrupt([](auto&, auto& b, auto&) { b[2].count = 2; }));
  EXPECT_TRUE(corrupt([](auto&, auto& b, auto&) { b[2].first_symbol += 32; }));
  EXPECT_TRUE(corrupt([](auto&, auto& b, auto&) { b[2].length = 70'000; }));
  EXPECT_TRUE(corrupt([](auto&, auto& b, auto&) { b[0].first_pattern = 1; }));
  EXPECT_TRUE(corrupt([](auto&, auto&, auto& r) { r[3] = 6; }));
  EXPECT_TRUE(corrupt([](SegmentView& v, auto&, auto&) {
    v.symbols16 = v.symbols16.first(v.symbols16.size() - 1);
  }));
  EXPECT_TRUE(corrupt([](SegmentView& v, auto&, auto&) { v.name_ranks = v.name_ranks.first(5); }));
  std::vector<uint32_t> out;
  EXPECT_FALSE(read_pattern(segment->view(), 6, out));
  SegmentView without_symbols = segment->view();
  without_symbols.dense_symbols = {};
  EXPECT_EQ(read_pattern(without_symbols, 0, out).error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace hoist::match
