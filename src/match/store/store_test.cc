#include "match/store/store.h"

#include <gtest/gtest.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "base/test_seed.h"
#include "match/store/chain_filter.h"
#include "match/store/store_layout.h"

namespace hoist::match {
namespace {

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    char name[] = "/tmp/hoist-store-XXXXXX";
    folder_ = ::mkdtemp(name);
    ledger_ = Ledger::create(folder_ + "/ledger", LedgerState());
    EXPECT_TRUE(ledger_);
  }
  ~StoreTest() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/store"; }
  Ledger* ledger() const { return ledger_->get(); }

  std::string folder_;
  Result<std::unique_ptr<Ledger>> ledger_ = nullptr;
};

std::string random_text(std::mt19937_64& random, size_t limit) {
  std::string text(random() % limit, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

PatternState random_state(std::mt19937_64& random) {
  PatternState state{static_cast<uint32_t>(1 + random() % 1000), {}};
  state.emotives.resize(random() % 3);
  for (Emotives& emotives : state.emotives) {
    for (size_t left = random() % 3; left > 0; --left) {
      emotives.emplace_back(random_text(random, 10), static_cast<double>(random()) / 3);
    }
  }
  return state;
}

StoredPattern random_pattern(std::mt19937_64& random, uint32_t serial) {
  StoredPattern pattern;
  pattern.serial = serial;
  pattern.name = random_text(random, 60);
  for (size_t left = 1 + random() % 5; left > 0; --left) {
    pattern.event_sizes.push_back(static_cast<uint16_t>(1 + random() % 300));
    for (uint16_t i = 0; i < pattern.event_sizes.back(); ++i) {
      pattern.symbols.push_back(static_cast<uint32_t>(random() >> (random() % 32 + 32)));
    }
  }
  pattern.state = random_state(random);
  return pattern;
}

std::string encoded(const StoredPattern& pattern) {
  std::string bytes;
  encode_pattern(pattern.name, pattern.symbols, pattern.event_sizes, pattern.state, bytes);
  return bytes;
}

TEST(StoredPatternCodec, ReadsWhatItWrote) {
  std::mt19937_64 random(test_seed());
  for (uint32_t i = 0; i < 300; ++i) {
    const StoredPattern pattern = random_pattern(random, i);
    const auto decoded = decode_pattern(i, encoded(pattern));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(*decoded, pattern);
    std::string bytes;
    encode_state(pattern.state, bytes);
    EXPECT_EQ(*decode_state(bytes), pattern.state);
    const Change change{Change::Kind::removal, i, 7, pattern.name};
    bytes.clear();
    encode_change(change, bytes);
    EXPECT_EQ(*decode_change(bytes), change);
  }
}

TEST(StoredPatternCodec, RefusesTruncatedAndLongerBytes) {
  std::mt19937_64 random(test_seed());
  const std::string bytes = encoded(random_pattern(random, 0));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_pattern(0, std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_pattern(0, bytes + '\0'));
  EXPECT_FALSE(decode_change(std::string("\x03\0\0\0", 4)));
  EXPECT_FALSE(decode_state(std::string("\0\0", 2)));  // frequency 0
}

TEST(StoredPatternCodec, SurvivesMutations) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = encoded(random_pattern(random, 0)).substr(0, 200);
    for (int flips = 0; flips < 3; ++flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto pattern = decode_pattern(0, bytes);
    if (pattern) {
      size_t sum = 0;
      for (const uint16_t size : pattern->event_sizes) sum += size;
      EXPECT_EQ(sum, pattern->symbols.size());
    }
    (void)decode_state(bytes);
    (void)decode_change(bytes);
  }
}

// Everything in the store.
struct Content {
  std::vector<std::string> symbols;
  std::vector<StoredPattern> patterns;
  std::vector<std::pair<uint64_t, Change>> changes;
};

Content read_all(const Store& store, uint32_t serial = 0, uint64_t change = 0) {
  Content content;
  EXPECT_TRUE(store.read_symbols(0, [&](std::string_view symbol) -> Status {
    content.symbols.emplace_back(symbol);
    return {};
  }));
  EXPECT_TRUE(store.read_patterns(serial, [&](StoredPattern&& pattern) -> Status {
    content.patterns.push_back(std::move(pattern));
    return {};
  }));
  EXPECT_TRUE(store.read_changes(change, [&](uint64_t number, Change&& found) -> Status {
    content.changes.emplace_back(number, std::move(found));
    return {};
  }));
  return content;
}

Store::NewPattern as_new(const StoredPattern& pattern, std::string_view metadata = {}) {
  return {pattern.serial,      pattern.name,   pattern.symbols,
          pattern.event_sizes, &pattern.state, metadata};
}

TEST_F(StoreTest, KeepsWhatWasWritten) {
  std::mt19937_64 random(test_seed());
  const IndexSettings settings{false, 9};
  const StoredPattern first = random_pattern(random, 0);
  StoredPattern second = random_pattern(random, 1);
  const StoredPattern third = random_pattern(random, 2);
  const std::vector<std::string_view> symbols = {"x", "", "y"};
  {
    auto store = Store::open(path(), {.create = true, .settings = settings, .ledger = ledger()});
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE((*store)->learn(as_new(first), {0, symbols}));
    ASSERT_TRUE((*store)->learn(as_new(second, "{\"a\":1}"), {3, {}}));
    ASSERT_TRUE((*store)->learn(as_new(third), {3, {}}));
    second.state = {7, {{{"joy", 0.5}}}};
    const Change update{Change::Kind::update, 1, 3, second.name};
    ASSERT_TRUE((*store)->update(0, update, second.state, ""));
    ASSERT_TRUE((*store)->remove(1, {Change::Kind::removal, 0, 2, first.name}));
    ASSERT_TRUE((*store)->flush_log());
  }
  const auto again = Store::open(path(), {.ledger = ledger()});
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->settings(), settings);
  const Content content = read_all(**again);
  EXPECT_EQ(content.symbols, (std::vector<std::string>{"x", "", "y"}));
  EXPECT_EQ(content.patterns, (std::vector<StoredPattern>{second, third}));
  ASSERT_EQ(content.changes.size(), 2u);
  EXPECT_EQ(content.changes[1].second.kind, Change::Kind::removal);
  EXPECT_EQ(*(*again)->read_metadata(1), "{\"a\":1}");
  EXPECT_EQ(*(*again)->read_metadata(2), "");
  EXPECT_EQ(**(*again)->read_state(1), second.state);
  EXPECT_EQ(**(*again)->read_state(2), third.state);
  EXPECT_EQ(*(*again)->read_state(0), std::nullopt);
  EXPECT_EQ(read_all(**again, 2, 1).patterns, (std::vector<StoredPattern>{third}));
  EXPECT_EQ(read_all(**again, 2, 1).changes.size(), 1u);
  ASSERT_TRUE((*again)->forget_changes(2));
  EXPECT_EQ(read_all(**again).changes.size(), 1u);  // the last tells the next number
  EXPECT_EQ(*(*again)->forgotten_changes(), 2u);
}

TEST_F(StoreTest, IngestsManyAtOnce) {
  std::mt19937_64 random(test_seed());
  auto store = Store::open(path(), {.create = true, .ledger = ledger()});
  ASSERT_TRUE(store);
  std::vector<StoredPattern> patterns;
  for (uint32_t i = 0; i < 500; ++i) patterns.push_back(random_pattern(random, i * 3));
  size_t next = 0;
  const auto give = [&](Store::NewPattern& pattern) {
    if (next == patterns.size()) return false;
    pattern = as_new(patterns[next++], "m");
    return true;
  };
  const std::vector<std::string_view> symbols = {"x"};
  ASSERT_TRUE((*store)->ingest({0, symbols}, give));
  ASSERT_TRUE((*store)->ingest({1, {}}, give));  // nothing left
  EXPECT_EQ(read_all(**store).patterns, patterns);
  EXPECT_EQ(*(*store)->read_metadata(3), "m");
}

TEST_F(StoreTest, OneWriterAndReadersBeside) {
  auto store = Store::open(path(), {.create = true, .ledger = ledger()});
  ASSERT_TRUE(store);
  EXPECT_FALSE(Store::open(path(), {.ledger = ledger()}));
  std::mt19937_64 random(test_seed());
  const StoredPattern pattern = random_pattern(random, 0);
  ASSERT_TRUE((*store)->learn(as_new(pattern), {}));
  const auto reader = Store::open(path(), {.read_only = true, .ledger = ledger()});
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(read_all(**reader).patterns.size(), 1u);
  EXPECT_FALSE(Store::open(path(), {.create = true, .ledger = ledger()}));
}

// RocksDB passes over zeros to the next block, and finds a record there where one begins.
TEST(ChainFilter, EndsTheReplayWhereTheCheckEnded) {
  const auto write = [](uint64_t number) {
    std::string point;
    encode_point({number, 0, 0, 0}, point);
    rocksdb::WriteBatch batch;
    batch.Put(std::string(1, layout::kChain), point);
    return batch;
  };
  const auto replay = [&](ChainFilter& filter, uint64_t number) {
    return filter.LogRecordFound(1, "1.log", write(number), nullptr, nullptr);
  };
  using Option = rocksdb::WalFilter::WalProcessingOption;
  ChainFilter filter({{5, 0, 0, 0}, {7, 0, 0, 0}});
  for (const uint64_t number : {4, 5, 6, 7}) {
    EXPECT_EQ(replay(filter, number), Option::kContinueProcessing);
  }
  EXPECT_EQ(replay(filter, 9), Option::kStopReplay);
  EXPECT_FALSE(filter.has_gap());
  ChainFilter changed({{5, 0, 0, 0}, {9, 0, 0, 0}});
  EXPECT_EQ(replay(changed, 8), Option::kContinueProcessing);
  EXPECT_TRUE(changed.has_gap());
}

}  // namespace
}  // namespace hoist::match
