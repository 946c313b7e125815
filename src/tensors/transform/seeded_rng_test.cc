#include "tensors/transform/seeded_rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "base/test_seed.h"
#include "tensors/transform/dealing.h"

namespace hoist::tensors {
namespace {

using Words = std::vector<uint32_t>;

Words words_of(const PhiloxBlock& block) { return {block.words, block.words + 4}; }

// The known answers of Random123, the authors' library.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(words_of(philox4x32(0, 0, 0)), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(words_of(philox4x32(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0})),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words_of(philox4x32(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e)),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(SeededRng, SequenceIsTheStreamInOrder) {
  const uint64_t seed = test_seed();
  SeededRng rng(seed, streams::kSigns);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(rng.next_u64(), rng.word(2 * i) | uint64_t{rng.word(2 * i + 1)} << 32);
  }
  EXPECT_EQ(rng.word(77), rng.block(19).words[1]);
  for (uint64_t i = 0; i < 300; ++i)
    EXPECT_EQ(rng.sign(i), (rng.word(i / 32) >> (i % 32) & 1) != 0);
}

TEST(SeededRng, SeedsAndStreamsDiffer) {
  std::set<uint64_t> firsts;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (const uint32_t stream : {streams::kPlain, streams::kSigns, streams::kDeal}) {
      firsts.insert(SeededRng(seed, stream).next_u64());
      firsts.insert(SeededRng(~seed, stream).next_u64());
    }
  }
  EXPECT_EQ(firsts.size(), 300u);
}

TEST(SeededRng, Moments) {
  constexpr int kDraws = 100'000;
  SeededRng rng(test_seed());
  double sum = 0;
  double square = 0;
  double uniform = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.next_normal();
    sum += x;
    square += x * x;
    const double u = rng.next_uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    uniform += u;
  }
  // Six standard deviations.
  EXPECT_NEAR(sum / kDraws, 0, 6 / std::sqrt(kDraws));
  EXPECT_NEAR(square / kDraws, 1, 6 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(uniform / kDraws, 0.5, 6 * std::sqrt(1.0 / 12 / kDraws));
}

TEST(Dealing, EveryItemIsInOnePlace) {
  std::mt19937_64 random(test_seed());
  for (const uint32_t fragments : {1u, 2u, 3u, 8u, 255u}) {
    const Dealing dealing(fragments, random());
    constexpr uint64_t kGroups = 37;
    std::set<uint64_t> items;
    for (uint32_t f = 0; f < fragments; ++f) {
      for (uint64_t group = 0; group < kGroups; ++group) {
        const uint64_t item = dealing.item(f, group);
        EXPECT_EQ(item / fragments, group);
        EXPECT_EQ(dealing.fragment(item), f);
        items.insert(item);
      }
    }
    EXPECT_EQ(items.size(), kGroups * fragments);
  }
}

TEST(Dealing, ManyAtOnceAreTheSameAsOneByOne) {
  std::mt19937_64 random(test_seed());
  for (const uint32_t n : {1u, 2u, 5u, 8u, 255u}) {
    const Dealing dealing(n, random());
    for (const uint64_t first : {0ull, 1ull, 6ull, 1ull << 40}) {
      const uint64_t groups = 1 + random() % 20;
      std::vector<float> items(groups * n);
      for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<float>(i);
      std::vector<float> values(items.size());
      dealing.deal(items, first, groups, values);
      for (uint32_t f = 0; f < n; ++f) {
        for (uint64_t i = 0; i < groups; ++i) {
          EXPECT_EQ(values[f * groups + i],
                    static_cast<float>(dealing.item(f, first + i) - first * n));
        }
      }
      std::vector<float> back(items.size());
      dealing.collect(values, first, groups, back);
      EXPECT_EQ(back, items);
    }
  }
}

// Whatever the pattern of places, a fragment has its share of them.
TEST(Dealing, PlacesOfAGroupAreEquallyLikely) {
  constexpr uint32_t kFragments = 5;
  constexpr uint64_t kGroups = 100'000;
  const Dealing dealing(kFragments, test_seed());
  std::vector<double> counts(kFragments);
  for (uint64_t group = 0; group < kGroups; ++group) ++counts[dealing.item(0, group) % kFragments];
  const double expected = static_cast<double>(kGroups) / kFragments;
  for (const double count : counts) EXPECT_NEAR(count, expected, 6 * std::sqrt(expected));
}

}  // namespace
}  // namespace hoist::tensors
