// Damage in any file of an index: opening tells of it, or everything that was acknowledged is
// there; a repair saves what it did not hit.
#include <gtest/gtest.h>
#include <rocksdb/table.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>

#include "base/file.h"
#include "match/index/index_testing.h"
#include "match/index/repair.h"
#include "match/store/log_scan.h"
#include "match/store/store_layout.h"

namespace hoist::match {
namespace {

constexpr uint32_t kPatterns = 1500;

Events events_of(uint32_t n) {
  return {{"n" + std::to_string(n)}, {"x" + std::to_string(n % 7)}, {"y"}};
}

// Another process, which is killed or closes the index once it has acknowledged all.
TEST(DamageChild, DISABLED_Learns) {
  const bool is_killed = std::getenv("HOIST_DAMAGE_KILL") != nullptr;
  const auto first = static_cast<uint32_t>(std::atoi(std::getenv("HOIST_DAMAGE_FIRST")));
  IndexOptions options;
  if (std::getenv("HOIST_DAMAGE_SYNC") != nullptr) options.durability = Durability::sync;
  auto index = Index::open(std::getenv("HOIST_DAMAGE_INDEX"), options);
  ASSERT_TRUE(index) << index.error().message;
  for (uint32_t n = first; n < first + kPatterns / 3; ++n) {
    ASSERT_TRUE((*index)->learn(events_of(n), {.metadata = "1"}));
  }
  if (is_killed) ::kill(::getpid(), SIGKILL);
}

// One that opens and closes the index all the time: each opening moves the log to a table.
TEST(DamageChild, DISABLED_OpensAgainAndAgain) {
  for (uint32_t n = 0; n < 60; ++n) {
    auto index = Index::open(std::getenv("HOIST_DAMAGE_INDEX"), {});
    ASSERT_TRUE(index) << index.error().message;
    for (uint32_t i = 0; i < 20; ++i) ASSERT_TRUE((*index)->learn(events_of(20 * n + i)));
  }
}

class DamageTest : public IndexFolderTest {
 protected:
  // In memory where there is room: each copy of an index is synced many times.
  DamageTest() {
    std::error_code error;
    constexpr uintmax_t kRoom = uintmax_t{256} << 20;
    if (std::filesystem::space("/dev/shm", error).available < kRoom || error) return;
    char name[] = "/dev/shm/hoist-damage-XXXXXX";
    if (::mkdtemp(name) == nullptr) return;
    std::filesystem::remove_all(folder_);
    folder_ = name;
  }

  pid_t start(const std::string& test, const std::function<void()>& set_environment = {}) const {
    return start_child("DamageChild.DISABLED_" + test, [&] {
      ::setenv("HOIST_DAMAGE_INDEX", path().c_str(), 1);
      if (set_environment) set_environment();
    });
  }

  void learn(uint32_t first, bool is_killed, bool is_synced = false) const {
    const pid_t child = start("Learns", [&] {
      ::setenv("HOIST_DAMAGE_FIRST", std::to_string(first).c_str(), 1);
      if (is_killed) ::setenv("HOIST_DAMAGE_KILL", "1", 1);
      if (is_synced) ::setenv("HOIST_DAMAGE_SYNC", "1", 1);
    });
    ASSERT_GT(child, 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(is_killed ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }

  // Tables, a log, and with `snapshot` that.
  void make(bool is_killed, bool has_snapshot) const {
    ASSERT_TRUE(Index::open(path(), {.create = true}));
    for (uint32_t part = 0; part < 3; ++part) {
      ASSERT_NO_FATAL_FAILURE(learn(part * kPatterns / 3, is_killed));
      if (!has_snapshot || part != 1) continue;
      auto index = Index::open(path(), {});
      ASSERT_TRUE(index && (*index)->sync());
    }
  }

  // Patterns that came beside the log.
  void make_in_bulk() const {
    auto index = Index::open(path(), {.create = true});
    ASSERT_TRUE(index);
    for (uint32_t part = 0; part < 3; ++part) {
      ASSERT_TRUE((*index)->begin_bulk());
      for (uint32_t n = part * kPatterns / 3; n < (part + 1) * kPatterns / 3; ++n) {
        ASSERT_TRUE((*index)->learn(events_of(n), {.metadata = "1"}));
      }
      ASSERT_TRUE((*index)->end_bulk());
    }
  }

  // A store as it was before there were chains and ledgers, with a table where `has_table` and the
  // rest in its log.
  void make_old(bool has_table) const {
    std::filesystem::create_directories(path());
    rocksdb::Options options = layout::database_options();
    options.create_if_missing = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory());  // other checksums
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, path() + "/store", &opened).ok());
    const std::unique_ptr<rocksdb::DB> store(opened);
    std::map<std::string, uint32_t> ids;
    const auto put = [&](const std::string& key, const std::string& value) {
      ASSERT_TRUE(store->Put(rocksdb::WriteOptions(), key, value).ok());
    };
    put(std::string(1, layout::kSettings), layout::encode_settings({}));
    for (uint32_t n = 0; n < kPatterns; ++n) {
      std::vector<uint32_t> symbols;
      for (const auto& event : events_of(n)) {
        const auto id = static_cast<uint32_t>(ids.size());
        const auto [at, is_new] = ids.try_emplace(event[0], id);
        if (is_new) put(layout::key(layout::kSymbol, id), event[0]);
        symbols.push_back(at->second);
      }
      const std::vector<uint16_t> sizes(symbols.size(), 1);
      std::string value;
      encode_pattern(name_of(events_of(n)), symbols, sizes, {1, {}}, value);
      put(layout::key(layout::kPattern, n), value);
      put(layout::key(layout::kMetadata, n), "1");
      if (has_table && n == kPatterns / 2) {
        ASSERT_TRUE(store->Flush(rocksdb::FlushOptions()).ok());
      }
    }
  }

  // The last one by name.
  std::string file_like(const std::string& part) const {
    std::string found;
    for (const std::string& file : files()) {
      if (file.find(part) != std::string::npos) found = file;
    }
    return found;
  }

  // The copy's ledger asks for what was flushed only.
  void in_another_boot() const {
    const std::string ledger = copy() + "/ledger";
    LedgerState state = (*Ledger::open(ledger, true))->state();
    state.acknowledged = state.flushed;
    std::filesystem::remove(ledger);
    ASSERT_TRUE(Ledger::create(ledger, state));
  }

  std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const auto& at : std::filesystem::recursive_directory_iterator(path())) {
      if (at.is_regular_file() && at.file_size() != 0) {
        found.push_back(std::filesystem::relative(at.path(), path()).string());
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::string copy() const { return folder_ + "/copy"; }
  std::string repaired() const { return folder_ + "/repaired"; }

  void damage(const std::string& file, const std::function<void(std::string&)>& change) const {
    std::filesystem::remove_all(copy());
    std::filesystem::copy(path(), copy(), std::filesystem::copy_options::recursive);
    std::string bytes = read_file(copy() + "/" + file, 1 << 30).value();
    change(bytes);
    std::ofstream(copy() + "/" + file, std::ios::binary | std::ios::trunc) << bytes;
  }

  static std::set<std::string> names_in(const Index& index) {
    std::set<std::string> names;
    const auto all = index.search({{"y"}}, {.threshold = 0});
    EXPECT_TRUE(all);
    for (const IndexHit& hit : all->hits) names.insert(all->name(hit));
    return names;
  }

  // Opens the copy both ways; whether it tells of damage.
  bool is_refused() const {
    bool is_refused = false;
    for (const bool read_only : {true, false}) {
      const auto index = Index::open(copy(), {.read_only = read_only});
      if (index) {
        EXPECT_EQ(names_in(**index), all_);
      } else {
        EXPECT_EQ(index.error().code, ErrorCode::corrupt) << index.error().message;
        EXPECT_NE(index.error().message.find("hoist match repair"), std::string::npos);
        is_refused = true;
      }
    }
    return is_refused;
  }

  // How many patterns a repair of the copy loses; what it has is right.
  uint64_t lost_by_repair() const {
    std::filesystem::remove_all(repaired());
    const auto report = repair_index(copy(), repaired());
    EXPECT_TRUE(report) << report.error().message;
    if (!report) return kPatterns;
    EXPECT_EQ(report->saved + report->lost, kPatterns);
    const auto index = Index::open(repaired(), {.read_only = true});
    EXPECT_TRUE(index && (*index)->verify());
    const std::set<std::string> names = names_in(**index);
    EXPECT_EQ(names.size(), report->saved);
    EXPECT_TRUE(std::includes(all_.begin(), all_.end(), names.begin(), names.end()));
    // What a pattern has beside its text lies in other blocks, of which one may be the damaged one.
    size_t without_metadata = 0;
    for (const std::string& name : names) {
      const auto metadata = (*index)->metadata(name);
      EXPECT_TRUE(metadata && (*metadata == "1" || metadata->empty())) << name;
      without_metadata += metadata && metadata->empty() ? 1 : 0;
    }
    EXPECT_LE(without_metadata, kPatterns / 3);  // a table has a third of them
    return kPatterns - names.size();
  }

  void sweep(bool is_killed, bool has_snapshot, int positions) {
    sweep_of([&] { make(is_killed, has_snapshot); }, positions, has_snapshot ? 1 : 2,
             has_snapshot ? 1 : 250);
  }

  void sweep_of(const std::function<void()>& make_index, int positions, uint64_t most_lost_of_log,
                uint64_t most_lost) {
    SKIP_UNDER_THREAD_SANITIZER();
    std::mt19937_64 random(test_seed());
    ASSERT_NO_FATAL_FAILURE(make_index());
    for (const std::string& file : files()) {
      for (int i = 0; i < positions; ++i) {
        const auto change = [&](std::string& bytes) {
          const size_t from_end = i % 4 == 0 ? random() % std::min<size_t>(bytes.size(), 64) : 0;
          const size_t at = i % 4 == 0 ? bytes.size() - 1 - from_end : random() % bytes.size();
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        };
        SCOPED_TRACE(file);
        damage(file, change);
        // A block of a table has some hundred patterns.
        const uint64_t lost = lost_by_repair();
        EXPECT_LE(lost, file.ends_with(".log") ? most_lost_of_log : most_lost);
        const bool refused = is_refused();
        EXPECT_TRUE(refused || lost == 0 || !file.ends_with(".log"));
        if (HasFailure()) return;
      }
    }
  }

  std::set<std::string> all_ = [] {
    std::set<std::string> names;
    for (uint32_t n = 0; n < kPatterns; ++n) names.insert(name_of(events_of(n)));
    return names;
  }();
};

TEST_F(DamageTest, AfterKills) { sweep(true, false, 3); }
TEST_F(DamageTest, AfterCleanCloses) { sweep(false, false, 2); }
TEST_F(DamageTest, WithASnapshot) { sweep(true, true, 2); }

// In the middle of the log, where RocksDB's own recovery would end silently, and at its very end,
// where it takes it for torn.
TEST_F(DamageTest, TheLogTellsWhatIsMissing) {
  SKIP_UNDER_THREAD_SANITIZER();
  ASSERT_NO_FATAL_FAILURE(make(true, false));
  std::string log;
  for (const std::string& file : files()) {
    if (file.ends_with(".log")) log = file;
  }
  std::vector<uint64_t> begins;
  const std::string bytes = read_file(path() + "/" + log, 1 << 30).value();
  scan_log(bytes, [&](uint64_t offset, std::string_view) { begins.push_back(offset); });
  ASSERT_GT(begins.size(), 400u);
  for (const uint64_t record : {begins[0], begins[200], begins.back()}) {
    for (const uint64_t byte : {record, record + 5, record + 6, record + 40}) {  // also size, type
      damage(log, [&](std::string& text) { text[byte] = static_cast<char>(text[byte] ^ 0x40); });
      EXPECT_EQ(lost_by_repair(), 1u);
      const auto index = Index::open(copy(), {});
      ASSERT_FALSE(index) << byte;
      EXPECT_EQ(index.error().code, ErrorCode::corrupt);
      EXPECT_NE(index.error().message.find("1 of "), std::string::npos) << index.error().message;
      EXPECT_NE(index.error().message.find(log), std::string::npos) << index.error().message;
      // Nothing was removed: a repair still finds the rest.
      EXPECT_EQ(lost_by_repair(), 1u);
    }
  }
  // The kind of a record that only a recycled log has, which RocksDB may read for ever.
  damage(log, [&](std::string& text) { text[begins.back() + 6] = 5; });
  EXPECT_FALSE(Index::open(copy(), {}));
  EXPECT_EQ(lost_by_repair(), 1u);
  // A sector of zeros, which RocksDB skips without a word, and a cut at a record's border.
  damage(log, [&](std::string& text) { text.replace(begins[100], 600, 600, '\0'); });
  EXPECT_FALSE(Index::open(copy(), {}));
  EXPECT_LT(lost_by_repair(), 30u);
  damage(log, [&](std::string& text) { text.resize(begins[300]); });
  EXPECT_FALSE(Index::open(copy(), {}));
}

// Files that are gone.
TEST_F(DamageTest, AMissingFileIsToldOf) {
  SKIP_UNDER_THREAD_SANITIZER();
  ASSERT_NO_FATAL_FAILURE(make(false, false));
  for (const std::string& file : files()) {
    if (file.find("LOG") != std::string::npos || file.find("OPTIONS") != std::string::npos ||
        file.find("IDENTITY") != std::string::npos || file.find("snapshot") != std::string::npos) {
      continue;
    }
    SCOPED_TRACE(file);
    damage(file, [](std::string&) {});
    std::filesystem::remove(copy() + "/" + file);
    EXPECT_TRUE(is_refused());
    if (file == "ledger") {
      EXPECT_EQ(lost_by_repair(), 0u);
    }
  }
  damage("ledger", [](std::string&) {});
  std::filesystem::remove_all(copy() + "/store");
  EXPECT_TRUE(is_refused());
}

// A power cut: the log ends anywhere behind what was flushed, in another boot.
TEST_F(DamageTest, ATornTailIsNoDamage) {
  SKIP_UNDER_THREAD_SANITIZER();
  ASSERT_TRUE(Index::open(path(), {.create = true}));
  ASSERT_NO_FATAL_FAILURE(learn(0, true, true));        // flushed
  ASSERT_NO_FATAL_FAILURE(learn(kPatterns / 3, true));  // not
  std::string log;
  for (const std::string& file : files()) {
    if (file.ends_with(".log")) log = file;
  }
  const std::string bytes = read_file(path() + "/" + log, 1 << 30).value();
  std::mt19937_64 random(test_seed());
  std::vector<size_t> unflushed;  // records
  scan_log(bytes, [&, n = 0u](uint64_t offset, std::string_view) mutable {
    if (++n > 20 && offset + 600 < bytes.size()) unflushed.push_back(offset);
  });
  for (int i = 0; i < 32; ++i) {
    const size_t size = i < 10 ? bytes.size() - 1 - i : random() % bytes.size();
    damage(log, [&](std::string& text) {
      // A page that did not reach the disk, where later ones did: RocksDB passes over zeros.
      const size_t hole = unflushed[random() % unflushed.size()] + (i % 2 == 0 ? 0 : 7);
      if (i >= 24) return void(text.replace(hole, 512, 512, '\0'));
      text.resize(size);
      if (i >= 10 && i % 3 == 0) text.append(4096, '\0');  // preallocated
    });
    EXPECT_FALSE(Index::open(copy(), {.read_only = true})) << "in this boot it was promised";
    ASSERT_NO_FATAL_FAILURE(in_another_boot());
    std::filesystem::remove_all(repaired());
    const auto report = repair_index(copy(), repaired());
    EXPECT_TRUE(report && report->lost == 0) << "nothing that was promised is missing";
    const auto index = Index::open(copy(), {});
    ASSERT_TRUE(index) << size << index.error().message;
    const uint64_t kept = (*index)->stats().patterns;
    EXPECT_GE(kept, kPatterns / 3);
    EXPECT_LT(kept, 2 * kPatterns / 3);
    for (uint32_t n = 0; n < kept; ++n) {
      const auto found = (*index)->metadata(name_of(events_of(n)));
      ASSERT_TRUE(found) << "not in order from the end";
    }
    ASSERT_TRUE((*index)->learn({{"on"}, {"and on"}}));
    EXPECT_TRUE((*index)->verify());
  }
}

// Closing flushes: what is cut off later is missed in another boot, too.
TEST_F(DamageTest, WhatACleanCloseLeftIsPromised) {
  SKIP_UNDER_THREAD_SANITIZER();
  ASSERT_TRUE(Index::open(path(), {.create = true}));
  ASSERT_NO_FATAL_FAILURE(learn(0, false));
  const std::string log = file_like(".log");
  std::vector<uint64_t> begins;
  scan_log(read_file(path() + "/" + log, 1 << 30).value(),
           [&](uint64_t offset, std::string_view) { begins.push_back(offset); });
  damage(log, [&](std::string& text) { text.resize(begins.back()); });
  ASSERT_NO_FATAL_FAILURE(in_another_boot());
  const auto index = Index::open(copy(), {});
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().code, ErrorCode::corrupt);
}

// Patterns that came in bulk are in no log: an old or cut manifest does not have their tables.
TEST_F(DamageTest, ABulkIndexWithAnOldManifest) {
  SKIP_UNDER_THREAD_SANITIZER();
  ASSERT_NO_FATAL_FAILURE(make_in_bulk());
  const std::string manifest = file_like("MANIFEST");
  std::vector<uint64_t> begins;
  scan_log(read_file(path() + "/" + manifest, 1 << 30).value(),
           [&](uint64_t offset, std::string_view) { begins.push_back(offset); });
  ASSERT_GE(begins.size(), 4u);
  for (const bool has_snapshot : {true, false}) {
    for (const uint64_t begin : begins) {
      SCOPED_TRACE(begin);
      damage(manifest, [&](std::string& text) { text.resize(begin); });
      if (!has_snapshot) std::filesystem::remove(copy() + "/snapshot.hoist");
      EXPECT_EQ(lost_by_repair(), 0u);
      EXPECT_TRUE(is_refused());
    }
  }
}

// A kill between the ingest and its end leaves a name that the table shares.
TEST_F(DamageTest, ANameThatAKillLeftIsNotWrittenInto) {
  SKIP_UNDER_THREAD_SANITIZER();
  ASSERT_NO_FATAL_FAILURE(make_in_bulk());
  for (const std::string name : {"ingested", "ingested-mark"}) {
    const std::string left = path() + "/store/" + name;
    ASSERT_EQ(::link((path() + "/" + file_like(".sst")).c_str(), left.c_str()), 0);
  }
  {
    auto index = Index::open(path(), {});
    ASSERT_TRUE(index && (*index)->begin_bulk());
    ASSERT_TRUE((*index)->learn({{"one"}, {"more"}}));
    ASSERT_TRUE((*index)->end_bulk());
  }
  const auto index = Index::open(path(), {.read_only = true});
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ(names_in(**index).size(), kPatterns + 1);
  EXPECT_TRUE((*index)->verify());
}

TEST_F(DamageTest, InBulk) {
  sweep_of([this] { make_in_bulk(); }, 2, 1, 1);
}

// From before there were ledgers: its log has no chain, only its own checksums.
TEST_F(DamageTest, AnOldStoreIsTakenOverWhole) {
  SKIP_UNDER_THREAD_SANITIZER();
  for (const bool has_table : {false, true}) {
    std::filesystem::remove_all(path());
    ASSERT_NO_FATAL_FAILURE(make_old(has_table));
    const std::string log = file_like(".log");
    const std::string bytes = read_file(path() + "/" + log, 1 << 30).value();
    std::vector<uint64_t> begins;
    scan_log(bytes, [&](uint64_t offset, std::string_view) { begins.push_back(offset); });

    damage(log, [&](std::string& text) {
      text[begins[300] + 10] = static_cast<char>(text[begins[300] + 10] ^ 1);
    });
    EXPECT_TRUE(is_refused());
    EXPECT_FALSE(std::filesystem::exists(copy() + "/ledger"));
    std::filesystem::remove_all(repaired());
    const auto report = repair_index(copy(), repaired());
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->is_damaged);
    EXPECT_GE(report->saved, kPatterns - 1);
    if (has_table) {  // without its manifest the table is read by its own index
      damage(file_like("MANIFEST"), [](std::string& text) { text.resize(20); });
      std::filesystem::remove_all(repaired());
      const auto without = repair_index(copy(), repaired());
      ASSERT_TRUE(without) << without.error().message;
      EXPECT_EQ(without->saved, kPatterns);
    }

    damage(log, [](std::string& text) { text.resize(text.size() - 3); });  // torn
    EXPECT_FALSE(is_refused());
    damage(log, [](std::string&) {});
    {
      auto index = Index::open(copy(), {});
      ASSERT_TRUE(index) << index.error().message;
      EXPECT_EQ(names_in(**index), all_);
    }
    EXPECT_EQ((*Ledger::open(copy() + "/ledger", true))->state().flushed.patterns, kPatterns);
    EXPECT_FALSE(is_refused());
  }
}

// A reader beside a process that writes sees a whole state, whatever moves meanwhile.
TEST_F(DamageTest, AReaderBesideAWriterMeetsNoDamage) {
  SKIP_UNDER_THREAD_SANITIZER();
  ASSERT_TRUE(Index::open(path(), {.create = true}));
  const pid_t child = start("OpensAgainAndAgain");
  ASSERT_GT(child, 0);
  // Where a check below ends the test, the folder must not go while it still writes there.
  const std::shared_ptr<void> end(nullptr, [child](void*) { ::waitpid(child, nullptr, 0); });
  uint64_t before = 0;
  int between = 0;  // readers that saw some patterns and not all
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    const auto index = Index::open(path(), {.read_only = true});
    ASSERT_TRUE(index) << index.error().message;
    const uint64_t now = (*index)->stats().patterns;
    EXPECT_GE(now, before);
    before = now;
    between += now != 0 && now < 60 * 20 ? 1 : 0;
    const auto found = (*index)->search({{"y"}}, {.threshold = 0});
    EXPECT_EQ(found->hits.size(), now);
    for (uint32_t n = 0; n < now; ++n) {
      ASSERT_TRUE((*index)->metadata(name_of(events_of(n)))) << n << " of " << now;
    }
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_GT(between, 0);
}

TEST_F(DamageTest, ARepairReplacesNothing) {
  SKIP_UNDER_THREAD_SANITIZER();
  ASSERT_NO_FATAL_FAILURE(make(false, false));
  std::filesystem::create_directory(repaired());
  EXPECT_FALSE(repair_index(path(), repaired()));
  EXPECT_EQ(repair_index(folder_ + "/none", folder_ + "/new").error().code, ErrorCode::not_found);
  const auto writer = Index::open(path(), {});
  EXPECT_EQ(repair_index(path(), folder_ + "/new").error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace hoist::match
