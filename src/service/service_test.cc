// What the service answers.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "base/test_seed.h"
#include "match/vocabulary/pattern.h"
#include "service/origins.h"
#include "service/service_testing.h"
#include "service/session/python_text.h"
#include "service/session/session_record.h"

namespace hoist::service {
namespace {

TEST_F(ServiceTest, ObservesLearnsAndPredicts) {
  const std::string id = session();
  const Json observed = observe(id, {{"strings", {"b", "a"}}});
  EXPECT_EQ(observed["status"], "okay");
  EXPECT_EQ(observed["stm_length"], 1);
  EXPECT_EQ(observed["time"], 1);
  EXPECT_TRUE(observed["auto_learned_pattern"].is_null());
  observe_all(id, {{"c"}, {}, {"d"}});
  EXPECT_EQ(stm(id), Json({{"a", "b"}, {"c"}, {"d"}}));
  const std::vector<Event> events = {{"a", "b"}, {"c"}, {"d"}};
  const std::string name = match::pattern_name(match::pattern_of(events));
  EXPECT_EQ(learn(id), "PTRN|" + name);
  EXPECT_EQ(stm(id), Json::array());
  observe_all(id, {{"a", "b"}, {"c"}});
  const Json found = predictions(id);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]["name"], name);
  EXPECT_EQ(found[0]["future"], Json({{"d"}}));
  const Json pattern = json("GET", "/pattern/PTRN|" + name, {}, {{"node_id", "node"}})["pattern"];
  EXPECT_EQ(pattern["status"], "okay");
  EXPECT_EQ(pattern["pattern"]["frequency"], 1);
  EXPECT_EQ(pattern["pattern"]["pattern_data"], Json(events));
}

TEST_F(ServiceTest, NothingToLearnIsTold) {
  const std::string id = session();
  EXPECT_EQ(ask("POST", "/sessions/" + id + "/learn").status, 400);
  observe(id, {{"strings", {"alone"}}});
  EXPECT_EQ(learn(id), "");
  EXPECT_EQ(stm(id), Json::array());
  EXPECT_EQ(predictions(id), Json::array());
}

TEST_F(ServiceTest, SessionsOfANodeSharePatternsAndOthersDoNot) {
  const std::string one = session({}, "x/../y"), two = session({}, "x/../y"),
                    other = session({}, "z");
  observe_all(one, {{"a"}, {"b"}});
  EXPECT_EQ(stm(two), Json::array());
  learn(one);
  for (const std::string& id : {two, other}) observe_all(id, {{"a"}, {"b"}});
  EXPECT_EQ(predictions(two).size(), 1U);
  EXPECT_EQ(predictions(other).size(), 0U);
}

TEST_F(ServiceTest, AutoLearningClearsOrRolls) {
  const std::string clear = session({{"max_pattern_length", 3}});
  observe_all(clear, {{"a"}, {"b"}});
  const Json full = observe(clear, {{"strings", {"c"}}});
  EXPECT_TRUE(full["auto_learned_pattern"].is_string());
  EXPECT_EQ(full["stm_length"], 0);
  const std::string rolling = session({{"max_pattern_length", 3}, {"stm_mode", "ROLLING"}});
  observe_all(rolling, {{"a"}, {"b"}, {"c"}});
  EXPECT_EQ(stm(rolling), Json({{"b"}, {"c"}}));
  const Json next = observe(rolling, {{"strings", {"d"}}});
  const std::vector<Event> events = {{"b"}, {"c"}, {"d"}};
  EXPECT_EQ(next["auto_learned_pattern"], "PTRN|" + match::pattern_name(match::pattern_of(events)));
}

TEST_F(ServiceTest, EmotivesAndMetadataGoWithThePattern) {
  const std::string id = session();
  observe(id, {{"strings", {"a"}}, {"emotives", {{"joy", 1}}}, {"metadata", {{"k", 1}}}});
  observe(id, {{"strings", {"b"}}, {"emotives", {{"joy", 3}}}, {"metadata", {{"k", true}}}});
  const std::string name = learn(id);
  Json pattern = json("GET", "/pattern/" + name, {}, {{"node_id", "node"}})["pattern"]["pattern"];
  EXPECT_EQ(pattern["emotives"], Json({{{"joy", 1.0}}, {{"joy", 3.0}}}));
  EXPECT_EQ(pattern["metadata"], Json({{"k", {"1", "True"}}}));
  EXPECT_EQ(json("GET", "/symbols/a/affinity", {}, {{"node_id", "node"}})["affinity"]["joy"], 2.0);

  const std::string again = session();
  observe(again, {{"strings", {"a"}}, {"emotives", {{"joy", 5}}}, {"metadata", {{"k", "x"}}}});
  observe(again, {{"strings", {"b"}}});
  EXPECT_EQ(learn(again), name);
  pattern = json("GET", "/pattern/" + name, {}, {{"node_id", "node"}})["pattern"]["pattern"];
  EXPECT_EQ(pattern["frequency"], 2);
  EXPECT_EQ(pattern["emotives"].size(), 3U);
  EXPECT_EQ(pattern["metadata"], Json({{"k", {"1", "True", "x"}}}));
  EXPECT_EQ(json("GET", "/symbols/a/affinity", {}, {{"node_id", "node"}})["affinity"]["joy"], 7.0);
  observe_all(again, {{"a"}, {"b"}});
  EXPECT_EQ(predictions(again)[0]["emotives"]["joy"], 3.0);
}

TEST_F(ServiceTest, VectorsBecomeSymbolsAndNeighboursOnceLearned) {
  const std::string id = session();
  const auto symbols_of = [&](const Json& vectors) {
    observe(id, {{"vectors", vectors}, {"strings", {"text"}}});
    return stm(id).back();
  };
  const Json sum = symbols_of({{1, 2}, {3, 4}});
  ASSERT_EQ(sum.size(), 2U);
  EXPECT_EQ(sum[0].get<std::string>().substr(0, 5), "VCTR|");
  EXPECT_EQ(symbols_of({{4, 6}}), sum);  // the same sum
  EXPECT_EQ(symbols_of({{100, -1}}).size(), 2U);
  learn(id);
  const Json near = symbols_of({{4, 6.1}});
  EXPECT_EQ(near.size(), 4U);  // itself, two neighbours, the text
  EXPECT_NE(std::find(near.begin(), near.end(), sum[0]), near.end());
  EXPECT_EQ(ask("POST", "/sessions/" + id + "/observe", {{"vectors", {{1, 2, 3}}}}).status, 400);
  EXPECT_EQ(ask("POST", "/sessions/" + id + "/observe", {{"vectors", {Json::array()}}}).status,
            400);
}

TEST_F(ServiceTest, ASequenceIsTakenWholeOrNotAtAll) {
  const std::string id = session();
  const Json done =
      json("POST", "/sessions/" + id + "/observe-sequence",
           {{"observations", {{{"strings", {"a"}}}, {{"strings", {"b"}}, {"unique_id", "u"}}}},
            {"learn_at_end", true}});
  EXPECT_EQ(done["observations_processed"], 2);
  EXPECT_EQ(done["results"][1]["unique_id"], "u");
  EXPECT_EQ(done["final_stm_length"], 0);
  EXPECT_EQ(done["auto_learned_patterns"].size(), 1U);
  observe(id, {{"vectors", {{1, 2}}}, {"strings", {"v"}}});
  observe(id, {{"strings", {"w"}}});
  learn(id);
  const net::HttpResponse refused =
      ask("POST", "/sessions/" + id + "/observe-sequence",
          {{"observations", {{{"strings", {"c"}}}, {{"vectors", {{1}}}}}}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(Json::parse(refused.body)["detail"]["observation_index"], 1);
  EXPECT_EQ(stm(id), Json::array());
  const Json isolated =
      json("POST", "/sessions/" + id + "/observe-sequence",
           {{"observations", {{{"strings", {"a", "b"}}}, {{"strings", {"c", "d"}}}}},
            {"learn_after_each", true},
            {"clear_stm_between", true}});
  EXPECT_EQ(isolated["auto_learned_patterns"].size(), 2U);
  EXPECT_EQ(isolated["isolated"], true);
}

TEST_F(ServiceTest, WrongBodiesAre422AndSayWhere) {
  const std::string path = "/sessions/" + session() + "/observe";
  const std::vector<std::pair<Json, const char*>> wrong = {
      {{{"strings", "a"}}, "strings"},
      {{{"strings", {1}}}, "strings"},
      {{{"strings", nullptr}}, "strings"},
      {{{"vectors", {1}}}, "vectors"},
      {{{"vectors", {{"x"}}}}, "vectors"},
      {{{"emotives", {{"joy", "x"}}}}, "emotives"},
      {{{"emotives", Json::array()}}, "emotives"},
      {{{"metadata", 1}}, "metadata"},
      {{{"strings", {std::string(70'000, 'x')}}}, "strings"}};
  for (const auto& [body, place] : wrong) {
    const net::HttpResponse answer = ask("POST", path, body);
    EXPECT_EQ(answer.status, 422) << body.dump().substr(0, 100);
    const Json detail = Json::parse(answer.body)["detail"];
    ASSERT_FALSE(detail.empty()) << answer.body;
    EXPECT_EQ(detail[0]["loc"][1], place);
  }
  for (const char* body : {"", "{", "[]", "1", "{\"strings\":[\"\\ud800\"]}", "\xff"}) {
    EXPECT_EQ(ask("POST", path, Json(std::string(body))).status, 422) << body;
  }
  EXPECT_EQ(ask("POST", path, Json(std::string(100'000, '['))).status, 422);
  EXPECT_EQ(ask("POST", "/sessions", Json::object()).status, 422);
  EXPECT_EQ(ask("POST", "/sessions", {{"node_id", 1}}).status, 422);
  EXPECT_EQ(ask("POST", "/sessions", {{"node_id", "n"}, {"ttl_seconds", -1}}).status, 422);
  EXPECT_EQ(ask("POST", "/sessions", {{"node_id", ""}}).status, 400);
  EXPECT_EQ(ask("GET", "/sessions/none/stm").status, 404);
}

TEST_F(ServiceTest, EachSettingHasItsRange) {
  const std::string id = session();
  const auto post = [&](const char* key, const Json& value) {
    return ask("POST", "/sessions/" + id + "/config", {{"config", {{key, value}}}}).status;
  };
  const std::vector<std::tuple<const char*, std::vector<Json>, std::vector<Json>>> keys = {
      {"recall_threshold", {0, 1, 0.5}, {-0.1, 1.1, "x", true}},
      {"persistence", {1, 100}, {0, 101, 1.5, "5"}},
      {"max_pattern_length", {0, 5}, {-1, 0.5, "x"}},
      {"max_predictions", {1, 10'000}, {0, 10'001, -5}},
      {"indexer_type", {"VI", "LSH"}, {"X", 1}},
      {"stm_mode", {"CLEAR", "ROLLING", "other"}, {1, Json::array()}},
      {"use_token_matching", {true, false}, {"true", 1}},
      {"process_predictions", {true}, {0}},
      {"fuzzy_token_threshold", {0, 1}, {-1, 2, "x"}},
      {"rank_sort_algo", {"potential", "weighted_snr"}, {"none", 1}},
      {"affinity_emotive", {"joy"}, {1}},
      {"filter_pipeline", {Json::array(), Json({"length", "bloom"})}, {"length", Json({"x"})}},
      {"length_min_ratio", {0, 1}, {-1, 2}},
      {"length_max_ratio", {1, 9}, {0.5, "x"}},
      {"jaccard_min_overlap", {1}, {0}},
      {"minhash_bands", {1, 100}, {0, 101}},
      {"minhash_rows", {1, 20}, {0, 21}},
      {"minhash_num_hashes", {10, 256}, {9, 257}},
      {"bloom_false_positive_rate", {0.0001, 0.1}, {0, 0.2}},
      {"max_candidates_per_stage", {100}, {99}}};
  for (const auto& [key, right, wrong] : keys) {
    for (const Json& value : right) EXPECT_EQ(post(key, value), 200) << key << " " << value.dump();
    for (const Json& value : wrong) EXPECT_EQ(post(key, value), 400) << key << " " << value.dump();
  }
  EXPECT_EQ(post("no_such_key", 1), 200);
  const Json refused = Json::parse(
      ask("POST", "/sessions/" + id + "/config", {{"recall_threshold", 2}, {"persistence", 7}})
          .body);
  EXPECT_EQ(refused["detail"]["validation_errors"]["recall_threshold"],
            "Must be a number between 0.0 and 1.0");
  const Json config = json("GET", "/sessions/" + id + "/config")["config"];
  EXPECT_EQ(config["persistence"], 100);  // nothing of a refused update holds
  EXPECT_EQ(config["stm_mode"], "CLEAR");
}

TEST_F(ServiceTest, SessionsEndAndAreExtended) {
  const std::string id = session();
  EXPECT_TRUE(json("GET", "/sessions/" + id + "/exists")["exists"]);
  EXPECT_EQ(json("GET", "/sessions/count")["active_session_count"], 1);
  EXPECT_EQ(
      json("POST", "/sessions/" + id + "/extend", {}, {{"ttl_seconds", "7200"}})["ttl_seconds"],
      7200);
  EXPECT_GT(json("GET", "/sessions/" + id)["ttl_seconds"], 7000);
  EXPECT_EQ(ask("POST", "/sessions/" + id + "/extend", {}, {{"ttl_seconds", "x"}}).status, 422);
  EXPECT_EQ(json("DELETE", "/sessions/" + id)["status"], "deleted");
  EXPECT_EQ(ask("DELETE", "/sessions/" + id).status, 404);
  EXPECT_FALSE(json("GET", "/sessions/" + id + "/exists")["exists"]);

  const std::string brief =
      json("POST", "/sessions", {{"node_id", "n"}, {"ttl_seconds", 1}})["session_id"];
  service_->sessions().find(brief)->expires_ms = now_ms() - 1;
  EXPECT_TRUE(json("GET", "/sessions/" + brief + "/exists")["expired"]);
  EXPECT_EQ(ask("GET", "/sessions/" + brief + "/stm").status, 404);
  service_->sweep();
  EXPECT_EQ(service_->sessions().size(), 0U);
  EXPECT_EQ(service_->sessions().expired(), 1U);
}

TEST_F(ServiceTest, PatternsSurviveARestartAndClearAllTakesThemAway) {
  std::string id = session();
  observe(id, {{"strings", {"a"}}, {"emotives", {{"joy", 2}}}});
  observe(id, {{"strings", {"b"}}});
  learn(id);
  start();
  EXPECT_EQ(ask("GET", "/sessions/" + id + "/stm").status, 404);
  id = session();
  observe_all(id, {{"a"}, {"b"}});
  EXPECT_EQ(predictions(id).size(), 1U);
  EXPECT_EQ(json("GET", "/symbols/affinity", {}, {{"node_id", "node"}})["affinities"]["a"]["joy"],
            2);
  EXPECT_EQ(json("POST", "/sessions/" + id + "/clear-all")["scope"], "all");
  EXPECT_EQ(stm(id), Json::array());
  observe_all(id, {{"a"}, {"b"}});
  EXPECT_EQ(predictions(id).size(), 0U);
  EXPECT_EQ(json("GET", "/symbols/affinity", {}, {{"node_id", "node"}})["affinities"],
            Json::object());
  learn(id);
  start();
  id = session();
  observe_all(id, {{"a"}, {"b"}});
  EXPECT_EQ(predictions(id).size(), 1U);
  size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/nodes")) {
    folders += entry.is_directory() ? 1 : 0;
  }
  EXPECT_EQ(folders, 1U);
}

TEST_F(ServiceTest, DurableSessionsSurviveARestart) {
  start(true);
  const std::string id = session({{"recall_threshold", 0.7}});
  observe(id, {{"strings", {"a", "é"}}, {"emotives", {{"joy", 2}}}, {"metadata", {{"k", {1}}}}});
  observe(id, {{"vectors", {{1, 2}}}});
  const Json before = stm(id), percept = json("GET", "/sessions/" + id + "/percept-data");
  const std::string gone = session();
  json("DELETE", "/sessions/" + gone);
  start(true);
  EXPECT_EQ(stm(id), before);
  EXPECT_EQ(json("GET", "/sessions/" + id + "/percept-data"), percept);
  EXPECT_EQ(json("GET", "/sessions/" + id + "/config")["config"]["recall_threshold"], 0.7);
  EXPECT_EQ(ask("GET", "/sessions/" + gone).status, 404);
  learn(id);
  start(true);
  EXPECT_EQ(stm(id), Json::array());
}

TEST_F(ServiceTest, BulkPredictionsAreThoseOfSessions) {
  std::mt19937 random(test_seed());
  const auto some_events = [&] {
    std::vector<Event> events(1 + random() % 4);
    for (Event& event : events) {
      for (size_t i = 0; i < 1 + random() % 3; ++i)
        event.push_back(std::string(1, static_cast<char>('a' + random() % 6)));
      std::sort(event.begin(), event.end());
    }
    return events;
  };
  const Json config = {{"recall_threshold", 0.3}, {"max_predictions", 5}};
  const std::string id = session(config);
  for (int i = 0; i < 40; ++i) {
    observe_all(id, some_events());
    learn(id);
  }
  Json states = Json::array();
  std::vector<Json> expected;
  for (int i = 0; i < 30; ++i) {
    const std::vector<Event> state = some_events();
    json("POST", "/sessions/" + id + "/clear-stm");
    observe_all(id, state);
    expected.push_back(predictions(id));
    states.push_back(state);
  }
  const Json bulk =
      json("POST", "/predictions", {{"node_id", "node"}, {"states", states}, {"config", config}});
  ASSERT_EQ(bulk["results"].size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(bulk["results"][i]["predictions"], expected[i]) << i;
  }
  EXPECT_EQ(ask("POST", "/predictions", {{"node_id", "node"}, {"states", {{1}}}}).status, 422);
  EXPECT_EQ(ask("POST", "/predictions", {{"states", Json::array()}}).status, 422);
  EXPECT_EQ(json("POST", "/predictions",
                 {{"node_id", "empty"}, {"states", states}})["results"][0]["count"],
            0);
}

TEST_F(ServiceTest, SnapshotsBringEverythingBack) {
  const std::string id = session();
  observe(id, {{"strings", {"a"}},
               {"emotives", {{"joy", 2}}},
               {"metadata", {{"k", "v"}}},
               {"vectors", {{1, 0}}}});
  observe(id, {{"strings", {"b"}}});
  const std::string name = learn(id);
  const auto pattern = [&] { return json("GET", "/pattern/" + name, {}, {{"node_id", "node"}}); };
  const Json before = pattern();
  const std::string snapshot = json("POST", "/nodes/node/snapshots")["snapshot"];
  EXPECT_EQ(json("GET", "/nodes/node/snapshots")["snapshots"].size(), 1U);
  json("POST", "/sessions/" + id + "/clear-all");
  EXPECT_EQ(pattern()["pattern"]["status"], "error");
  EXPECT_EQ(json("POST", "/nodes/node/snapshots/" + snapshot + "/restore")["patterns"], 1);
  EXPECT_EQ(pattern(), before);
  EXPECT_EQ(json("GET", "/symbols/a/affinity", {}, {{"node_id", "node"}})["affinity"]["joy"], 2);
  start();
  EXPECT_EQ(pattern(), before);
  EXPECT_EQ(ask("POST", "/nodes/node/snapshots/none/restore").status, 404);
  EXPECT_EQ(ask("POST", "/nodes/node/snapshots/../restore").status, 404);
  EXPECT_EQ(json("DELETE", "/nodes/node/snapshots/" + snapshot)["status"], "deleted");
  EXPECT_EQ(json("GET", "/nodes/node/snapshots")["snapshots"].size(), 0U);
}

TEST_F(ServiceTest, ForgottenPatternsAreGone) {
  const std::string id = session();
  observe_all(id, {{"a"}, {"b"}});
  const std::string name = learn(id);
  EXPECT_EQ(json("DELETE", "/pattern/" + name, {}, {{"node_id", "node"}})["status"], "deleted");
  EXPECT_EQ(ask("DELETE", "/pattern/" + name, {}, {{"node_id", "node"}}).status, 404);
  observe_all(id, {{"a"}, {"b"}});
  EXPECT_EQ(predictions(id).size(), 0U);
}

// Sessions of several threads in one node: each learns its own, and finds it at once.
TEST_F(ServiceTest, WhatIsLearnedIsInTheNextPrediction) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string id = session({{"recall_threshold", 0.9}});
      for (int i = 0; i < 25; ++i) {
        const std::vector<Event> events = {{"t" + std::to_string(t)}, {"i" + std::to_string(i)}};
        observe(id, {{"strings", events[0]}, {"emotives", {{"joy", t}}}});
        observe(id, {{"strings", events[1]}});
        const std::string name = learn(id);
        observe_all(id, events);
        const Json found = predictions(id);
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ("PTRN|" + found[0]["name"].get<std::string>(), name);
        json("POST", "/sessions/" + id + "/clear-stm");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(json("GET", "/status")["processors"]["processors"][0]["patterns"], 100);
}

TEST(Origins, OnlyTheServersOwnPagesAndAllowedOnesMayChangeThings) {
  const auto refused = [](const Origins& origins, const char* method, const char* origin,
                          const char* host, bool upgrade = false) {
    net::HttpRequest request;
    request.method = method;
    if (*origin != 0) request.headers.push_back({"origin", origin});
    request.headers.push_back({"host", host});
    if (upgrade) request.headers.push_back({"upgrade", "websocket"});
    return origins.check(request).has_value();
  };
  const Origins none({}, false);
  EXPECT_FALSE(refused(none, "POST", "", "127.0.0.1:8000"));  // no browser
  EXPECT_FALSE(refused(none, "POST", "http://127.0.0.1:8000", "127.0.0.1:8000"));
  EXPECT_FALSE(refused(none, "POST", "http://localhost:8000", "localhost:8000"));
  EXPECT_FALSE(refused(none, "GET", "https://evil.example", "127.0.0.1:8000"));
  EXPECT_TRUE(refused(none, "GET", "https://evil.example", "127.0.0.1:8000", true));
  EXPECT_TRUE(refused(none, "POST", "https://evil.example", "127.0.0.1:8000"));
  EXPECT_TRUE(refused(none, "DELETE", "null", "127.0.0.1:8000"));
  EXPECT_TRUE(refused(none, "POST", "http://127.0.0.1:9000", "127.0.0.1:8000"));
  // A name of somebody else's that leads here.
  EXPECT_TRUE(refused(none, "POST", "http://evil.example:8000", "evil.example:8000"));
  EXPECT_TRUE(refused(none, "POST", "http://localhost.evil.example", "localhost.evil.example"));
  EXPECT_FALSE(refused(Origins({}, true), "POST", "https://shop.example", "shop.example"));
  EXPECT_FALSE(refused(Origins({"https://a.example"}, false), "POST", "https://a.example", "b"));
  EXPECT_TRUE(refused(Origins({"https://a.example"}, false), "POST", "https://b.example", "b"));
  EXPECT_FALSE(refused(Origins({"*"}, false), "POST", "https://b.example", "x"));
}

TEST(PythonText, IsAsPythonWritesIt) {
  const std::vector<std::pair<Json, const char*>> texts = {
      {"it's", "it's"},
      {true, "True"},
      {nullptr, "None"},
      {3, "3"},
      {1.0, "1.0"},
      {0.1, "0.1"},
      {1e16, "1e+16"},
      {1e15, "1000000000000000.0"},
      {1e-5, "1e-05"},
      {0.0001, "0.0001"},
      {-0.0, "-0.0"},
      {1.5e300, "1.5e+300"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {2.2250738585072014e-308, "2.2250738585072014e-308"},
      {5e-324, "5e-324"},
      {Json({"a", 1}), "['a', 1]"},
      {Json({"it's"}), "[\"it's\"]"},
      {Json{{"k", {true, nullptr}}}, "{'k': [True, None]}"},
      {Json::array(), "[]"}};
  for (const auto& [value, text] : texts) EXPECT_EQ(python_text(value), text) << value.dump();
}

TEST(SessionRecord, DamageIsAnError) {
  Session session;
  session.id = "s";
  session.node = "n";
  session.stm = {{"a"}, {"b", "c"}};
  const std::string bytes = encode_session(session);
  ASSERT_TRUE(decode_session(bytes));
  std::mt19937 random(test_seed());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_session(bytes.substr(0, size)));
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    (void)decode_session(damaged);  // an error or another session, never more
  }
}

}  // namespace
}  // namespace hoist::service
