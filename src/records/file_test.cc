// Files of records: streams of any size come back, rows and conditions choose, appending goes on,
// damage is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/test_seed.h"
#include "container/container_testing.h"
#include "container/verify.h"
#include "records/detect.h"
#include "records/limits.h"
#include "records/reader.h"
#include "records/records_testing.h"
#include "records/writer.h"

namespace hoist::records {
namespace {

using container::bytes_of_file;
using container::Scratch;
using container::write_bytes;

// Gives the text in pieces of random sizes, as a pipe does.
ReadText pieces_of(std::string_view text, std::mt19937_64& random) {
  return [text, &random, at = size_t{0}](std::span<char> into) mutable -> Result<size_t> {
    const size_t size = std::min({into.size(), text.size() - at, size_t{1} + random() % 3000000});
    std::copy_n(text.data() + at, size, into.data());
    at += size;
    return size;
  };
}

void encode(const std::string& path, std::string_view text, std::mt19937_64& random,
            RecordOptions options = {}) {
  options.durable = false;
  Result<RecordWriter> writer = RecordWriter::create(path, options);
  ASSERT_TRUE(writer) << writer.error().message;
  const Status written = writer->write_all(pieces_of(text, random));
  ASSERT_TRUE(written) << written.error().message;
  const Status finished = writer->finish();
  ASSERT_TRUE(finished) << finished.error().message;
}

std::string text_of(const RecordReader& reader, const ReadOptions& options = {}) {
  std::string text;
  const Status read = reader.text(options, [&](std::string_view part) {
    text += part;
    return Status();
  });
  EXPECT_TRUE(read) << read.error().message;
  return text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// Candles, so many that they take some blocks.
std::string candles(size_t rows) {
  std::string text;
  for (size_t i = 0; i < rows; ++i) {
    text += "{\"symbol\": \"" + std::string(i % 3 == 0 ? "BTC" : "ETH") +
            "\", \"ts\": " + std::to_string(1755392220 + 60 * i) + ", \"price\": \"" +
            std::to_string(1000 + i * 7919 % 1000) + ".5" + std::to_string(i % 10) + "\"}\n";
  }
  return text;
}

TEST(RecordFile, KeepsHostileTexts) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  for (const std::string& text : hostile_texts()) {
    SCOPED_TRACE(text.substr(0, 100));
    const std::string path = scratch.file("x.hrec");
    encode(path, text, random);
    const Result<RecordReader> reader = RecordReader::open(path);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(text_of(*reader), text);
    EXPECT_EQ(reader->rows(), count_rows(text));
    EXPECT_EQ(reader->text_bytes(), text.size());
  }
}

// More names than a reader takes, in front of lines that are a table otherwise.
TEST(RecordFile, KeepsAHeaderOfTooManyNames) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  std::string text = "n0";
  for (size_t i = 1; i < kMaxColumns + 10; ++i) text += ",n" + std::to_string(i);
  text += "\n" + repeated("1,2,3\n", 30);
  encode(scratch.file("x.hrec"), text, random);
  const Result<RecordReader> reader = RecordReader::open(scratch.file("x.hrec"));
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(text_of(*reader), text);
  EXPECT_EQ(reader->dialect().format, Format::csv);
}

TEST(RecordFile, KeepsMoreThanABatchOfText) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  ThreadPool two(2);
  std::string text = candles(300000);
  text += std::string(kBlockText + 1000, 'x') + "\n" + repeated("\n", kMaxRows + 5) + "the end";
  encode(scratch.file("x.hrec"), text, random, {.pool = &two});
  const Result<RecordReader> reader = RecordReader::open(scratch.file("x.hrec"));
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_GT(reader->blocks().size(), 5u);
  EXPECT_EQ(reader->rows(), count_rows(text));
  EXPECT_FALSE(reader->ends_with_newline());
  ASSERT_EQ(text_of(*reader, {.pool = &two}), text);
}

TEST(RecordFile, LongLinesAreSeveralRows) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  const std::string text = "first\n" + std::string(kMaxBlockText + 5, 'y') + "\nlast\n";
  encode(scratch.file("x.hrec"), text, random);
  const Result<RecordReader> reader = RecordReader::open(scratch.file("x.hrec"));
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->rows(), 4u);
  ASSERT_EQ(text_of(*reader), text);
}

TEST(RecordFile, GivesRangesOfRows) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  const std::string text = candles(150000);
  const std::vector<std::string> lines = lines_of(text);
  encode(scratch.file("x.hrec"), text, random);
  const Result<RecordReader> reader = RecordReader::open(scratch.file("x.hrec"));
  ASSERT_TRUE(reader) << reader.error().message;
  for (int i = 0; i < 20; ++i) {
    const size_t first = random() % lines.size();
    const size_t end = first + random() % (i < 10 ? 10 : 100000);
    std::string expected;
    for (size_t row = first; row < std::min(end, lines.size()); ++row) expected += lines[row];
    ASSERT_EQ(text_of(*reader, {.first = first, .end = end}), expected);
  }
  EXPECT_EQ(text_of(*reader, {.first = lines.size()}), "");
}

TEST(RecordFile, GivesRowsForWhichConditionsHold) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  const std::string text = candles(100000);
  encode(scratch.file("x.hrec"), text, random);
  const Result<RecordReader> reader = RecordReader::open(scratch.file("x.hrec"));
  ASSERT_TRUE(reader);
  std::string expected;
  for (const std::string& line : lines_of(text)) {
    const auto after = [&](std::string_view key) {
      return line.substr(line.find(key) + key.size());
    };
    const bool btc = line.find("BTC") != std::string::npos;
    if (btc && std::stoll(after("\"ts\": ")) >= 1755392220 + 60 * 99000 &&
        std::stod(after("\"price\": \"")) < 1500.25) {
      expected += line;
    }
  }
  EXPECT_FALSE(expected.empty());
  ReadOptions options;
  for (const char* condition : {"symbol=BTC", "/ts>=1761332220", "price<1500.25", "price!=7"}) {
    options.where.push_back(parse_condition(condition).value());
  }
  EXPECT_EQ(text_of(*reader, options), expected);
  for (const char* wrong : {"", "price", "=5", "price!5"}) {
    EXPECT_FALSE(parse_condition(wrong)) << wrong;
  }
}

TEST(RecordFile, AppendingGoesOn) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  const std::string path = scratch.file("x.hrec");
  std::string text = "time,price\n1,2.50\n";
  encode(path, text, random);
  for (int i = 0; i < 5; ++i) {
    std::string more;
    for (int row = 0; row < 1000; ++row) more += std::to_string(random() % 9999) + ",1.25\n";
    if (i == 4) more += "5,5";
    Result<RecordWriter> writer = RecordWriter::append(path, {.durable = false});
    ASSERT_TRUE(writer) << writer.error().message;
    ASSERT_TRUE(writer->write_all(pieces_of(more, random)));
    ASSERT_TRUE(writer->finish());
    text += more;
    const Result<RecordReader> reader = RecordReader::open(path);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(text_of(*reader), text);
    EXPECT_EQ(reader->rows(), count_rows(text));
    EXPECT_EQ(reader->dialect().names, (std::vector<std::string>{"time", "price"}));
  }
  const Result<RecordWriter> refused = RecordWriter::append(path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

TEST(RecordFile, AnUnfinishedFileGivesItsWholeBlocks) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  const std::string text = candles(150000);
  encode(scratch.file("x.hrec"), text, random);
  const std::string bytes = bytes_of_file(scratch.file("x.hrec"));
  write_bytes(scratch.file("cut.hrec"), std::string_view(bytes).substr(0, bytes.size() * 2 / 3));
  const Result<RecordReader> refused = RecordReader::open(scratch.file("cut.hrec"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  const Result<RecordReader> reader =
      RecordReader::open(scratch.file("cut.hrec"), {.partial = true});
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_FALSE(reader->check_whole());
  std::string some;
  const Status read = reader->text({}, [&](std::string_view part) {
    some += part;
    return Status();
  });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  EXPECT_GT(some.size(), 0u);
  EXPECT_TRUE(text.starts_with(some));
  // Rows that are all there.
  EXPECT_EQ(text_of(*reader, {.first = 5, .end = 7}), lines_of(text)[5] + lines_of(text)[6]);
}

TEST(RecordFile, DamageIsFound) {
  const Scratch scratch;
  std::mt19937_64 random(test_seed());
  const std::string text = candles(50);
  encode(scratch.file("x.hrec"), text, random);
  const std::string bytes = bytes_of_file(scratch.file("x.hrec"));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    const auto report = container::verify(*container::memory_source(bytes_of(damaged)));
    EXPECT_FALSE(report && report->ok()) << "byte " << at;
    const Result<RecordReader> reader =
        RecordReader::open(container::memory_source(bytes_of(damaged)));
    if (!reader) continue;
    std::string again;
    const Status read = reader->text({}, [&](std::string_view part) {
      again += part;
      return Status();
    });
    EXPECT_TRUE(!read || text.starts_with(again)) << "byte " << at;
  }
}

TEST(RecordFile, ForeignFilesAreRefused) {
  const Scratch scratch;
  EXPECT_FALSE(RecordReader::open(scratch.file("none.hrec")));
  write_bytes(scratch.file("text"), "{\"a\": 1}\n");
  EXPECT_FALSE(RecordReader::open(scratch.file("text")));
  container::write_container(scratch.file("tensors"), {},
                             {.kind = container::four_letters("TENS")});
  const Result<RecordReader> reader = RecordReader::open(scratch.file("tensors"));
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::corrupt);
}

TEST(CutBlock, TakesWholeLines) {
  EXPECT_EQ(cut_block("", true), 0u);
  EXPECT_EQ(cut_block("a\nb", true), 3u);
  EXPECT_EQ(cut_block("a\nb", false), 0u);
  EXPECT_EQ(cut_block("a\nb\n", false), 0u);
  EXPECT_EQ(cut_block(repeated("\n", kMaxRows + 3), false), kMaxRows);
  EXPECT_EQ(cut_block(repeated("\n", kMaxRows + 3), true), kMaxRows);
  const std::string line(kBlockText - 1, 'x');
  EXPECT_EQ(cut_block(line + "\n" + line + "\n", false), kBlockText);
  EXPECT_EQ(cut_block("a\n" + line + "y\n", false), 2u);
  EXPECT_EQ(cut_block(line + "yyy\nb", false), kBlockText + 3);
  EXPECT_EQ(cut_block(line + "yyy", false), 0u);
  EXPECT_EQ(cut_block(line + "yyy", true), kBlockText + 2);
}

// The first row of a CSV by name is its header, unless it is like the others.
TEST(Detect, HeadersOfNamedCsv) {
  const auto names = [](std::string_view text) {
    Known known;
    known.file = "x.csv";
    return dialect_of(text, known).names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(",a,b\n0,1,x\n1,2,y\n"), (Names{"", "a", "b"}));
  EXPECT_EQ(names("country,2019,2020\nfr,1,2\nde,3,4\n"), (Names{"country", "2019", "2020"}));
  EXPECT_EQ(names("1,foo,2.5\n2,bar,3.5\n3,baz,4.5\n"), Names{});
  EXPECT_EQ(names("AAPL,2020-01-01,1.5,100\nAAPL,2020-01-02,1.6,200\nMSFT,2020-01-02,1,2\n"),
            Names{});
  EXPECT_EQ(names("GET,200,12\nPOST,404,13\nGET,200,99\n"), Names{});
  EXPECT_EQ(names("1,2\n3,4\n"), Names{});
}

}  // namespace
}  // namespace hoist::records
