// What the service does with what is late, large or too much.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "match/index/index.h"
#include "match/vocabulary/pattern.h"
#include "service/service_testing.h"

namespace hoist::service {
namespace {

TEST_F(ServiceTest, OnlySoManyNodesAreOpenAndNothingIsLost) {
  constexpr size_t kMostOpen = 3, kNodes = 12, kRounds = 4, kThreads = 4;
  start(false, kMostOpen);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < kNodes * kRounds; ++i) {
        const std::string node = "node" + std::to_string((i * (t + 1)) % kNodes);
        const std::string id = session(Json::object(), node);
        observe_all(id, {{node}, {"shared"}, {std::to_string(t)}});
        learn(id);
        observe_all(id, {{node}, {"shared"}});
        EXPECT_GE(predictions(id).size(), 1U) << node;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto check = [&](size_t most_open) {
    size_t frequencies = 0;
    for (size_t n = 0; n < kNodes; ++n) {
      const std::string node = "node" + std::to_string(n);
      const std::string id = session(Json::object(), node);
      observe_all(id, {{node}, {"shared"}});
      for (const Json& record : predictions(id)) {
        EXPECT_EQ(record["present"][0][0], node);
        frequencies += record["frequency"].get<size_t>();
      }
      EXPECT_LE(service_->nodes().all().size(), most_open);
    }
    EXPECT_EQ(frequencies, kNodes * kRounds * kThreads);
  };
  check(kMostOpen);
  start(false, 1);
  check(1);
}

TEST_F(ServiceTest, WhoOnlyLooksMakesNoNode) {
  start();
  const auto nobody = std::pair<std::string, std::string>("node_id", "nobody");
  EXPECT_EQ(json("GET", "/symbols/stats", {}, {nobody})["symbols"], Json::object());
  EXPECT_EQ(json("GET", "/symbols/affinity", {}, {nobody})["affinities"], Json::object());
  EXPECT_EQ(json("GET", "/symbols/a/affinity", {}, {nobody})["node_id"], "nobody");
  EXPECT_EQ(json("GET", "/pattern/x", {}, {nobody})["pattern"]["status"], "error");
  EXPECT_EQ(ask("DELETE", "/pattern/x", {}, {nobody}).status, 404);
  const Json bulk = {{"node_id", "nobody"}, {"states", {{{"a"}, {"b"}}}}};
  EXPECT_EQ(json("POST", "/predictions", bulk)["count"], 1);
  EXPECT_EQ(ask("GET", "/symbols/stats", {}, {{"node_id", ""}}).status, 400);
  EXPECT_TRUE(service_->nodes().all().empty());
  // One that is there is found, open or not.
  const std::string id = session();
  observe_all(id, {{"a"}, {"b"}});
  learn(id);
  start();
  EXPECT_EQ(json("GET", "/symbols/stats", {}, {{"node_id", "node"}})["symbols"].size(), 2U);
}

// As kill -9 leaves an index whose first pattern is being learned.
TEST_F(ServiceTest, AnIndexThatWasNotMadeToItsEndIsInNobodysWay) {
  std::filesystem::create_directories(folder_ + "/unfinished/1/store");
  const std::string id = session();
  observe_all(id, {{"a"}, {"b"}});
  const std::string name = learn(id);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/unfinished/1"));
  std::filesystem::create_directories(folder_ + "/unfinished/2/store");
  start();
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/unfinished"));
  EXPECT_EQ(json("GET", "/pattern/" + name, {}, {{"node_id", "node"}})["pattern"]["status"],
            "okay");
}

TEST_F(ServiceTest, NumbersBeyondADoublesRangeAreRefusedOrStayAtItsEnd) {
  const std::string id = session(), observe = "/sessions/" + id + "/observe";
  for (const char* number : {"nan", "inf", "-Infinity", "1e999"}) {
    EXPECT_EQ(ask("POST", observe, {{"emotives", {{"joy", number}}}}).status, 422) << number;
    EXPECT_EQ(ask("POST", observe, {{"vectors", {{1, number}}}}).status, 422) << number;
  }
  EXPECT_EQ(ask("POST", observe, {{"vectors", {{1e308, 1}, {1e308, 1}}}}).status, 400);
  EXPECT_EQ(stm(id), Json::array());
  for (int i = 0; i < 3; ++i) {
    ask("POST", observe, {{"strings", {"a", "b"}}, {"emotives", {{"joy", 1.7e308}}}});
    learn(id);
  }
  const Json felt = json("GET", "/symbols/a/affinity", {}, {{"node_id", "node"}});
  EXPECT_EQ(felt["affinity"]["joy"], std::numeric_limits<double>::max());
  const std::string copy = json("POST", "/nodes/node/snapshots")["snapshot"];
  EXPECT_EQ(json("POST", "/nodes/node/snapshots/" + copy + "/restore")["patterns"], 1);
}

TEST_F(ServiceTest, ZeroHasOneName) {
  const std::string id = session();
  observe(id, {{"vectors", {{0.0, 1}}}});
  observe(id, {{"vectors", {{-0.0, 1}}}});
  const Json memory = stm(id);
  EXPECT_EQ(memory[0], memory[1]);
}

TEST_F(ServiceTest, AnAnswerOfAnySizeIsNotToBeHad) {
  const std::string id = session();
  observe_all(id, {{"a"}, {std::string(match::kMaxSymbolBytes, 'x')}});
  learn(id);
  const Json states = std::vector<std::vector<Event>>(3000, {{"a"}, {"b"}});
  const Json few = std::vector<std::vector<Event>>(3, {{"a"}, {"b"}});
  EXPECT_EQ(json("POST", "/predictions", {{"node_id", "node"}, {"states", few}})["count"], 3);
  const auto answer = ask("POST", "/predictions", {{"node_id", "node"}, {"states", states}});
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.body.find("256 MiB"), std::string::npos) << answer.body.substr(0, 200);
}

TEST_F(ServiceTest, NorIsOneOfOneState) {
  const std::string id = session({{"recall_threshold", 0}});
  const Event large(std::vector<std::string>(64, std::string(match::kMaxSymbolBytes, 'x')));
  constexpr size_t kEnough = 80;  // patterns, each of which its prediction has at least once
  static_assert(kEnough * 64 * match::kMaxSymbolBytes > size_t{256} << 20);
  for (size_t n = 0; n < kEnough; ++n) {
    observe_all(id, {{"a"}, {"b" + std::to_string(n)}});
    observe(id, {{"strings", large}});
    learn(id);
  }
  observe_all(id, {{"a"}, {"b1"}});
  const std::string path = "/sessions/" + id + "/predictions";
  const auto answer = ask("GET", path);
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.body.find("256 MiB"), std::string::npos) << answer.body.substr(0, 200);
  json("POST", "/sessions/" + id + "/config", {{"config", {{"max_predictions", 3}}}});
  EXPECT_EQ(json("GET", path)["count"], 3);
}

TEST(ServiceFolder, IsNoIndex) {
  const std::string folder = testing::TempDir() + "service_folder_" + std::to_string(::getpid());
  ASSERT_TRUE(match::Index::open(folder, {.create = true}));
  ServiceOptions options;
  options.node.folder = folder;
  options.node.device = "cpu";
  const auto refused = Service::open(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(folder + "/service.db"));
  std::filesystem::remove_all(folder);
}

TEST(ServiceFolder, WithoutPermissionIsNotAnothersProcess) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may do everything";
  const std::string folder = testing::TempDir() + "service_blocked_" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  ASSERT_EQ(::chmod(folder.c_str(), 0500), 0);
  const auto refused = SideStore::open(folder + "/service.db", match::Durability::batch);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().code, ErrorCode::unavailable) << refused.error().message;
  std::filesystem::remove_all(folder);
}

TEST(SessionDefaults, AreReplacedWholeWhileSessionsAreAsked) {
  std::atomic<bool> ends = false;
  std::thread reader([&] {
    const SessionConfig config;
    while (!ends) {
      const double threshold = config.recall_threshold();
      EXPECT_TRUE(threshold == 0.1 || threshold == 0.7) << threshold;
      EXPECT_EQ(config.effective().size(), 23U);
    }
  });
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(SessionConfig::set_defaults({{"recall_threshold", 0.7}}).empty());
    EXPECT_TRUE(SessionConfig::set_defaults({{"max_predictions", 7}}).empty());
  }
  ends = true;
  reader.join();
  // What the file does not say any more holds no more; what is refused changes nothing.
  EXPECT_FALSE(SessionConfig::set_defaults({{"recall_threshold", 2}}).empty());
  EXPECT_TRUE(SessionConfig::set_defaults({{"recall_treshold", 0.2}}).contains("recall_treshold"));
  EXPECT_TRUE(SessionConfig::set_defaults({{"stm_mode", "ROLING"}}).contains("stm_mode"));
  EXPECT_EQ(SessionConfig().recall_threshold(), 0.1);
  EXPECT_EQ(SessionConfig().max_predictions(), 7U);
  EXPECT_TRUE(
      SessionConfig::set_defaults({{"max_predictions", nullptr}, {"rank_sort_algo", nullptr}})
          .empty());
  EXPECT_EQ(SessionConfig().max_predictions(), 100U);
  EXPECT_EQ(SessionConfig().rank(), match::RankKey::potential);
  EXPECT_TRUE(SessionConfig::set_defaults(Json::object()).empty());
  EXPECT_EQ(SessionConfig().max_predictions(), 100U);
}

}  // namespace
}  // namespace hoist::service
