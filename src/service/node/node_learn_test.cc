// What one learning may bring, what it leaves where it is refused, and that what is in memory is
// written.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/test_seed.h"
#include "service/node/node.h"
#include "service/node/pattern_lines.h"

namespace hoist::service {
namespace {

using Json = nlohmann::json;
constexpr uint64_t kNumber = 7;

class NodeLearnTest : public ::testing::Test {
 protected:
  NodeLearnTest() { open(); }
  ~NodeLearnTest() override {
    node_.reset();
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  // Anew, from what is in the folder.
  void open(uint64_t max_memory = UINT64_MAX) {
    node_.reset();
    store_.reset();
    std::filesystem::create_directories(folder_ + "/nodes");
    auto store = SideStore::open(folder_ + "/service.db", match::Durability::batch);
    ASSERT_TRUE(store) << store.error().message;
    store_ = *std::move(store);
    NodeOptions options;
    options.folder = folder_;
    options.device = "cpu";
    options.max_memory = max_memory;
    auto node = Node::open("node", kNumber, options, *store_);
    ASSERT_TRUE(node) << node.error().message;
    node_ = *std::move(node);
  }

  // From now on the store takes nothing, as on a full disk, until it is mended.
  void break_store() {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before = {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
    SideStore::Batch batch;
    batch.put("junk", std::string(1 << 20, 'x'));
    EXPECT_FALSE(store_->write(batch));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_TRUE(store_->is_broken());
  }

  size_t patterns() const {
    const auto index = node_->index();
    return index != nullptr ? index->stats().patterns : 0;
  }
  // Whether it is a neighbour of what is near.
  bool knows(const std::vector<double>& vector) const {
    std::vector<double> near = vector;
    near[0] += 0.25;
    return node_->observe_vectors({{near}}).value().symbols.size() > 1;
  }
  std::string metadata(const std::string& name) const {
    return node_->index()->metadata(name).value();
  }

  const std::string folder_ =
      ::testing::TempDir() + "node_learn_test_" + std::to_string(::getpid());
  std::unique_ptr<SideStore> store_;
  std::unique_ptr<Node> node_;
};

Event symbols(size_t count, size_t bytes = 8) {
  Event event;
  for (size_t i = 0; i < count; ++i) {
    std::string symbol = std::to_string(i);
    event.push_back(symbol.append(bytes - std::min(bytes, symbol.size()), 's'));
  }
  return event;
}

match::EmotiveList emotives(size_t count) {
  match::Emotives one;
  for (size_t i = 0; i < count; ++i) one.emplace_back("e" + std::to_string(i), 1.0);
  std::sort(one.begin(), one.end());
  return {one};
}

// So many values, each of some ten bytes.
PatternMetadata values(size_t count, const std::string& mark = "m") {
  PatternMetadata metadata;
  for (size_t i = 0; i < count; ++i) metadata["k"].insert(mark + std::to_string(1'000'000 + i));
  return metadata;
}

TEST_F(NodeLearnTest, TooManyAffinitiesAreRefusedAndNothingHasChanged) {
  const std::vector<std::vector<double>> vectors = {{1, 2}};
  const auto is_refused = [&](const Event& event, const match::EmotiveList& felt) {
    const auto learned = node_->learn({event}, felt, {}, vectors);
    ASSERT_FALSE(learned);
    EXPECT_EQ(learned.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(learned.error().message.find("affinities"), std::string::npos);
    EXPECT_FALSE(node_->learn({.name = "n", .events = {event}, .emotives = felt, .metadata = {}}));
    EXPECT_EQ(patterns(), 0U);
    EXPECT_TRUE(node_->affinities()->all().empty());
    EXPECT_FALSE(knows(vectors[0]));
  };
  is_refused(symbols(1001), emotives(1000));
  is_refused(symbols(20, 60'000), emotives(60));  // few, with long names
  // The same symbol and the same emotive again count once.
  Event again(2000, "s");
  match::EmotiveList felt(1000, emotives(1)[0]);
  EXPECT_TRUE(node_->learn({again}, felt, {}, vectors));
  EXPECT_EQ(node_->affinities()->of("s", "e0"), 1);
  EXPECT_TRUE(node_->learn({symbols(300)}, emotives(300), {}));
  EXPECT_EQ(node_->affinities()->all().size(), 301U);
  open();
  EXPECT_EQ(node_->affinities()->all().size(), 301U);
  EXPECT_EQ(node_->affinities()->of(symbols(300)[299], "e299"), 1);
  EXPECT_TRUE(knows(vectors[0]));
}

TEST_F(NodeLearnTest, AffinitiesCountAsMemory) {
  open(4 << 20);
  ASSERT_TRUE(node_->learn({{"a"}, {"b"}}, emotives(1), {}));
  Result<std::string> learned = std::string();
  size_t times = 0;
  for (; learned && times < 100; ++times) {
    learned = node_->learn({symbols(100 + times), {"last" + std::to_string(times)}},
                           emotives(100 + times), {}, {{{1.0 + static_cast<double>(times), 1}}});
  }
  ASSERT_FALSE(learned);
  EXPECT_EQ(learned.error().code, ErrorCode::exhausted);
  EXPECT_NE(learned.error().message.find("--max-memory"), std::string::npos);
  EXPECT_EQ(patterns(), times);  // the first, and all but the last
  EXPECT_TRUE(node_->affinities()->of("last" + std::to_string(times - 1)).empty());
  EXPECT_EQ(node_->learn({{"x"}, {"y"}}, emotives(20'000), {}).error().code, ErrorCode::exhausted);
  // What is known takes no more.
  EXPECT_TRUE(node_->learn({{"a"}, {"b"}}, emotives(1), {}));
  EXPECT_EQ(node_->affinities()->of("a", "e0"), 2);
}

TEST_F(NodeLearnTest, VectorsCountAsMemory) {
  open(2 << 20);
  std::vector<double> vector(1024, 0.5);
  Status learned;
  size_t times = 0;
  for (; learned && times < 1000; ++times) {
    vector[0] = static_cast<double>(times);
    learned = node_->learn_vectors({{vector}});
  }
  ASSERT_FALSE(learned);
  EXPECT_EQ(learned.error().code, ErrorCode::exhausted);
  EXPECT_EQ(node_->vector_numbers(), (times - 1) * vector.size());
  EXPECT_EQ(node_->learn({{"a"}, {"b"}}, {}, {}, {{vector}}).error().code, ErrorCode::exhausted);
  EXPECT_EQ(patterns(), 0U);
  vector[0] = 0;  // one that it has
  EXPECT_TRUE(node_->learn_vectors({{vector}}));
}

TEST_F(NodeLearnTest, AVectorThatCannotBeWrittenIsNoNeighbour) {
  const std::vector<double> first = {1, 2}, second = {2, 1};
  break_store();
  EXPECT_FALSE(node_->learn_vectors({{first}}));
  EXPECT_FALSE(node_->learn({{"a"}, {"b"}}, {}, {}, {{first}}));
  EXPECT_FALSE(knows(first));
  ASSERT_TRUE(store_->mend());
  // Twice the same, and one of another length.
  const std::vector<std::vector<double>> all = {first, first, {1, 2, 3}, second};
  EXPECT_TRUE(node_->learn_vectors(all));
  EXPECT_EQ(node_->vector_numbers(), 4U);
  open();
  EXPECT_EQ(node_->vector_numbers(), 4U);
  EXPECT_TRUE(knows(first) && knows(second));
}

TEST_F(NodeLearnTest, AffinitiesThatCannotBeWrittenAreNotAddedTwice) {
  ASSERT_TRUE(node_->learn({{"a"}, {"b"}}, emotives(1), {}));
  break_store();
  EXPECT_FALSE(node_->learn({{"a"}, {"b"}}, emotives(1), {}));
  EXPECT_EQ(node_->affinities()->of("a", "e0"), 1);
  ASSERT_TRUE(store_->mend());
  EXPECT_TRUE(node_->learn({{"a"}, {"b"}}, emotives(1), {}));
  EXPECT_EQ(node_->affinities()->of("a", "e0"), 2);
  open();
  EXPECT_EQ(node_->affinities()->of("a", "e0"), 2);
}

TEST_F(NodeLearnTest, SoMuchMetadataOfAPatternAndNoMore) {
  constexpr size_t kFits = 370'000;  // some 11 bytes each
  const std::vector<Event> events = {{"a"}, {"b"}};
  const std::string name = node_->learn(events, {}, values(1)).value();
  EXPECT_FALSE(node_->has_large_metadata());
  ASSERT_TRUE(node_->learn(events, {}, values(kFits)));
  EXPECT_TRUE(node_->has_large_metadata());
  const std::string before = metadata(name);
  EXPECT_LE(before.size(), kMostMetadata);
  // A little more, and more than would fit by itself.
  for (const PatternMetadata& more : {values(kFits, "n"), values(2 * kFits)}) {
    const auto learned = node_->learn(events, emotives(1), more, {{{1, 2}}});
    ASSERT_FALSE(learned);
    EXPECT_EQ(learned.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(learned.error().message.find("4 MiB"), std::string::npos);
    EXPECT_FALSE(node_->learn({.name = {}, .events = events, .emotives = {}, .metadata = more}));
  }
  EXPECT_TRUE(metadata(name) == before);
  EXPECT_FALSE(knows({1, 2}));
  EXPECT_TRUE(node_->affinities()->all().empty());
  EXPECT_EQ(node_->index()->pattern(name).value().frequency, 2U);
  EXPECT_TRUE(node_->learn(events, {}, values(3)));  // all of it known
  EXPECT_TRUE(metadata(name) == before);
  // A copy of it comes back, and is read as a line as imports have it.
  std::vector<std::string> lines;
  ASSERT_TRUE(node_->save([&](std::string_view line) {
    lines.emplace_back(line);
    return true;
  }));
  EXPECT_TRUE(parse_pattern_line(lines.back()));
  ASSERT_TRUE(node_->clear(kNumber + 1));
  EXPECT_FALSE(node_->has_large_metadata());
  size_t at = 0;
  auto loaded = node_->load(kNumber + 2, [&]() -> Result<std::optional<std::string>> {
    return at < lines.size() ? std::optional(lines[at++]) : std::nullopt;
  });
  ASSERT_TRUE(loaded);
  ASSERT_TRUE(node_->restore(*std::move(loaded)));
  EXPECT_TRUE(metadata(name) == before);
  EXPECT_TRUE(node_->has_large_metadata());
}

// Whoever learns meanwhile is told of what is large, and of who replaces everything.
TEST_F(NodeLearnTest, TellsThatItIsHeldLong) {
  EXPECT_FALSE(node_->is_held_long());
  ASSERT_TRUE(node_->learn({{"a"}, {"b"}}, emotives(3), values(3), {{{1, 2}}}));
  const auto is_seen_during = [&](auto act) {
    std::atomic<bool> seen = false;
    std::thread actor([&] {
      for (uint64_t i = 0; !seen; ++i) act(i);
    });
    while (!node_->is_held_long()) std::this_thread::yield();
    seen = true;
    actor.join();
    EXPECT_FALSE(node_->is_held_long());
  };
  is_seen_during([&](uint64_t) { node_->learn({{"a"}, {"b"}}, {}, values(20'000)).value(); });
  is_seen_during([&](uint64_t) { node_->learn({symbols(300)}, emotives(300), {}).value(); });
  is_seen_during([&](uint64_t i) { EXPECT_TRUE(node_->clear(kNumber + 1 + i)); });
  is_seen_during([&](uint64_t i) {
    bool is_read = false;
    const auto read = [&]() -> Result<std::optional<std::string>> {
      if (std::exchange(is_read, true)) return std::optional<std::string>();
      return std::optional<std::string>(R"({"hoist_node":2,"node_id":"node","finalized":false})");
    };
    EXPECT_TRUE(node_->restore(node_->load((kNumber << 32) + i, read).value()));
  });
}

// Two that add to the same large metadata lose nothing of each other.
TEST_F(NodeLearnTest, LargeMetadataOfManyAtOnce) {
  const std::vector<Event> events = {{"a"}, {"b"}};
  const std::string name = node_->learn(events, {}, values(20'000)).value();
  constexpr int kThreads = 3, kTimes = 20;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTimes; ++i) {
        EXPECT_TRUE(node_->learn(events, {}, {{"k", {fmt::format("{} {}", t, i)}}}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Json::parse(metadata(name))["k"].size(), 20'000U + kThreads * kTimes);
}

TEST(PatternMetadata, MergesAsSetsDo) {
  std::mt19937_64 random(test_seed());
  const std::vector<std::string> words = {"",  "a",    "b\n", "\"", "\\", "é", "\x01",
                                          "z", "\x7f", "/",   "€",  "😀",  "k"};
  const auto some = [&] {
    PatternMetadata metadata;
    for (size_t i = random() % 5; i > 0; --i) {
      auto& list = metadata[words[random() % words.size()]];
      for (size_t k = random() % 6; k > 0; --k) list.insert(words[random() % words.size()]);
    }
    return metadata;
  };
  for (int i = 0; i < 2000; ++i) {
    PatternMetadata both = some();
    const std::string before = random() % 8 == 0 ? "" : Json(both).dump();
    if (before.empty()) both.clear();
    const PatternMetadata more = some();
    for (const auto& [key, list] : more) both[key].insert(list.begin(), list.end());
    const auto merged = merge_metadata(before, more);
    ASSERT_TRUE(merged) << before;
    EXPECT_EQ(Json::parse(*merged), both.empty() ? Json::object() : Json(both)) << before;
    EXPECT_EQ(merge_metadata(*merged, more).value(), *merged);
    EXPECT_FALSE(merge_metadata(before, more, merged->size() - 1));
    EXPECT_TRUE(merge_metadata(before, more, merged->size()));
  }
  EXPECT_EQ(merge_metadata(R"({"k":"one","n":[1,"b","a","b"]})", {{"k", {"two"}}}).value(),
            R"({"k":["one","two"],"n":["a","b"]})");
  EXPECT_EQ(merge_metadata("1", {{"k", {"v"}}}).value(), R"({"k":["v"]})");
  EXPECT_EQ(merge_metadata("{", {{"k", {"v"}}}).error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace hoist::service
