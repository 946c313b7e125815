// Nodes as a whole: listed, cleared and deleted, while others use them.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "service/node/node_keys.h"
#include "service/service_testing.h"

namespace hoist::service {
namespace {

class NodesTest : public ServiceTest {
 protected:
  std::string learn_all(const std::string& node, const std::vector<Event>& events) {
    const std::string id = session(Json::object(), node);
    observe_all(id, events);
    return learn(id);
  }
  size_t folders() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/nodes")) {
      count += entry.is_directory() ? 1 : 0;
    }
    return count;
  }
  Json listed(const std::string& node) {
    const Json nodes = json("GET", "/nodes")["nodes"];
    for (const Json& one : nodes) {
      if (one["node_id"] == node) return one;
    }
    return {};
  }
  // All keys of the store, which is closed for that.
  std::vector<std::string> stored_keys() {
    router_ = {};
    service_.reset();
    std::vector<std::string> found;
    {
      const auto store = SideStore::open(folder_ + "/service.db", match::Durability::batch);
      EXPECT_TRUE(store);
      EXPECT_TRUE((*store)->scan(
          "", [&](std::string_view key, std::string_view) { found.emplace_back(key); }));
    }
    return found;
  }
};

TEST_F(NodesTest, AreListedWithWhatTheyHave) {
  EXPECT_EQ(json("GET", "/nodes"), Json({{"nodes", Json::array()}, {"count", 0}}));
  learn_all("b", {{"x"}, {"y"}});
  session(Json::object(), "a");
  session(Json::object(), "a");
  EXPECT_EQ(json("GET", "/nodes")["nodes"],
            Json({{{"node_id", "a"}, {"open", true}, {"patterns", 0}, {"sessions", 2}},
                  {{"node_id", "b"}, {"open", true}, {"patterns", 1}, {"sessions", 1}}}));
  start();
  EXPECT_EQ(listed("b"),
            Json({{"node_id", "b"}, {"open", false}, {"patterns", nullptr}, {"sessions", 0}}));
}

TEST_F(NodesTest, OneWithSessionsIsDeletedOnlyWhereThatIsMeant) {
  const std::string name = learn_all("node", {{"x"}, {"y"}});
  const auto refused = ask("DELETE", "/nodes/node");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(Json::parse(refused.body)["detail"]["sessions"], 1);
  EXPECT_EQ(ask("DELETE", "/nodes/node", {}, {{"sessions", "all"}}).status, 422);
  EXPECT_EQ(ask("DELETE", "/nodes/node", {}, {{"snapshots", "end"}}).status, 422);
  EXPECT_EQ(json("GET", "/pattern/" + name, {}, {{"node_id", "node"}})["pattern"]["status"],
            "okay");
  EXPECT_EQ(ask("DELETE", "/nodes/other").status, 404);
  EXPECT_EQ(ask("DELETE", "/nodes/" + std::string(2000, 'x')).status, 400);

  const Json deleted = json("DELETE", "/nodes/node", {}, {{"sessions", "end"}});
  EXPECT_EQ(deleted["sessions_ended"], 1);
  EXPECT_EQ(json("GET", "/sessions/count")["active_session_count"], 0);
  EXPECT_EQ(json("GET", "/pattern/" + name, {}, {{"node_id", "node"}})["pattern"]["status"],
            "error");
  EXPECT_EQ(folders(), 0U);
  EXPECT_EQ(listed("node"), Json());
  EXPECT_EQ(ask("DELETE", "/nodes/node").status, 404);
}

TEST_F(NodesTest, NothingIsLeftOfADeletedOne) {
  for (const bool open : {true, false}) {
    const std::string id = session();
    observe(id, {{"strings", {"a", "b"}}, {"vectors", {{1, 2}}}, {"emotives", {{"joy", 1}}}});
    learn(id);
    json("POST", "/sessions/" + id + "/finalize-training");
    EXPECT_EQ(folders(), 1U);
    if (!open) start();
    json("DELETE", "/nodes/node", {}, {{"sessions", "end"}});
    EXPECT_EQ(folders(), 0U);
    EXPECT_EQ(stored_keys(), std::vector<std::string>()) << open;
    start();
    // A new one knows nothing of it, vectors' lengths among it.
    const std::string fresh = session();
    EXPECT_EQ(json("GET", "/symbols/affinity", {}, {{"node_id", "node"}})["affinities"],
              Json::object());
    observe(fresh, {{"vectors", {{1, 2, 3}}}});
    json("DELETE", "/nodes/node", {}, {{"sessions", "end"}});
  }
}

TEST_F(NodesTest, SnapshotsStayAndBringItBack) {
  const std::string name = learn_all("node", {{"x"}, {"y"}});
  const std::string copy = json("POST", "/nodes/node/snapshots")["snapshot"];
  EXPECT_EQ(json("DELETE", "/nodes/node", {}, {{"sessions", "end"}})["snapshots_left"], 1);
  EXPECT_EQ(json("POST", "/nodes/node/snapshots/" + copy + "/restore")["patterns"], 1);
  EXPECT_EQ(json("GET", "/pattern/" + name, {}, {{"node_id", "node"}})["pattern"]["status"],
            "okay");
  EXPECT_EQ(json("DELETE", "/nodes/node", {}, {{"snapshots", "delete"}})["snapshots_left"], 0);
  EXPECT_EQ(ask("POST", "/nodes/node/snapshots/" + copy + "/restore").status, 404);
}

// What a node has is more than a client may send at once.
TEST_F(NodesTest, SnapshotsOfAnySizeComeBack) {
  const auto node = service_->nodes().get("node").value();
  constexpr size_t kVectors = 1100, kNumbers = 1024, kValues = 1100;
  std::vector<double> vector(kNumbers);
  for (size_t i = 0; i < 2 * kVectors; ++i) {
    vector[i % kNumbers] = static_cast<double>(i) + 0.5;
    ASSERT_TRUE(node->learn_vectors(std::span(&vector, 1)));
  }
  for (size_t i = 0; i < kValues; ++i) {
    const Event event = {"s" + std::to_string(i), "t"};
    ASSERT_TRUE(node->learn({event}, {{{"fear", -0.25}, {"joy", 1.0}}}, {{"k", {event[0]}}}));
  }
  node->finalize_training().value();
  const auto lines_of = [](const Node& of) {
    std::multiset<std::string> lines;
    EXPECT_TRUE(of.save([&](std::string_view line) {
      lines.emplace(line);
      return true;
    }));
    return lines;
  };
  const std::multiset<std::string> before = lines_of(*node);
  EXPECT_EQ(before.size(), 1 + kValues + 1 + 2 * kVectors + kValues);
  const std::string copy = json("POST", "/nodes/node/snapshots")["snapshot"];
  json("DELETE", "/nodes/node");
  EXPECT_EQ(json("POST", "/nodes/node/snapshots/" + copy + "/restore")["patterns"], kValues);
  EXPECT_TRUE(lines_of(*service_->nodes().get("node").value()) == before);
}

TEST_F(NodesTest, DamagedSnapshotsChangeNothing) {
  const std::string name = learn_all("node", {{"x"}, {"y"}});
  const std::string copy = json("POST", "/nodes/node/snapshots")["snapshot"];
  learn_all("node", {{"x"}, {"z"}});
  std::string path;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ + "/snapshots")) {
    if (entry.is_regular_file()) path = entry.path();
  }
  const std::string whole = read_file(path, 1 << 20).value();
  const auto restored_with = [&](const std::string& text) {
    std::ofstream(path, std::ios::trunc | std::ios::binary) << text;
    return ask("POST", "/nodes/node/snapshots/" + copy + "/restore");
  };
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    EXPECT_GE(restored_with(damaged).status, 400) << at << ": " << damaged;
    if (at % 7 != 0) continue;
    EXPECT_GE(restored_with(whole.substr(0, at)).status, 400) << at;
  }
  EXPECT_GE(restored_with(whole + whole).status, 400);
  EXPECT_EQ(listed("node")["patterns"], 2);
  EXPECT_EQ(folders(), 1U);
  EXPECT_EQ(restored_with(whole).status, 200);
  EXPECT_EQ(listed("node")["patterns"], 1);
  EXPECT_EQ(json("GET", "/pattern/" + name, {}, {{"node_id", "node"}})["pattern"]["status"],
            "okay");
}

TEST_F(NodesTest, SnapshotsOfTheFirstFormatComeBack) {
  const std::string lines[] = {
      R"({"affinities":{"a":{"joy":2.0}},"finalized":true,"hoist_node":1,"node_id":"node",)"
      R"("vectors":[[1.0,2.0]]})",
      R"({"name":"","events":[["a"],["b"]],"frequency":3})"};
  const auto node = service_->nodes().get("node").value();
  size_t at = 0;
  const auto read = [&]() -> Result<std::optional<std::string>> {
    return at < std::size(lines) ? std::optional(lines[at++]) : std::nullopt;
  };
  EXPECT_EQ(service_->nodes().restore("node", read).value(), 1U);
  EXPECT_TRUE(node->is_finalized());
  EXPECT_EQ(node->affinities()->of("a", "joy"), 2.0);
  EXPECT_EQ(node->observe_vectors({{std::vector<double>{1, 2}}}).value().symbols.size(), 1U);
}

// A snapshot has the one or the other, never parts of both.
TEST_F(NodesTest, SnapshotsWhileOthersAreRestored) {
  std::vector<std::string> copies;
  for (const std::string name : {"x", "y"}) {
    const std::string id = session();
    json("POST", "/sessions/" + id + "/clear-all");
    observe(id, {{"strings", {name, name + "2"}}, {"emotives", {{name, 1}}}});
    learn(id);
    copies.push_back(json("POST", "/nodes/node/snapshots")["snapshot"]);
  }
  std::atomic<bool> ends = false;
  std::thread restorer([&] {
    for (size_t i = 0; !ends; ++i) {
      json("POST", "/nodes/node/snapshots/" + copies[i % 2] + "/restore");
    }
  });
  const auto node = service_->nodes().get("node").value();
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    ASSERT_TRUE(node->save([&](std::string_view line) {
      text.append(line);
      return true;
    }));
    EXPECT_NE(text.find("\"x\"") == text.npos, text.find("\"y\"") == text.npos) << text;
  }
  ends = true;
  restorer.join();
}

TEST_F(NodesTest, SnapshotsAreMadeWhileOthersAreDeleted) {
  learn_all("node", {{"x"}, {"y"}});
  std::atomic<bool> ends = false;
  std::thread maker([&] {
    while (!ends) {
      const auto made = ask("POST", "/nodes/node/snapshots");
      EXPECT_TRUE(made.status == 200 || made.status == 503) << made.body;
    }
  });
  for (int i = 0; i < 100; ++i) {
    const auto deleted =
        ask("DELETE", "/nodes/node", {}, {{"sessions", "end"}, {"snapshots", "delete"}});
    EXPECT_TRUE(deleted.status == 200 || deleted.status == 404) << deleted.body;
  }
  ends = true;
  maker.join();
}

// What is answered by 200 is learned by the node that is there or was there; nothing is written for
// one that is gone.
TEST_F(NodesTest, AreDeletedAndClearedWhileOthersLearnInThem) {
  start(false, 3);
  constexpr int kRounds = 40;
  std::atomic<bool> ends = false;
  std::atomic<uint64_t> learned = 0, refused = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; !ends; ++i) {
        const std::string node = "node" + std::to_string(i % 4);
        const auto made = ask("POST", "/sessions", {{"node_id", node}});
        ASSERT_EQ(made.status, 200) << made.body;
        const std::string path =
            "/sessions/" + Json::parse(made.body)["session_id"].get<std::string>();
        const Json seen = {{"strings", {"a", std::to_string(t), std::to_string(i % 7)}},
                           {"vectors", {{1, i % 5}}},
                           {"emotives", {{"joy", 1}}},
                           {"metadata", {{"k", i}}}};
        for (const auto& [method, step] :
             std::vector<std::pair<std::string, std::string>>{{"POST", "/observe"},
                                                              {"POST", "/learn"},
                                                              {"POST", "/observe"},
                                                              {"GET", "/predictions"}}) {
          const auto answer = ask(method, path + step, step == "/observe" ? seen : Json());
          // The session, or its node, may be gone; memory that was never filled cannot be learned.
          EXPECT_TRUE(answer.status == 200 || answer.status == 404 || answer.status == 400)
              << answer.status << answer.body;
          ++(answer.status == 200 ? learned : refused);
        }
      }
    });
  }
  for (int i = 0; i < kRounds; ++i) {
    const std::string node = "node" + std::to_string(i % 4);
    if (i % 3 == 0) {
      const std::string id = session(Json::object(), node);
      ask("POST", "/sessions/" + id + "/clear-all");
    } else {
      const auto deleted = ask("DELETE", "/nodes/" + node, {}, {{"sessions", "end"}});
      EXPECT_TRUE(deleted.status == 200 || deleted.status == 404) << deleted.body;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(learned, 0U);

  for (int n = 0; n < 4; ++n) {
    ask("DELETE", "/nodes/node" + std::to_string(n), {}, {{"sessions", "end"}});
  }
  EXPECT_EQ(json("GET", "/nodes")["count"], 0);
  EXPECT_EQ(folders(), 0U);
  EXPECT_EQ(stored_keys(), std::vector<std::string>());
}

}  // namespace
}  // namespace hoist::service
