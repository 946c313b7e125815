// Texts composed of other columns' texts: patterns and back, and columns that the encoder finds.
#include "records/composition.h"

#include <gtest/gtest.h>

#include <random>

#include "base/test_seed.h"
#include "records/block.h"
#include "records/records_testing.h"

namespace hoist::records {
namespace {

using Parts = std::vector<std::string_view>;

std::string pattern_of(std::string_view text, const Parts& parts) {
  std::string pattern;
  append_pattern(text, parts, pattern);
  return pattern;
}

TEST(Composition, TakesTheLongestPart) {
  EXPECT_EQ(pattern_of("a/foo-dev_foo", {"foo", "foo-dev"}), "a/\x02_\x01");
  EXPECT_EQ(pattern_of("abab", {"ab"}), "abab");
  EXPECT_EQ(pattern_of("\x01\x02\x10", {"foo"}), "\x10\x01\x02\x10\x10");
}

TEST(Composition, PatternsGiveTheTextBack) {
  std::mt19937_64 random(test_seed());
  const auto text = [&](size_t most) {
    std::string made(random() % (most + 1), '\0');
    for (char& byte : made) byte = static_cast<char>(random() % 20);
    return made;
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> owned;
    for (size_t k = random() % (kMaxTextSources + 1); k > 0; --k) owned.push_back(text(5));
    const Parts parts(owned.begin(), owned.end());
    std::string whole = text(20);
    for (const std::string& part : owned) whole.insert(random() % (whole.size() + 1), part);
    const std::string pattern = pattern_of(whole, parts);
    std::vector<char> again;
    ASSERT_TRUE(append_text(pattern, parts, whole.size(), again));
    EXPECT_EQ(std::string(again.begin(), again.end()), whole);
    again.clear();
    EXPECT_TRUE(whole.empty() || !append_text(pattern, parts, whole.size() - 1, again));
  }
  std::vector<char> out;
  EXPECT_FALSE(append_text("\x10", {}, 100, out));
}

TEST(Composition, FindsTextsOfTheSameRow) {
  const std::vector<uint32_t> rows = {0, 3, 4, 9};
  const std::vector<uint32_t> theirs = {1, 3, 9};
  const Parts texts = {"a", "b", "c"};
  EXPECT_EQ(beside(rows, theirs, texts), (Parts{"", "b", "", "c"}));
}

// Optional fields, in an order that changes: rows must line up, not positions.
TEST(Composition, ColumnsAreComposedByRow) {
  std::mt19937_64 random(test_seed());
  std::string text;
  std::vector<std::string> urls;
  for (int i = 0; i < 3000; ++i) {
    const std::string name = "n" + std::to_string(random() % 1000000007);
    const std::string version = std::to_string(random() % 1000003);
    urls.push_back("https://example.org/" + name + "/" + (i % 5 == 0 ? "latest" : version));
    text += "{\"name\": \"" + name + "\"";
    if (i % 7 != 0) text += ", \"url\": \"" + urls.back() + "\"";
    if (i % 5 != 0) text += ", \"version\": " + version;
    text += "}\n";
  }
  for (const Effort effort : {Effort::usual, Effort::best}) {
    const std::string stored = encode_block(text, {.format = Format::json}, effort);
    const Result<Block> block = Block::open(bytes_of(stored), text.size());
    ASSERT_TRUE(block);
    ASSERT_EQ(block->text().value(), text);
    for (size_t i = 0; i < block->columns().size(); ++i) {
      if (block->columns()[i].path != "/url") continue;
      EXPECT_EQ(block->columns()[i].type, ColumnType::composed);
      const Result<ColumnValues> values = block->read(i);
      ASSERT_TRUE(values);
      ColumnCursor cursor(*values->column);
      for (const uint32_t row : values->rows) ASSERT_EQ(cursor.text(), urls[row]);
    }
  }
}

TEST(Composition, DamagedColumnsAreRefusedOrHarmless) {
  std::mt19937_64 random(test_seed());
  std::string text;
  for (int i = 0; i < 200; ++i) {
    const std::string name = "name" + std::to_string(random() % 100000007);
    text += "{\"name\": \"" + name + "\", \"file\": \"/srv/" + name + "/" + name + ".gz\"}\n";
  }
  const std::string stored = encode_block(text, {.format = Format::json}, Effort::usual);
  for (size_t at = 0; at < stored.size(); ++at) {
    for (int round = 0; round < 4; ++round) {
      std::string bytes = stored;
      bytes[at] = static_cast<char>(random());
      const Result<Block> block = Block::open(bytes_of(bytes), text.size());
      if (!block) continue;
      if (const Result<std::string> again = block->text()) {
        EXPECT_EQ(again->size(), text.size());
      }
      for (size_t i = 0; i < block->columns().size(); ++i) (void)block->read(i);
    }
  }
}

}  // namespace
}  // namespace hoist::records
