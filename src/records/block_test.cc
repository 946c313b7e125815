// Blocks: any text comes back byte for byte, and columns hold what the text says.
#include "records/block.h"

#include <gtest/gtest.h>

#include <random>

#include "base/test_seed.h"
#include "records/detect.h"
#include "records/limits.h"
#include "records/records_testing.h"

namespace hoist::records {
namespace {

const Format kFormats[] = {Format::plain, Format::json,     Format::csv,
                           Format::pairs, Format::symbolic, Format::log};

std::string stored_of(std::string_view text, const Dialect& dialect) {
  return encode_block(text, dialect, Effort::usual);
}

void expect_same(std::string_view text, const Dialect& dialect) {
  const std::string stored = stored_of(text, dialect);
  const Result<Block> block = Block::open(bytes_of(stored), text.size());
  ASSERT_TRUE(block) << block.error().message;
  EXPECT_EQ(block->rows(), count_rows(text));
  const Result<std::string> again = block->text();
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(*again, text) << "as " << name(dialect.format);
}

void expect_same_in_all_formats(std::string_view text) {
  expect_same(text, detect(text));
  for (const Format format : kFormats) {
    expect_same(text, {.format = format});
    if (format == Format::csv) {
      expect_same(text, {.format = format, .names = {"a", "b"}, .starts_with_header = true});
    }
  }
}

TEST(Block, KeepsHostileTexts) {
  for (const std::string& text : hostile_texts()) {
    SCOPED_TRACE(text.substr(0, 100));
    expect_same_in_all_formats(text);
  }
}

TEST(Block, KeepsGeneratedTexts) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 60; ++i) expect_same_in_all_formats(random_records(random, random() % 200));
}

TEST(Block, KeepsTextsThatAreToBeSmall) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 12; ++i) {
    const std::string text = random_records(random, random() % 300);
    const std::string stored = encode_block(text, detect(text), Effort::best);
    const Result<Block> block = Block::open(bytes_of(stored), text.size());
    ASSERT_TRUE(block) << block.error().message;
    EXPECT_EQ(block->text().value(), text);
  }
}

// Together or one by one: the same columns, and the same rows.
TEST(Block, ReadsColumnsTogether) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 10; ++round) {
    const std::string text = random_records(random, 200);
    const std::string stored = stored_of(text, detect(text));
    const Result<Block> block = Block::open(bytes_of(stored), text.size());
    ASSERT_TRUE(block);
    std::vector<size_t> all(block->columns().size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    const Result<std::vector<ColumnValues>> together = block->read(all);
    ASSERT_TRUE(together);
    for (const size_t i : all) {
      const Result<ColumnValues> alone = block->read(i);
      ASSERT_TRUE(alone);
      EXPECT_EQ(alone->rows, (*together)[i].rows);
      ColumnCursor a(*alone->column);
      ColumnCursor b(*(*together)[i].column);
      while (!a.at_end() && !b.at_end()) ASSERT_EQ(a.text(), b.text());
      EXPECT_TRUE(a.at_end() && b.at_end());
    }
  }
}

TEST(Block, KeepsMutatedTexts) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 60; ++i) {
    std::string text = random_records(random, 1 + random() % 100);
    for (size_t n = random() % 20; n > 0 && !text.empty(); --n) {
      text[random() % text.size()] = static_cast<char>(random() % 4 == 0 ? '\n' : random());
    }
    expect_same_in_all_formats(text);
  }
}

TEST(Block, KeepsRandomBytes) {
  std::mt19937_64 random(test_seed());
  for (const size_t size : {1, 2, 3, 100, 5000, 300000}) {
    std::string text(size, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    expect_same_in_all_formats(text);
    // Stored as it is, but for what columns are worth in a small block.
    EXPECT_LE(stored_of(text, detect(text)).size(), size + 100);
  }
}

TEST(Block, KeepsLongLinesAndManyValues) {
  std::string array = "[";
  while (array.size() < (size_t{10} << 20)) array += "12345, ";
  array += "1]\n";
  expect_same(array, {.format = Format::json});
  std::string keys = "{\"" + std::string(size_t{1} << 20, 'k') + "\": {\"0\": 0";
  for (int i = 1; i < 4000; ++i) keys += ", \"" + std::to_string(i) + "\": 1";
  expect_same(keys + "}}\n", {.format = Format::json});
  std::string fields(kMaxValues + 10, ',');
  expect_same(fields, {.format = Format::csv});
  std::string rows;
  for (size_t i = 0; i < kMaxRows; ++i)
    rows += ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n";
  expect_same(rows, {.format = Format::csv});
}

TEST(Block, KeepsMoreColumnsAndShapesThanItMayHave) {
  std::string text;
  for (size_t i = 0; i < kMaxColumns + kMaxShapes; ++i) {
    text += "{\"key" + std::to_string(i) + "\": " + std::to_string(i) + "}\n";
  }
  expect_same(text, {.format = Format::json});
}

TEST(Block, GivesRows) {
  std::string text;
  std::vector<std::string> lines;
  for (int i = 0; i < 300; ++i) {
    lines.push_back("{\"n\": " + std::to_string(i * i) + (i % 3 == 0 ? ", \"odd\": true}" : "}"));
    text += lines.back() + (i == 299 ? "" : "\n");
  }
  for (const Format format : {Format::json, Format::plain}) {
    const std::string stored = stored_of(text, {.format = format});
    const Result<Block> block = Block::open(bytes_of(stored), text.size());
    ASSERT_TRUE(block);
    EXPECT_EQ(block->text(0, 1).value(), lines[0] + "\n");
    EXPECT_EQ(block->text(298, 300).value(), lines[298] + "\n" + lines[299]);
    EXPECT_EQ(block->text(5, 5).value(), "");
    EXPECT_EQ(block->text(299, 1000).value(), lines[299]);
  }
}

struct Read {
  std::vector<std::string> texts;
  std::vector<uint32_t> rows;
};

Read read(const Block& block, std::string_view path) {
  Read read;
  for (size_t i = 0; i < block.columns().size(); ++i) {
    if (block.columns()[i].path != path || block.columns()[i].kind == ColumnKind::length) continue;
    const Result<ColumnValues> values = block.read(i);
    EXPECT_TRUE(values) << values.error().message;
    ColumnCursor cursor(*values->column);
    for (const uint32_t row : values->rows) {
      read.texts.emplace_back(cursor.text());
      read.rows.push_back(row);
    }
  }
  return read;
}

TEST(Block, ColumnsAreThoseOfTheText) {
  const std::string text =
      "{\"a\": 1.50, \"tags\": [\"x\", \"y\"], \"o\": {\"k/~\": null}}\n"
      "{\"a\": 2.25}\n"
      "not JSON\n"
      "{\"a\": 3.75, \"tags\": [\"z\"]}\n";
  const std::string stored = stored_of(text, {.format = Format::json});
  const Result<Block> block = Block::open(bytes_of(stored), text.size());
  ASSERT_TRUE(block);
  EXPECT_EQ(read(*block, "/a").texts, (std::vector<std::string>{"1.50", "2.25", "3.75"}));
  EXPECT_EQ(read(*block, "/a").rows, (std::vector<uint32_t>{0, 1, 3}));
  EXPECT_EQ(read(*block, "/tags[]").texts, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(read(*block, "/tags[]").rows, (std::vector<uint32_t>{0, 0, 3}));
  EXPECT_EQ(read(*block, "/o/k~1~0").texts, (std::vector<std::string>{"null"}));
  EXPECT_EQ(read(*block, "").texts, (std::vector<std::string>{"not JSON"}));
}

// Every value of every column against a parse that only knows how the text was made.
TEST(Block, TypedColumnsGiveTheirTextsBack) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 20; ++round) {
    const size_t rows = 1 + random() % 3000;
    std::vector<std::vector<std::string>> columns = random_columns(random, rows);
    std::string text;
    for (size_t row = 0; row < rows; ++row) {
      for (size_t c = 0; c < columns.size(); ++c) {
        text += (c > 0 ? "\t" : "") + columns[c][row];
      }
      text += "\n";
    }
    const Dialect dialect{.format = Format::csv, .delimiter = '\t'};
    const std::string stored = stored_of(text, dialect);
    const Result<Block> block = Block::open(bytes_of(stored), text.size());
    ASSERT_TRUE(block) << block.error().message;
    ASSERT_EQ(block->text().value(), text);
    for (size_t c = 0; c < columns.size(); ++c) {
      ASSERT_EQ(read(*block, "/" + std::to_string(c)).texts, columns[c]) << "column " << c;
    }
  }
}

TEST(Block, DamagedBlocksAreRefusedOrHarmless) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 6; ++round) {
    const std::string text = random_records(random, 20);
    const std::string stored = stored_of(text, detect(text));
    const auto try_it = [&](const std::string& bytes) {
      const Result<Block> block = Block::open(bytes_of(bytes), text.size());
      if (!block) return;
      if (const Result<std::string> again = block->text()) {
        EXPECT_EQ(again->size(), text.size());
      }
      for (size_t i = 0; i < block->columns().size(); ++i) (void)block->read(i);
    };
    for (size_t size = 0; size < stored.size(); ++size) try_it(stored.substr(0, size));
    for (size_t at = 0; at < stored.size(); ++at) {
      std::string bytes = stored;
      bytes[at] = static_cast<char>(random());
      try_it(bytes);
    }
  }
}

// Rows that are not counted would not be missed.
TEST(Block, HasRowsWhereItHasText) {
  for (const Format format : {Format::plain, Format::csv}) {
    std::string stored = stored_of("a,b\nc,d\n", {.format = format});
    ASSERT_EQ(stored[3], 2);
    for (const char rows : {0, 9}) {
      stored[3] = rows;
      EXPECT_FALSE(Block::open(bytes_of(stored), 8));
    }
    stored[3] = 2;
    EXPECT_TRUE(Block::open(bytes_of(stored), 8));
    EXPECT_FALSE(Block::open(bytes_of(stored), 0));
  }
}

// A text's size is a claim: columns may not hold more together.
TEST(Block, ColumnsHoldNoMoreThanTheText) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += "a" + repeated("x", i % 7) + "\tb" + repeated("y", i % 5) + "\n";
  const std::string stored = stored_of(text, {.format = Format::csv, .delimiter = '\t'});
  for (size_t size = 0; size < text.size(); ++size) {
    const Result<Block> block = Block::open(bytes_of(stored), size);
    EXPECT_FALSE(block && block->text());
  }
}

}  // namespace
}  // namespace hoist::records
