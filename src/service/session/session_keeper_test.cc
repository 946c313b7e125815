// Sessions that survive a restart.
#include "service/session/session_keeper.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "service/node/node_keys.h"
#include "service/node/side_store.h"
#include "service/service_testing.h"
#include "service/session/session_entries.h"
#include "service/session/session_parts.h"
#include "service/session/session_record.h"

namespace hoist::service {
namespace {

template <typename T>
Json list_json(const NumberedList<T>& list) {
  return {{"values", list.values()}, {"first", list.numbers().begin}};
}

// All that is to survive, with the numbers of elements.
Json state_of(Session& session) {
  const std::lock_guard lock(session.mutex);
  Json emotives = Json::array();
  for (const match::Emotives& each : session.emotives.values()) {
    emotives.push_back(emotives_json(each));
  }
  return {{"node", session.node},
          {"created", milliseconds_of(session.created)},
          {"metadata", session.metadata},
          {"ttl", session.ttl_seconds.load()},
          {"stm", list_json(session.stm)},
          {"last_state", session.last_state ? list_json(*session.last_state) : Json()},
          {"emotives", std::move(emotives)},
          {"emotives_first", session.emotives.numbers().begin},
          {"seen", list_json(session.metadata_seen)},
          {"vectors", list_json(session.vectors)},
          {"time", session.time},
          {"last", session.last ? observation_json(*session.last) : Json()},
          {"config", session.config.set()}};
}

class SessionKeeperTest : public ::testing::Test {
 protected:
  SessionKeeperTest() {
    auto store = SideStore::open(folder_, match::Durability::batch);
    EXPECT_TRUE(store) << store.error().message;
    store_ = *std::move(store);
    keeper_ = std::make_unique<SessionKeeper>(store_.get());
  }
  ~SessionKeeperTest() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::shared_ptr<Session> kept_session() {
    const Json metadata = {{"z", 1}, {"a", {1.5, nullptr, "text"}}};
    auto session = table_.create("node", {}, metadata, 0);
    EXPECT_TRUE(session);
    const std::lock_guard lock((*session)->mutex);
    EXPECT_TRUE(keeper_->keep(**session));
    return *session;
  }
  // As after a restart.
  std::shared_ptr<Session> restored(const std::string& id) {
    SessionTable table({});
    EXPECT_TRUE(SessionKeeper(store_.get()).restore(table));
    return table.find(id);
  }

  // Keys of the store, without the first letter.
  std::vector<std::string> entries(const std::string& kind = keys::kSession) {
    std::vector<std::string> list;
    EXPECT_TRUE(store_->scan(
        kind, [&](std::string_view key, std::string_view) { list.emplace_back(key); }));
    return list;
  }

  const std::string folder_ = ::testing::TempDir() + "keeper_test_" + std::to_string(::getpid());
  std::unique_ptr<SideStore> store_;
  std::unique_ptr<SessionKeeper> keeper_;
  SessionTable table_{{}};
};

TEST_F(SessionKeeperTest, WhatIsUnderWayWhenASessionEndsIsNotWritten) {
  const std::shared_ptr<Session> session = kept_session();
  ASSERT_NE(restored(session->id), nullptr);
  ASSERT_NE(table_.remove(session->id), nullptr);
  ASSERT_TRUE(keeper_->forget(*session));
  {
    const std::lock_guard lock(session->mutex);
    session->stm.push_back({"late"});
    EXPECT_TRUE(keeper_->keep(*session));
  }
  session->expires_ms += 3'600'000;
  keeper_->keep_time(*session);
  EXPECT_EQ(restored(session->id), nullptr);
}

TEST_F(SessionKeeperTest, ASessionThatIsOnlyReadLivesLongerAfterARestartToo) {
  const std::shared_ptr<Session> session = kept_session();
  const int64_t first = session->kept_expires_ms;
  EXPECT_EQ(first, session->expires_ms);
  const int64_t eighth = session->ttl_seconds * 1000 / 8;
  session->expires_ms = first + eighth;
  keeper_->keep_time(*session);
  EXPECT_EQ(session->kept_expires_ms, first);  // not yet worth a write
  session->expires_ms = first + eighth + 1;
  keeper_->keep_time(*session);
  EXPECT_EQ(session->kept_expires_ms, first + eighth + 1);
  // Asked for long after its first time ran out.
  const int64_t later = session->expires_ms += 10 * session->ttl_seconds * 1000;
  keeper_->keep_time(*session);
  const auto after = restored(session->id);
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(after->expires_ms, later);
  EXPECT_EQ(after->kept_expires_ms, later);
}

// As long as they become.
void fill(Session& session) {
  session.config.update({{"recall_threshold", 0.4}, {"affinity_emotive", "joy"}});
  session.time = 1100;
  for (int i = 0; i < 1000; ++i) {
    session.stm.push_back({fmt::format("event {}", i), "b"});
    session.emotives.push_back({{"joy", 0.1 * i}, {"pain", -1e300}});
    session.metadata_seen.push_back({{"page", i}});
    session.vectors.push_back({0.1 * i, -0.0, 1e-310});
  }
  session.last = std::make_shared<const Observation>(
      Observation{.strings = {"b", "event 999"},
                  .vectors = {{1, 2}},
                  .emotives = {{"joy", 2}},
                  .metadata = {{"y", {{"deep", true}}}, {"x", 1}},
                  .unique_id = {}});
}

TEST_F(SessionKeeperTest, ARequestWritesWhatItChanged) {
  const std::shared_ptr<Session> session = kept_session();
  fill(*session);
  const auto bytes = [&] {
    SideStore::Batch batch;
    (void)put_changes(*session, batch);
    return batch.bytes();
  };
  const size_t all = bytes();
  ASSERT_TRUE(keeper_->keep(*session));
  constexpr size_t kFew = 1000;
  EXPECT_GT(all, 50 * kFew);
  EXPECT_LT(bytes(), kFew);
  session->stm.push_back({"next"});
  session->emotives.push_back({{"joy", 1}});
  session->metadata_seen.push_back({{"page", 1}});
  session->last = std::make_shared<const Observation>(Observation{.strings = {"next"}});
  session->keep_limits();
  EXPECT_LT(bytes(), kFew);
  ASSERT_TRUE(keeper_->keep(*session));
  // What was learned stays where it is.
  session->last_state = session->stm.take();
  session->stm = session->last_state->last(7);
  EXPECT_LT(bytes(), kFew);
  ASSERT_TRUE(keeper_->keep(*session));
  EXPECT_TRUE(state_of(*restored(session->id)) == state_of(*session));
  session->last_state.reset();
  ASSERT_TRUE(keeper_->keep(*session));
  EXPECT_TRUE(state_of(*restored(session->id)) == state_of(*session));
  session->clear();
  ASSERT_TRUE(keeper_->keep(*session));
  EXPECT_EQ(entries().size(), 3U);  // head, base, config
  EXPECT_TRUE(state_of(*restored(session->id)) == state_of(*session));
  ASSERT_TRUE(keeper_->forget(*session));
  EXPECT_TRUE(entries().empty());
}

TEST_F(SessionKeeperTest, WhoseTimeRanOutIsTakenAway) {
  const std::shared_ptr<Session> ended = kept_session();
  const std::shared_ptr<Session> alive = kept_session();
  fill(*ended);
  ended->expires_ms = now_ms() - 1;
  ASSERT_TRUE(keeper_->keep(*ended));
  EXPECT_EQ(restored(ended->id), nullptr);
  EXPECT_NE(restored(alive->id), nullptr);
  EXPECT_EQ(entries().size(), 2U);
}

TEST_F(SessionKeeperTest, ManyAreRestored) {
  std::vector<std::shared_ptr<Session>> sessions;
  for (int i = 0; i < 1000; ++i) {
    sessions.push_back(kept_session());
    if (i % 3 == 0) sessions.back()->expires_ms = 0;
    sessions.back()->stm.push_back({fmt::format("{}", i)});
    ASSERT_TRUE(keeper_->keep(*sessions.back()));
  }
  SessionTable table({});
  ASSERT_TRUE(keeper_->restore(table));
  EXPECT_EQ(table.size(), 666U);
  EXPECT_EQ(entries().size(), 666U * 3);
  for (size_t i = 0; i < sessions.size(); ++i) {
    const auto session = table.find(sessions[i]->id);
    ASSERT_EQ(session == nullptr, i % 3 == 0) << i;
    if (session) {
      EXPECT_EQ(state_of(*session), state_of(*sessions[i]));
    }
  }
}

class SessionRecordTest : public SessionKeeperTest {
 protected:
  // As earlier versions wrote a session.
  Json record() const {
    return {{"id", "old"},
            {"node", "shop"},
            {"created", 1'764'288'000'123},
            {"metadata", {{"who", "me"}}},
            {"ttl", 100},
            {"expires", now_ms() + 100'000},
            {"stm", {{"b"}, {"c", "d"}}},
            {"emotives", Json::parse(R"([[["joy", 0.5], ["pain", 1.0]], []])")},
            {"metadata_seen", Json::parse(R"([{"page": 1}])")},
            {"vectors", Json::parse("[[1.0, 2.5]]")},
            {"time", 3},
            {"last",
             {{"strings", {"c", "d"}},
              {"vectors", Json::array()},
              {"emotives", Json::array()},
              {"metadata", {{"page", 1}}}}},
            {"last_state", {{"a"}, {"b"}, {"c", "d"}}},
            {"config", {{"recall_threshold", 0.4}}}};
  }
  static std::string bytes_of(const Json& json) {
    std::string bytes;
    Json::to_cbor(json, bytes);
    return bytes;
  }
  void put(const std::string& bytes) {
    SideStore::Batch batch;
    batch.put(keys::kSessionRecord + "old", bytes);
    ASSERT_TRUE(store_->write(batch));
  }
};

TEST_F(SessionRecordTest, IsReadAndWrittenAnew) {
  put(bytes_of(record()));
  const auto session = restored("old");
  ASSERT_NE(session, nullptr);
  EXPECT_TRUE(entries(keys::kSessionRecord).empty());
  EXPECT_EQ(entries().size(), 4U + 3 + 2 + 1 + 1);
  const Json expected = {{"node", "shop"},
                         {"created", 1'764'288'000'123},
                         {"metadata", {{"who", "me"}}},
                         {"ttl", 100},
                         {"stm", {{"values", {{"b"}, {"c", "d"}}}, {"first", 1}}},
                         {"last_state", {{"values", {{"a"}, {"b"}, {"c", "d"}}}, {"first", 0}}},
                         {"emotives", record()["emotives"]},
                         {"emotives_first", 0},
                         {"seen", {{"values", record()["metadata_seen"]}, {"first", 0}}},
                         {"vectors", {{"values", record()["vectors"]}, {"first", 0}}},
                         {"time", 3},
                         {"last", record()["last"]},
                         {"config", {{"recall_threshold", 0.4}}}};
  EXPECT_EQ(state_of(*session), expected);
  const auto again = restored("old");
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(state_of(*again), expected);
  EXPECT_EQ(again->expires_ms / 10'000, session->expires_ms / 10'000);
}

TEST_F(SessionRecordTest, WithoutAnythingIsReadToo) {
  Json json = record();
  for (const char* key : {"stm", "emotives", "metadata_seen", "vectors"}) json[key] = Json::array();
  for (const char* key : {"last", "last_state"}) json[key] = nullptr;
  json["config"] = Json::object();
  put(bytes_of(json));
  const auto session = restored("old");
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(entries().size(), 2U);
  EXPECT_EQ(state_of(*restored("old")), state_of(*session));
}

TEST_F(SessionRecordTest, OfNoUseIsTakenAway) {
  Json late = record();
  late["expires"] = now_ms() - 1;
  Json mixed = record();
  mixed["stm"] = {{"never", "seen"}};
  Json wrong = record();
  wrong["config"] = {{"recall_threshold", 7}};
  for (const std::string& bytes : {bytes_of(late), bytes_of(mixed), bytes_of(wrong),
                                   bytes_of(record()).substr(0, 100), std::string()}) {
    put(bytes);
    EXPECT_EQ(restored("old"), nullptr);
    EXPECT_TRUE(entries(keys::kSessionRecord).empty());
    EXPECT_TRUE(entries().empty());
  }
}

TEST_F(SessionRecordTest, DamageIsAnError) {
  const std::string bytes = bytes_of(record());
  ASSERT_TRUE(decode_session_record(bytes));
  std::mt19937 random(test_seed());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_session_record(bytes.substr(0, size)));
  }
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    (void)decode_session_record(damaged);  // an error or another session, never more
  }
}

TEST_F(SessionKeeperTest, DamageIsAnError) {
  const std::shared_ptr<Session> session = kept_session();
  session->config.update({{"recall_threshold", 0.4}});
  for (int i = 0; i < 3; ++i) {
    session->stm.push_back({fmt::format("{}", i)});
    session->emotives.push_back({{"joy", i}});
    session->metadata_seen.push_back({{"page", i}});
    session->vectors.push_back({1, 2});
  }
  session->last_state = session->stm.take();
  session->stm = session->last_state->last(2);
  session->last = std::make_shared<const Observation>(Observation{.strings = {"2"}});
  ASSERT_TRUE(keeper_->keep(*session));
  SessionEntries entries{session->id, {}};
  ASSERT_TRUE(store_->scan(keys::kSession, [&](std::string_view key, std::string_view value) {
    ASSERT_EQ(take_key_part(key), session->id);
    entries.entries.push_back({std::string(key), std::string(value)});
  }));
  ASSERT_EQ(entries.entries.size(), 4U + 4 * 3);
  const auto whole = entries.read();
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(state_of(**whole), state_of(*session));
  std::mt19937 random(test_seed());
  for (size_t i = 0; i < entries.entries.size(); ++i) {
    SessionEntries damaged = entries;
    const bool is_optional = entries.entries[i].part == "c" || entries.entries[i].part == "l";
    damaged.entries.erase(damaged.entries.begin() + static_cast<ptrdiff_t>(i));
    EXPECT_EQ(damaged.read().has_value(), is_optional) << entries.entries[i].part;
    const std::string& value = entries.entries[i].value;
    damaged = entries;
    for (size_t size = 0; size < value.size(); ++size) {
      damaged.entries[i].value = value.substr(0, size);
      EXPECT_FALSE(damaged.read()) << entries.entries[i].part;
    }
    for (int round = 0; round < 500; ++round) {
      std::string bytes = value;
      bytes[random() % bytes.size()] = static_cast<char>(random());
      damaged.entries[i].value = bytes;
      (void)damaged.read();  // an error or another session, never more
    }
  }
}

// The session as it was in memory is the one that is read back, whatever it was asked.
class RandomRequests : public ServiceTest {
 protected:
  size_t below(size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random_);
  }
  bool one_in(size_t count) { return below(count) == 0; }

  Json observation() {
    Json json = {{"strings", Json::array()}};
    for (size_t i = below(4); i > 0; --i) json["strings"].push_back(fmt::format("s{}", below(9)));
    if (one_in(3)) json["emotives"] = {{fmt::format("e{}", below(2)), 0.1 * double(below(50))}};
    if (one_in(3)) json["metadata"] = {{"z", below(5)}, {"a", {{"deep", nullptr}}}};
    if (one_in(4)) json["vectors"] = {{double(below(3)), 0.5}};
    if (one_in(9)) json["vectors"] = {{1, 2, 3}};  // of a wrong length, once there are others
    return json;
  }
  Json config() {
    const Json lengths = {nullptr, 0, 1, 2, 3, 5, 5};
    return {{"max_pattern_length", lengths[below(lengths.size())]},
            {"stm_mode", one_in(3) ? "CLEAR" : "ROLLING"}};
  }
  void ask_something(const std::string& id) {
    const std::string path = "/sessions/" + id;
    const size_t kind = below(20);
    if (kind < 10) {
      ask("POST", path + "/observe", observation());
    } else if (kind < 14) {
      Json sequence = {{"observations", Json::array()},
                       {"learn_after_each", one_in(4)},
                       {"learn_at_end", one_in(3)},
                       {"clear_stm_between", one_in(4)}};
      for (size_t i = one_in(5) ? 1005 : below(9); i > 0; --i) {
        sequence["observations"].push_back(observation());
      }
      ask("POST", path + "/observe-sequence", sequence);
    } else if (kind < 16) {
      ask("POST", path + "/learn");
    } else if (kind == 16) {
      ask("POST", path + "/clear-stm");
    } else if (kind == 17) {
      ask("POST", path + (one_in(3) ? "/clear-all" : "/clear-stm"));
    } else if (kind == 18) {
      ask("POST", path + "/config", {{"config", config()}});
    } else {
      ask("POST", path + "/extend", {}, {{"ttl_seconds", fmt::format("{}", 1000 + below(9))}});
    }
  }

  std::mt19937_64 random_{test_seed()};
};

TEST_F(RandomRequests, AreThereAfterARestart) {
  start(true);
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(json("POST", "/sessions",
                       {{"node_id", "node"},
                        {"metadata", {{"z", 1}, {"number", i}}},
                        {"config", i == 0 ? Json::object() : config()}})["session_id"]);
  }
  for (int step = 0; step < 120; ++step) {
    for (size_t i = below(3); i > 0; --i) ask_something(ids[below(ids.size())]);
    ask_something(ids[below(ids.size())]);
    std::vector<Json> before;
    for (const std::string& id : ids) before.push_back(state_of(*service_->sessions().find(id)));
    start(true);
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto session = service_->sessions().find(ids[i]);
      ASSERT_NE(session, nullptr) << step;
      ASSERT_EQ(state_of(*session), before[i]) << step;
    }
  }
  for (const std::string& id : ids) json("DELETE", "/sessions/" + id);
  service_.reset();
  const auto store = SideStore::open(folder_ + "/service.db", match::Durability::batch);
  ASSERT_TRUE(store);
  ASSERT_TRUE((*store)->scan(keys::kSession, [](std::string_view key, std::string_view) {
    ADD_FAILURE() << "left over: " << key;
  }));
}

}  // namespace
}  // namespace hoist::service
