// Segments made of others and of recent tiers, beside a map of the patterns by their names.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/test_seed.h"
#include "match/index/recent_tier.h"
#include "match/index/stable_segment.h"

namespace hoist::match {
namespace {

constexpr uint32_t kVocabulary = 50;

struct Known {
  std::vector<uint32_t> symbols;
  std::vector<uint16_t> event_sizes;
  uint32_t serial = 0;
  uint32_t frequency = 0;
  EmotiveList emotives;
};
using Model = std::map<std::string, Known>;

// Digests, and names of one's own, of which many begin alike.
std::string random_name(std::mt19937_64& random) {
  if (random() % 4 == 0) return fmt::format("pattern {}", random() % 1'000'000);
  if (random() % 50 == 0) return std::string(1, static_cast<char>('a' + random() % 26));
  NameDigest digest;
  for (uint8_t& byte : digest) byte = static_cast<uint8_t>(random());
  if (random() % 4 == 0) std::fill(digest.begin(), digest.begin() + 8, uint8_t{7});
  return digest_text(digest);
}

class Sources {
 public:
  explicit Sources(std::mt19937_64& random) : random_(random) {}

  std::shared_ptr<RecentTier> recent(uint32_t count) {
    auto tier = std::make_shared<RecentTier>();
    while (tier->size() < count) {
      const std::string name = random_name(random_);
      if (model.count(name) != 0) continue;
      Known& known = model[name];
      while (known.symbols.size() < 2 + random_() % 6) {
        known.event_sizes.push_back(static_cast<uint16_t>(1 + random_() % 3));
        for (int i = known.event_sizes.back(); i > 0; --i) {
          known.symbols.push_back(static_cast<uint32_t>(random_() % kVocabulary));
        }
      }
      known.serial = next_serial_++;
      known.frequency = static_cast<uint32_t>(1 + random_() % 9);
      if (random_() % 20 == 0) {
        known.emotives = {{{"joy", static_cast<double>(random_() % 9)}}};
        tier->emotives().set(tier->size(), std::make_shared<EmotiveList>(known.emotives));
      }
      tier->append(NameKey(name), known.symbols, known.event_sizes, known.serial, known.frequency);
      if (random_() % 10 == 0) {
        tier->at(tier->size() - 1).frequency = 0;
        model.erase(name);
      }
    }
    return tier;
  }

  std::shared_ptr<StableSegment> stable(uint32_t count, ThreadPool& pool) {
    auto built = build_stable(1, {{}, {recent(count)}}, kVocabulary, pool);
    EXPECT_TRUE(built);
    for (uint32_t i = 0; i < (*built)->size(); ++i) {
      if (random_() % 10 != 0) continue;
      const NameKey name = (*built)->name(i);
      model.erase(name.is_digest ? digest_text(name.digest) : std::string(name.text));
      (*built)->set_frequency(i, 0);
    }
    return *built;
  }

  Model model;

 private:
  std::mt19937_64& random_;
  uint32_t next_serial_ = 0;
};

void expect_same(const StableSegment& segment, const Model& model) {
  ASSERT_TRUE(check_columns(segment.columns(), kVocabulary));
  ASSERT_EQ(segment.size(), model.size());
  std::vector<uint32_t> ranks(segment.size());
  for (uint32_t i = 0; i < segment.size(); ++i) ranks[segment.view().name_rank(i)] = i;
  uint32_t rank = 0;
  std::vector<uint32_t> symbols;
  for (const auto& [name, known] : model) {
    SCOPED_TRACE(name);
    const uint32_t i = ranks[rank++];
    ASSERT_EQ(compare(segment.name(i), NameKey(name)), 0);
    segment.read_symbols(i, symbols);
    ASSERT_EQ(symbols, known.symbols);
    const auto sizes = segment.event_sizes(i);
    ASSERT_TRUE(
        std::equal(sizes.begin(), sizes.end(), known.event_sizes.begin(), known.event_sizes.end()));
    ASSERT_EQ(segment.serial(i), known.serial);
    ASSERT_EQ(segment.frequency(i), known.frequency);
    const auto emotives = segment.emotives().get(i);
    ASSERT_EQ(emotives ? *emotives : EmotiveList(), known.emotives);
    ASSERT_EQ(segment.find(NameKey(name)), i);
  }
}

TEST(BuildStable, KeepsEveryLivePatternInTheOrderOfNames) {
  std::mt19937_64 random(test_seed());
  ThreadPool pool(3);
  for (const uint32_t size : {0u, 1u, 30u, 5'000u, 20'000u}) {
    SCOPED_TRACE(size);
    Sources made(random);
    StableSources sources;
    for (int i = 0; i < 3; ++i) sources.stable.push_back(made.stable(size, pool));
    for (int i = 0; i < 2; ++i) sources.recent.push_back(made.recent(size));
    const auto built = build_stable(2, sources, kVocabulary, pool);
    ASSERT_TRUE(built);
    expect_same(**built, made.model);
  }
}

TEST(BuildStable, OfOneTierLargerThanARun) {
  std::mt19937_64 random(test_seed());
  ThreadPool pool(2);
  Sources made(random);
  const auto built = build_stable(2, {{}, {made.recent(70'000)}}, kVocabulary, pool);
  ASSERT_TRUE(built);
  expect_same(**built, made.model);
}

}  // namespace
}  // namespace hoist::match
