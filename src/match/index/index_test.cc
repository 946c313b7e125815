// An index beside the obvious one: a list of patterns that is looked through.
#include "match/index/index.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <thread>

#include "base/file.h"
#include "match/index/index_testing.h"

namespace hoist::match {
namespace {

// The patterns by name, and what is found in them one by one.
class Model {
 public:
  struct Pattern {
    std::vector<std::string> tokens;
    uint32_t frequency = 0;
    EmotiveList emotives;
  };

  void learn(const Events& events, const std::string& name, uint32_t frequency,
             const Emotives& emotives) {
    PatternText text = pattern_of(events);
    ASSERT_TRUE(normalise(text, true));
    Pattern& pattern = patterns[name];
    pattern.tokens.assign(text.tokens.begin(), text.tokens.end());
    pattern.frequency += frequency;
    if (!emotives.empty()) pattern.emotives.push_back(emotives);
    if (pattern.emotives.size() > 5) pattern.emotives.erase(pattern.emotives.begin());
  }

  static size_t lcs(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    std::vector<size_t> row(b.size() + 1);
    for (const std::string& x : a) {
      size_t diagonal = 0;
      for (size_t j = 0; j < b.size(); ++j) {
        const size_t above = row[j + 1];
        row[j + 1] = x == b[j] ? diagonal + 1 : std::max(above, row[j]);
        diagonal = above;
      }
    }
    return row.back();
  }

  // (normalised score, name), the best first.
  std::vector<std::pair<double, std::string>> search(const Events& state, double threshold,
                                                     size_t top) const {
    PatternText text = pattern_of(state);
    EXPECT_TRUE(normalise(text, true));
    const std::vector<std::string> tokens(text.tokens.begin(), text.tokens.end());
    std::vector<std::pair<double, std::string>> found;
    for (const auto& [name, pattern] : patterns) {
      const size_t raw = lcs(pattern.tokens, tokens);
      if (!reaches(Scorer::kato, raw, pattern.tokens.size(), tokens.size(), threshold)) continue;
      found.emplace_back(
          score_of(Scorer::kato, raw, pattern.tokens.size(), tokens.size()).normalized, name);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    if (top != 0 && found.size() > top) found.resize(top);
    return found;
  }

  std::map<std::string, Pattern> patterns;
};

void expect_same(const Index& index, const Model& model, std::mt19937_64& random,
                 uint32_t symbols) {
  uint64_t frequencies = 0;
  for (const auto& [name, pattern] : model.patterns) frequencies += pattern.frequency;
  const IndexStats stats = index.stats();
  ASSERT_EQ(stats.patterns, model.patterns.size());
  ASSERT_EQ(stats.frequencies, frequencies);
  const auto verified = index.verify();
  ASSERT_TRUE(verified) << verified.error().message;
  for (int i = 0; i < 5; ++i) {
    const Events state = random_events(random, symbols + 2, 20);
    const double threshold = static_cast<double>(random() % 11) / 10;
    const size_t top = random() % 3 == 0 ? 1 + random() % 20 : 0;
    const auto result = index.search(state, {.threshold = threshold, .top = top});
    ASSERT_TRUE(result) << result.error().message;
    std::vector<std::pair<double, std::string>> found;
    for (const IndexHit& hit : result->hits) found.emplace_back(hit.normalized, result->name(hit));
    ASSERT_EQ(found, model.search(state, threshold, top)) << threshold << " " << top;
  }
}

using IndexTest = IndexFolderTest;

// Learns, learns again, removes, syncs and opens again, at random.
void run_against_model(const std::string& path, uint64_t seed, int steps) {
  std::mt19937_64 random(seed);
  const uint32_t symbols = 3 + static_cast<uint32_t>(random() % 40);
  IndexOptions options;
  options.create = true;
  options.recent_patterns = static_cast<uint32_t>(random() % 30);
  options.sync_patterns = static_cast<uint32_t>(random() % 60);
  auto index = Index::open(path, options);
  ASSERT_TRUE(index) << index.error().message;
  options.create = false;
  Model model;
  for (int step = 0; step < steps; ++step) {
    const uint64_t kind = random() % 100;
    if (kind < 75) {
      const bool own = random() % 10 == 0;
      const Events events = random_events(random, symbols);
      const std::string name = own ? "own " + name_of(events) : name_of(events);
      const auto frequency = static_cast<uint32_t>(1 + random() % 3);
      Emotives emotives;
      if (random() % 5 == 0) emotives = {{"joy", static_cast<double>(random() % 100) / 10}};
      const auto learned = (*index)->learn(
          events,
          {.name = own ? name : std::string_view(), .frequency = frequency, .emotives = emotives});
      ASSERT_TRUE(learned) << learned.error().message;
      ASSERT_EQ(learned->name, name);
      ASSERT_EQ(learned->is_new, model.patterns.count(name) == 0);
      model.learn(events, name, frequency, emotives);
      ASSERT_EQ(learned->frequency, model.patterns[name].frequency);
    } else if (kind < 90 && !model.patterns.empty()) {
      auto at = model.patterns.begin();
      std::advance(at, static_cast<ptrdiff_t>(random() % model.patterns.size()));
      ASSERT_TRUE((*index)->remove(at->first));
      ASSERT_EQ((*index)->remove(at->first).error().code, ErrorCode::not_found);
      model.patterns.erase(at);
    } else if (kind < 95) {
      ASSERT_TRUE((*index)->sync());
    } else if (kind < 97 && !path.empty()) {
      index->reset();
      index = Index::open(path, options);
      ASSERT_TRUE(index) << index.error().message;
    } else {
      expect_same(**index, model, random, symbols);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  expect_same(**index, model, random, symbols);
}

TEST_F(IndexTest, AgreesWithAListOnDisk) {
  for (uint64_t i = 0; i < 4; ++i) {
    SCOPED_TRACE(i);
    run_against_model(path(), test_seed() + i, 400);
    std::filesystem::remove_all(path());
  }
}

TEST_F(IndexTest, AgreesWithAListInMemory) {
  for (uint64_t i = 0; i < 10; ++i) {
    SCOPED_TRACE(i);
    run_against_model("", test_seed() + i, 500);
  }
}

// Recent patterns become segments, and these fewer, by themselves.
TEST_F(IndexTest, FewPatternsStayRecentAndFewSegments) {
  constexpr uint32_t kRecent = 16;
  std::mt19937_64 random(test_seed());
  auto index =
      Index::open(path(), {.create = true, .recent_patterns = kRecent, .sync_patterns = 0});
  ASSERT_TRUE(index);
  Model model;
  const auto settled = [](const IndexStats& stats) {
    return stats.recent_patterns < kRecent && stats.segments.size() <= 3 * 16;
  };
  for (int i = 0; i < 4000; ++i) {
    const Events events = random_events(random, 1000);
    ASSERT_TRUE((*index)->learn(events));
    model.learn(events, name_of(events), 1, {});
  }
  while (!settled((*index)->stats())) std::this_thread::yield();
  EXPECT_EQ((*index)->stats().syncs, 0u);
  expect_same(**index, model, random, 1000);
  // What was merged after the sync is in the snapshot once the index was closed.
  ASSERT_TRUE((*index)->sync());
  index->reset();
  index = Index::open(path(), {.read_only = true});
  ASSERT_TRUE(index);
  expect_same(**index, model, random, 1000);
  EXPECT_EQ((*index)->stats().recent_patterns, 0u);
  std::map<int, int> sizes;
  for (const uint64_t live : (*index)->stats().segments) ++sizes[std::bit_width(live) / 2];
  for (const auto& [size, segments] : sizes) EXPECT_LT(segments, 4) << size;
}

// Otherwise the store's log would grow for ever where only known patterns come.
TEST_F(IndexTest, LearningAgainIsSyncedAfterTheInterval) {
  auto index = Index::open(path(), {.create = true, .sync_interval = std::chrono::seconds(1)});
  ASSERT_TRUE(index);
  ASSERT_TRUE((*index)->learn({{"a", "b"}}));
  ASSERT_TRUE((*index)->sync());
  ASSERT_TRUE((*index)->learn({{"a", "b"}}));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while ((*index)->stats().syncs < 2 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ((*index)->stats().syncs, 2u);
}

TEST_F(IndexTest, WithoutItsSnapshotItIsMadeFromTheStore) {
  std::mt19937_64 random(test_seed());
  Model model;
  {
    auto index = Index::open(path(), {.create = true});
    ASSERT_TRUE(index);
    for (int i = 0; i < 300; ++i) {
      const Events events = random_events(random, 20);
      ASSERT_TRUE((*index)->learn(events));
      model.learn(events, name_of(events), 1, {});
      if (i % 100 == 50) {
        ASSERT_TRUE((*index)->sync());
      }
    }
  }
  const std::string snapshot = path() + "/snapshot.hoist";
  for (const bool torn : {false, true}) {
    std::error_code none;
    if (torn) {
      std::filesystem::resize_file(snapshot, std::filesystem::file_size(snapshot) / 2);
    } else {
      std::filesystem::remove(snapshot, none);
    }
    auto index = Index::open(path(), {});
    ASSERT_TRUE(index) << index.error().message;
    if (torn) {
      ASSERT_TRUE((*index)->sync());
    }
    expect_same(**index, model, random, 20);
    ASSERT_TRUE((*index)->sync());
  }
}

// Whatever was damaged, and if nothing is done but to open the index.
TEST_F(IndexTest, ADamagedSnapshotIsMadeAgain) {
  {
    auto index = Index::open(path(), {.create = true});
    ASSERT_TRUE(index);
    for (int commit = 0; commit < 3; ++commit) {
      for (int n = 0; n < 2000; ++n) {
        ASSERT_TRUE((*index)->learn({{"n", std::to_string(commit)}, {std::to_string(n)}}));
      }
      ASSERT_TRUE((*index)->sync());
    }
  }
  const std::string snapshot = path() + "/snapshot.hoist";
  const std::string good = read_file(snapshot, 1 << 30).value();
  std::vector<std::string> damaged = {"", good.substr(0, 100), good.substr(0, good.size() / 2)};
  for (const size_t at : {size_t{20}, size_t{100}, good.size() / 2, good.size() - 5}) {
    damaged.push_back(good);
    damaged.back()[at] ^= 1;
  }
  for (size_t i = 0; i < damaged.size(); ++i) {
    std::ofstream(snapshot, std::ios::binary | std::ios::trunc) << damaged[i];
    {
      const auto reader = Index::open(path(), {.read_only = true});
      ASSERT_TRUE(reader) << reader.error().message;
      const auto verified = (*reader)->verify();
      ASSERT_FALSE(verified) << i;
      EXPECT_EQ(verified.error().message.find("build the index"), std::string::npos);
    }
    EXPECT_EQ(read_file(snapshot, 1 << 30).value(), damaged[i]);  // a reader changes nothing
    {
      const auto index = Index::open(path(), {.check_snapshot = true});
      ASSERT_TRUE(index) << index.error().message;
      if (i % 2 == 0) {
        ASSERT_TRUE((*index)->learn({{"n"}, {"again"}}));
      }
    }
    const auto index = Index::open(path(), {.read_only = true});
    ASSERT_TRUE(index);
    const auto verified = (*index)->verify();
    ASSERT_TRUE(verified) << i << verified.error().message;
    EXPECT_EQ(*verified, 6001u);
  }
}

TEST_F(IndexTest, BulkIsWhatLearningIs) {
  std::mt19937_64 random(test_seed());
  Model model;
  {
    auto index = Index::open(path(), {.create = true});
    ASSERT_TRUE(index);
    for (int bulk = 0; bulk < 3; ++bulk) {
      ASSERT_TRUE((*index)->begin_bulk());
      for (int i = 0; i < 300; ++i) {
        const Events events = random_events(random, 5, 5);
        ASSERT_TRUE((*index)->learn(events, {.metadata = "{\"n\":1}"}));
        model.learn(events, name_of(events), 1, {});
      }
      const std::string gone = model.patterns.begin()->first;
      ASSERT_TRUE((*index)->remove(gone));
      model.patterns.erase(gone);
      ASSERT_TRUE((*index)->end_bulk());
      expect_same(**index, model, random, 5);
    }
    EXPECT_EQ(*(*index)->metadata(model.patterns.begin()->first), "{\"n\":1}");
  }
  auto index = Index::open(path(), {});
  ASSERT_TRUE(index) << index.error().message;
  expect_same(**index, model, random, 5);
}

TEST_F(IndexTest, HasPatternsOfOneSymbolWhereAskedFor) {
  std::mt19937_64 random(test_seed());
  Model model;
  {
    auto index = Index::open(path(), {.create = true});
    ASSERT_TRUE(index);
    EXPECT_FALSE((*index)->learn(Events{{"s1"}}));
    for (const bool bulk : {false, true, false}) {
      if (bulk) {
        ASSERT_TRUE((*index)->begin_bulk());
      }
      for (int i = 0; i < 60; ++i) {
        const Events events =
            i % 3 == 0 ? Events{{"s" + std::to_string(random() % 7)}} : random_events(random, 5, 5);
        ASSERT_TRUE((*index)->learn(events, {.single_symbols = true}));
        model.learn(events, name_of(events), 1, {});
      }
      EXPECT_FALSE((*index)->learn(Events{{}}, {.single_symbols = true}));
      if (bulk) {
        ASSERT_TRUE((*index)->end_bulk());
      }
      expect_same(**index, model, random, 7);
    }
    ASSERT_TRUE((*index)->sync());
    expect_same(**index, model, random, 7);
  }
  auto index = Index::open(path(), {});
  ASSERT_TRUE(index) << index.error().message;
  expect_same(**index, model, random, 7);
  EXPECT_TRUE((*index)->verify());
}

TEST_F(IndexTest, KnowsItsPatterns) {
  auto index = Index::open(path(), {.create = true});
  ASSERT_TRUE(index);
  const Events events = {{"a", "b"}, {"c"}};
  const LearnOptions options = {
      .frequency = 3, .emotives = {{"joy", 0.5}}, .metadata = "{\"n\":1}"};
  ASSERT_TRUE((*index)->learn(events, options));
  ASSERT_TRUE((*index)->learn(events, {.emotives = {{"joy", 1}}}));
  for (const bool synced : {false, true}) {
    if (synced) {
      ASSERT_TRUE((*index)->sync());
    }
    const auto known = (*index)->pattern(name_of(events));
    ASSERT_TRUE(known);
    const std::vector<std::vector<std::string_view>> views = {{"a", "b"}, {"c"}};
    EXPECT_EQ(known->events, views);
    EXPECT_EQ(known->frequency, 4u);
    EXPECT_EQ(known->emotives, (EmotiveList{{{"joy", 0.5}}, {{"joy", 1}}}));
    EXPECT_EQ(known->metadata, "{\"n\":1}");
    const auto found = (*index)->search({{"c"}, {"a"}}, {.threshold = 0.1});
    ASSERT_TRUE(found);
    ASSERT_EQ(found->hits.size(), 1u);
    EXPECT_EQ((*index)->events(*found, found->hits[0]), views);
  }
  EXPECT_EQ((*index)->pattern("none").error().code, ErrorCode::not_found);
  ASSERT_TRUE((*index)->remove(name_of(events)));
  EXPECT_EQ((*index)->pattern(name_of(events)).error().code, ErrorCode::not_found);
}

TEST_F(IndexTest, MoreResultsThanPatternsAreAll) {
  std::mt19937_64 random(test_seed());
  auto index = Index::open("", {});
  ASSERT_TRUE(index);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE((*index)->learn(random_events(random, 9)));
    if (i == 100) {
      ASSERT_TRUE((*index)->sync());
    }
  }
  for (const Scorer scorer : {Scorer::kato, Scorer::levenshtein, Scorer::difflib}) {
    const Events state = random_events(random, 9);
    const auto all = (*index)->search(state, {.scorer = scorer, .threshold = 0, .top = 0});
    ASSERT_TRUE(all);
    EXPECT_EQ(all->hits.size(), (*index)->stats().patterns);
    for (const size_t top : {size_t{1000}, size_t{1} << 31, size_t{1} << 63, SIZE_MAX}) {
      const auto found = (*index)->search(state, {.scorer = scorer, .threshold = 0, .top = top});
      ASSERT_TRUE(found);
      ASSERT_EQ(found->hits.size(), all->hits.size());
      for (size_t i = 0; i < all->hits.size(); ++i) {
        ASSERT_EQ(found->hits[i].id, all->hits[i].id);
      }
    }
  }
}

TEST_F(IndexTest, SearchOnlyCannotLearn) {
  std::mt19937_64 random(test_seed());
  Model model;
  {
    auto index = Index::open(path(), {.create = true, .search_only = true});
    ASSERT_TRUE(index);
    ASSERT_TRUE((*index)->begin_bulk());
    for (int i = 0; i < 200; ++i) {
      const Events events = random_events(random, 9);
      ASSERT_TRUE((*index)->learn(events, {.emotives = {{"joy", 1.0}}}));
      model.learn(events, name_of(events), 1, {{"joy", 1.0}});
    }
    ASSERT_TRUE((*index)->end_bulk());
  }
  EXPECT_FALSE(std::filesystem::exists(path() + "/store"));
  auto index = Index::open(path(), {});
  ASSERT_TRUE(index) << index.error().message;
  expect_same(**index, model, random, 9);
  EXPECT_EQ((*index)->learn({{"a", "b"}}).error().code, ErrorCode::unsupported);
  EXPECT_EQ((*index)->remove(model.patterns.begin()->first).error().code, ErrorCode::unsupported);
}

TEST_F(IndexTest, OneWriterAndReadersBeside) {
  auto index = Index::open(path(), {.create = true});
  ASSERT_TRUE(index);
  ASSERT_TRUE((*index)->learn({{"a", "b"}}));
  EXPECT_EQ(Index::open(path(), {}).error().code, ErrorCode::unavailable);
  EXPECT_EQ(Index::open(path(), {.create = true}).error().code, ErrorCode::invalid_argument);
  const auto reader = Index::open(path(), {.read_only = true});
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->search({{"a"}})->hits.size(), 1u);
  EXPECT_EQ((*reader)->learn({{"a", "c"}}).error().code, ErrorCode::unavailable);
  EXPECT_EQ((*reader)->sync().error().code, ErrorCode::unavailable);
  EXPECT_EQ((*reader)->end_bulk().error().code, ErrorCode::unavailable);
  EXPECT_EQ(Index::open(folder_ + "/none", {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(Index::open(folder_ + "/made", {.create = true, .read_only = true}).error().code,
            ErrorCode::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/made"));
}

TEST_F(IndexTest, ANameStandsForOnePattern) {
  auto index = Index::open("", {});
  ASSERT_TRUE(index);
  ASSERT_TRUE((*index)->learn({{"a", "b"}}, {.name = "x"}));
  for (const bool synced : {false, true}) {
    if (synced) {
      ASSERT_TRUE((*index)->sync());
    }
    for (const Events& other :
         {Events{{"a", "c"}}, Events{{"a"}, {"b"}}, Events{{"a", "b", "c"}}}) {
      EXPECT_EQ((*index)->learn(other, {.name = "x"}).error().code, ErrorCode::invalid_argument);
    }
  }
  EXPECT_EQ((*index)->learn({{"b", "a"}}, {.name = "x"})->frequency, 2u);
  EXPECT_EQ((*index)->learn({{"a"}}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ((*index)->learn({{"a", "b"}}, {.frequency = 0}).error().code,
            ErrorCode::invalid_argument);
  // A name that looks like the digest of another pattern.
  ASSERT_TRUE((*index)->learn({{"p", "q"}}, {.name = name_of({{"r", "s"}})}));
  EXPECT_EQ((*index)->learn({{"r", "s"}}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ((*index)->stats().patterns, 2u);
}

TEST_F(IndexTest, AQueryNeverGrowsTheVocabulary) {
  auto index = Index::open("", {});
  ASSERT_TRUE(index);
  ASSERT_TRUE((*index)->learn({{"a", "b"}}));
  ASSERT_TRUE((*index)->search({{"unknown", "a", "unknown"}}));
  EXPECT_FALSE((*index)->learn({{"new"}}));
  EXPECT_EQ((*index)->stats().symbols, 2u);
}

// New symbols are numbered in the order in which they come, however many one pattern brings.
TEST_F(IndexTest, APatternOfManyNewSymbols) {
  Events events;
  for (uint32_t n = 0; n < 65'535; ++n) events.push_back({std::to_string(n % 40'000)});
  auto index = Index::open(path(), {.create = true});
  ASSERT_TRUE(index);
  ASSERT_TRUE((*index)->learn(events));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ((*index)->stats().symbols, 40'000u);
    for (uint32_t id = 0; id < 40'000; ++id) EXPECT_EQ((*index)->symbol(id), std::to_string(id));
    EXPECT_EQ((*index)->search(events, {.threshold = 1})->hits.size(), 1u);
    index->reset();
    index = Index::open(path(), {});
    ASSERT_TRUE(index);
  }
}

TEST_F(IndexTest, RefusesWhatDoesNotFit) {
  auto index = Index::open(path(), {.create = true, .max_memory = 4 << 20});
  ASSERT_TRUE(index);
  std::mt19937_64 random(test_seed());
  Result<Learned> learned;
  uint64_t count = 0;
  do {
    learned = (*index)->learn(random_events(random, 1'000'000, 50));
  } while (learned && ++count < 1'000'000);
  ASSERT_FALSE(learned);
  EXPECT_EQ(learned.error().code, ErrorCode::exhausted);
  EXPECT_NE(learned.error().message.find("4 MiB"), std::string::npos) << learned.error().message;
  ASSERT_TRUE((*index)->sync());
  index->reset();
  const auto small = Index::open(path(), {.max_memory = 100'000});
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().code, ErrorCode::exhausted);
  EXPECT_TRUE(Index::open(path(), {}));
}

TEST_F(IndexTest, DamagedSnapshotsAreRefusedOrGiveTheSameAnswers) {
  std::mt19937_64 random(test_seed());
  uint64_t patterns = 0;
  {
    auto index = Index::open(path(), {.create = true, .search_only = true});
    ASSERT_TRUE(index && (*index)->begin_bulk());
    for (int i = 0; i < 100; ++i) ASSERT_TRUE((*index)->learn(random_events(random, 9)));
    ASSERT_TRUE((*index)->end_bulk());
    patterns = (*index)->stats().patterns;
  }
  const std::string snapshot = path() + "/snapshot.hoist";
  std::string good(std::filesystem::file_size(snapshot), '\0');
  std::ifstream(snapshot, std::ios::binary)
      .read(good.data(), static_cast<std::streamsize>(good.size()));
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    if (i % 10 == 0) {
      bad.resize(random() % bad.size());
    } else {
      bad[random() % bad.size()] ^= static_cast<char>(1 + random() % 255);
    }
    std::ofstream(snapshot, std::ios::binary)
        .write(bad.data(), static_cast<std::streamsize>(bad.size()));
    const auto index = Index::open(path(), {.read_only = true});
    if (index) {
      EXPECT_EQ((*index)->stats().patterns, patterns);
      EXPECT_EQ((*index)->search({{"s1"}}, {.threshold = 0})->hits.size(), patterns);
    }
  }
}

TEST_F(IndexTest, PredictsTheSameFromEveryTier) {
  std::mt19937_64 random(test_seed());
  auto index = Index::open("", {});
  ASSERT_TRUE(index);
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE((*index)->learn(random_events(random, 12), {.emotives = {{"joy", double(i % 7)}}}));
  }
  std::vector<Events> states;
  for (int i = 0; i < 20; ++i) states.push_back(random_events(random, 13));
  states.push_back({{"s3"}});
  const auto all = [&] {
    std::vector<std::string> out;
    for (const Events& state : states) {
      PatternText text = pattern_of(state);
      const auto prediction = (*index)->predict(text, {.affinity_emotive = "joy"});
      EXPECT_TRUE(prediction);
      for (const Record& r : prediction->records) {
        out.push_back(fmt::format("{} {} {} {} {} {} {}", r.name, r.frequency, r.potential,
                                  r.similarity, r.itfdf_similarity, r.confluence,
                                  r.weighted ? r.weighted->similarity : -1));
      }
    }
    return out;
  };
  const auto recent = all();
  EXPECT_GT(recent.size(), 100u);
  ASSERT_TRUE((*index)->sync());
  EXPECT_EQ(all(), recent);
}

TEST_F(IndexFolderTest, AFileIsNoIndex) {
  const std::string file = folder_ + "/notes.txt";
  std::ofstream(file) << "text";
  for (const bool read_only : {true, false}) {
    const auto index = Index::open(file, {.read_only = read_only});
    ASSERT_FALSE(index);
    EXPECT_EQ(index.error().code, ErrorCode::not_found);
    EXPECT_NE(index.error().message.find("not a folder"), std::string::npos);
  }
}

}  // namespace
}  // namespace hoist::match
