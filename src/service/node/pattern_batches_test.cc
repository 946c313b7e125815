// Patterns that were written as record batches are read back as they were, and rows that are no
// patterns are told.
#include "service/node/pattern_batches.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "arrow/arrow_testing.h"
#include "service/node/pattern_lines.h"

namespace hoist::service {
namespace {

using arrow::add_pairs;
using arrow::add_texts;
using arrow::BatchBuilder;
using arrow::Field;
using arrow::source_of;

// As an index tells of a record.
struct Visited {
  match::VisitedPattern pattern;
  std::string metadata;
  explicit Visited(const PatternRecord& record) {
    pattern.name = record.name;
    for (const Event& event : record.events) {
      pattern.events.emplace_back(event.begin(), event.end());
    }
    pattern.frequency = record.frequency;
    if (!record.emotives.empty()) {
      pattern.emotives = std::make_shared<const match::EmotiveList>(record.emotives);
    }
    if (!record.metadata.empty()) metadata = nlohmann::json(record.metadata).dump();
  }
};

std::string line_of(const PatternRecord& record) {
  const Visited visited(record);
  return pattern_line(visited.pattern, visited.metadata);
}

std::string written(const std::vector<PatternRecord>& records, bool as_file) {
  std::string bytes;
  PatternBatchWriter writer(as_file, [&](std::string_view more) -> Status {
    bytes += more;
    return {};
  });
  EXPECT_TRUE(writer.begin());
  for (const PatternRecord& record : records) {
    const Visited visited(record);
    EXPECT_TRUE(writer.add(visited.pattern, visited.metadata));
  }
  EXPECT_TRUE(writer.end());
  return bytes;
}

// The lines of all records; or what is wrong, and where.
struct Read {
  std::vector<std::string> lines;
  std::string error;
  uint64_t batch = 0;
  uint64_t row = 0;
};
Read read(std::string bytes) {
  Read read;
  auto reader = PatternBatchReader::open(source_of(std::move(bytes)));
  if (!reader) {
    read.error = reader.error().message;
    return read;
  }
  for (;;) {
    const auto record = reader->next();
    read.batch = reader->batch();
    read.row = reader->row();
    if (!record) read.error = record.error().message;
    if (!record || !*record) return read;
    read.lines.push_back(line_of(**record));
  }
}

std::string stream_of(std::vector<Field> fields, const arrow::Batch& batch) {
  std::string bytes = arrow::schema_message(fields);
  return bytes + arrow::batch_message(batch) + batch.body;
}

const Field kEvents =
    arrow::list_field("events", arrow::list_field("item", arrow::text_field("item")));

// A row of one event of two symbols.
void add_events(BatchBuilder& builder, const std::string& a = "a", const std::string& b = "b") {
  builder.node(1);
  builder.buffer(std::vector<int32_t>{0, 1});
  builder.node(1);
  builder.buffer(std::vector<int32_t>{0, 2});
  add_texts(builder, {a, b});
}

// One row of `events` and of another column, which `add` adds.
template <typename Add>
Read with_column(Field field, Add add) {
  BatchBuilder builder(1);
  add_events(builder);
  add(builder);
  return read(stream_of({kEvents, std::move(field)}, builder.take()));
}

PatternRecord random_record(std::mt19937& random) {
  const auto text = [&] {
    static const std::vector<std::string> kPieces = {"a",  "b",    "ß",        "\n",
                                                     "\"", "日本", {"\0x", 2}, "😀"};
    std::string made;
    for (auto pieces = random() % 5; pieces > 0; --pieces) made += kPieces[random() % 8];
    return made;
  };
  PatternRecord record;
  record.name = text();
  for (auto events = random() % 4; events > 0; --events) {
    Event event;
    for (auto symbols = 1 + random() % 4; symbols > 0; --symbols) event.push_back(text());
    std::sort(event.begin(), event.end());
    record.events.push_back(std::move(event));
  }
  record.frequency = random() % 3 == 0 ? UINT32_MAX : 1 + static_cast<uint32_t>(random() % 9);
  for (auto emotives = random() % 3; emotives > 0; --emotives) {
    std::map<std::string, double> entry;
    for (auto names = random() % 3; names > 0; --names) entry[text()] = random() / 7.0;
    record.emotives.emplace_back(entry.begin(), entry.end());
  }
  for (auto keys = random() % 3; keys > 0; --keys) {
    auto& values = record.metadata[text()];
    for (auto items = 1 + random() % 3; items > 0; --items) values.insert(text());
  }
  return record;
}

TEST(PatternBatches, RandomRecordsComeBack) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  for (const size_t count :
       {size_t{0}, size_t{1}, size_t{2}, size_t{300}, size_t{8192}, size_t{8193}}) {
    std::vector<PatternRecord> records;
    std::vector<std::string> lines;
    for (size_t i = 0; i < count; ++i) {
      records.push_back(random_record(random));
      lines.push_back(line_of(records.back()));
    }
    for (const bool as_file : {false, true}) {
      const Read found = read(written(records, as_file));
      ASSERT_EQ(found.error, "") << "seed " << seed;
      ASSERT_EQ(found.lines, lines) << "seed " << seed;
      EXPECT_EQ(found.batch, count / 8192 + (count % 8192 == 0 ? 1 : 2));
    }
  }
}

TEST(PatternBatches, BatchesHaveBoundedSizes) {
  PatternRecord record;
  record.events = {{"a"}, {std::string(1 << 20, 'x')}};
  const std::vector<PatternRecord> records(10, record);
  size_t largest = 0;
  PatternBatchWriter writer(false, [&](std::string_view bytes) -> Status {
    largest = std::max(largest, bytes.size());
    return {};
  });
  ASSERT_TRUE(writer.begin());
  for (const PatternRecord& each : records) {
    const Visited visited(each);
    ASSERT_TRUE(writer.add(visited.pattern, visited.metadata));
  }
  ASSERT_TRUE(writer.end());
  EXPECT_LT(largest, size_t{4 << 20} + 10'000);
  EXPECT_EQ(read(written(records, false)).lines.size(), 10U);
}

TEST(PatternBatches, EventsAreSortedAsObserved) {
  BatchBuilder builder(1);
  add_events(builder, "b", "VCTR|a");
  EXPECT_EQ(read(stream_of({kEvents}, builder.take())).lines.at(0),
            R"({"name":"","events":[["VCTR|a","b"]],"frequency":1})");
}

TEST(PatternBatches, SchemasThatAreNoPatterns) {
  const auto error = [](const std::vector<Field>& fields) {
    return read(arrow::schema_message(fields)).error;
  };
  using arrow::list_field;
  using arrow::text_field;
  EXPECT_EQ(error({text_field("name")}), "\"events\" is missing");
  EXPECT_EQ(error({list_field("events", text_field("item"))}),
            "\"events\" is no list of lists of strings");
  EXPECT_EQ(error({list_field("events", list_field("i", arrow::double_field("i")))}),
            "\"events\" is no list of lists of strings");
  EXPECT_EQ(error({kEvents, kEvents}), "two columns are named \"events\"");
  EXPECT_EQ(error({kEvents, arrow::double_field("name")}), "\"name\" is no string");
  EXPECT_EQ(error({kEvents, text_field("frequency")}),
            "\"frequency\" is no whole number from 1 on");
  EXPECT_EQ(error({kEvents, {.name = "metadata", .type = arrow::Type::date}}),
            "metadata is date, which is not read");
  EXPECT_EQ(error({kEvents, {.name = "else", .type = arrow::Type::date}}), "");
}

TEST(PatternBatches, FrequenciesAreWholeNumbersFromOneOn) {
  const auto whole = [](int64_t number, bool is_signed = true) {
    return with_column(arrow::integer_field("frequency", 64, is_signed),
                       [&](BatchBuilder& builder) {
                         builder.node(1);
                         builder.buffer(std::vector<int64_t>{number});
                       });
  };
  const auto real = [](double number) {
    return with_column(arrow::double_field("frequency"), [&](BatchBuilder& builder) {
      builder.node(1);
      builder.buffer(std::vector<double>{number});
    });
  };
  const char* fault = "\"frequency\" is no whole number from 1 on";
  EXPECT_NE(whole(7).lines.at(0).find("\"frequency\":7"), std::string::npos);
  EXPECT_NE(whole(UINT32_MAX).lines.at(0).find("\"frequency\":4294967295"), std::string::npos);
  EXPECT_EQ(whole(0).error, fault);
  EXPECT_EQ(whole(-1).error, fault);
  EXPECT_EQ(whole(-1, false).error, fault);
  EXPECT_EQ(whole(int64_t{1} << 32).error, fault);
  EXPECT_NE(real(7).lines.at(0).find("\"frequency\":7"), std::string::npos);
  for (const double number : {0.5, 1.5, -1.0, 1e10, double{NAN}, double{INFINITY}}) {
    EXPECT_EQ(real(number).error, fault) << number;
  }
}

TEST(PatternBatches, StructuresAreMapsWithoutTheirNulls) {
  Field entry{.name = "item", .type = arrow::Type::structure};
  entry.children = {arrow::double_field("joy"), arrow::integer_field("fear", 32, true)};
  const auto add = [](BatchBuilder& builder) {
    builder.node(1);
    builder.buffer(std::vector<int32_t>{0, 2});
    builder.node(2);
    builder.node({1, 0});
    builder.buffer(std::vector<double>{0.5, 7});
    builder.node({0, 1});
    builder.buffer(std::vector<int32_t>{7, -2});
  };
  EXPECT_NE(with_column(arrow::list_field("emotives", entry), add)
                .lines.at(0)
                .find(R"("emotives":[{"joy":0.5},{"fear":-2.0}])"),
            std::string::npos);
  // As libraries without maps have them.
  entry.children = {arrow::text_field("key"), arrow::double_field("value")};
  const auto pairs = with_column(arrow::list_field("emotives", entry), [](BatchBuilder& builder) {
    builder.node(1);
    builder.buffer(std::vector<int32_t>{0, 2});
    add_pairs(builder, {"joy", "fear"}, {0.5, -2});
  });
  EXPECT_NE(pairs.lines.at(0).find(R"("emotives":[{"fear":-2.0,"joy":0.5}])"), std::string::npos);
  const auto infinite =
      with_column(arrow::list_field("emotives", entry), [](BatchBuilder& builder) {
        builder.node(1);
        builder.buffer(std::vector<int32_t>{0, 1});
        add_pairs(builder, {"joy"}, {INFINITY});
      });
  EXPECT_EQ(infinite.error, "a number is infinite, or none");
}

TEST(PatternBatches, WhatIsWrongWithARowIsTold) {
  BatchBuilder builder(2);
  builder.node(2);
  builder.buffer(std::vector<int32_t>{0, 1, 2});
  builder.node({1, 0});
  builder.buffer(std::vector<int32_t>{0, 2, 2});
  add_texts(builder, {"a", "b"});
  const Read null_event = read(stream_of({kEvents}, builder.take()));
  EXPECT_EQ(null_event.error, "an event is null");
  EXPECT_EQ(null_event.lines.size(), 1U);
  EXPECT_EQ(null_event.batch, 1U);
  EXPECT_EQ(null_event.row, 2U);

  builder = BatchBuilder(1);
  add_events(builder, "a", "\xff");
  EXPECT_EQ(read(stream_of({kEvents}, builder.take())).error, "a text is no UTF-8");

  builder = BatchBuilder(1);
  builder.node(std::vector<uint8_t>{0});
  builder.buffer(std::vector<int32_t>{0, 0});
  builder.node(0);
  builder.buffer(std::vector<int32_t>{0});
  add_texts(builder, {});
  EXPECT_EQ(read(stream_of({kEvents}, builder.take())).error, "\"events\" is null");
}

void add_nulls(BatchBuilder& builder, const Field& field, size_t count) {
  if (field.type == arrow::Type::null) return builder.nulls(count);
  builder.node(count);  // a structure
  for (const Field& member : field.children) add_nulls(builder, member, count);
}

// A row whose metadata is {"k": a list of so many items}.
std::string with_items(size_t count, const Field& item) {
  Field list{.name = "k", .type = arrow::Type::fixed_size_list};
  list.size = static_cast<int32_t>(count);
  list.children = {item};
  Field metadata{.name = "metadata", .type = arrow::Type::structure};
  metadata.children = {list};
  BatchBuilder builder(1);
  add_events(builder);
  builder.node(1);
  builder.node(1);
  add_nulls(builder, item, count);
  return stream_of({kEvents, metadata}, builder.take());
}

// A few bytes that stand for many.
TEST(PatternBatches, RowsHaveLimits) {
  Field symbol = arrow::text_field("item");
  symbol.dictionary = {.id = 1, .bits = 8};
  const Field events = arrow::list_field("events", arrow::list_field("item", symbol));
  BatchBuilder entries(1);
  entries.node(1);
  entries.buffer(std::vector<int32_t>{0, 60'000});
  entries.buffer(std::string_view(std::string(60'000, 'x')));
  const arrow::Batch dictionary = entries.take();
  // Rows of an event of so many symbols.
  const auto of_symbols = [&](size_t count, size_t rows = 1) {
    std::vector<int32_t> events_of_rows = {0}, symbols_of_events = {0};
    for (size_t i = 1; i <= rows; ++i) {
      events_of_rows.push_back(static_cast<int32_t>(i));
      symbols_of_events.push_back(static_cast<int32_t>(i * count));
    }
    BatchBuilder builder(rows);
    builder.node(rows);
    builder.buffer(events_of_rows);
    builder.node(rows);
    builder.buffer(symbols_of_events);
    builder.node(count * rows);
    builder.buffer(std::vector<uint8_t>(count * rows));
    const arrow::Batch batch = builder.take();
    return arrow::schema_message(std::vector{events}) + arrow::dictionary_message(dictionary, 1) +
           dictionary.body + arrow::batch_message(batch) + batch.body;
  };
  EXPECT_EQ(read(of_symbols(100)).lines.size(), 1U);
  EXPECT_EQ(read(of_symbols(1000)).error, "a row has more than 16 MiB");
  auto reader = PatternBatchReader::open(source_of(of_symbols(250, 1000)));
  ASSERT_TRUE(reader);
  auto record = reader->next();
  while (record && *record) record = reader->next();
  ASSERT_FALSE(record);
  EXPECT_NE(record.error().message.find("stand for more than 1000 times as many"),
            std::string::npos);
  EXPECT_LT(reader->row(), 30U);

  const Field nothing{.name = "item", .type = arrow::Type::null};
  EXPECT_EQ(read(with_items(INT32_MAX, nothing)).error, "a row has more than two million values");
  // Members that are not there are looked at as well.
  Field members{.name = "item", .type = arrow::Type::structure};
  for (int i = 0; i < 300; ++i) {
    members.children.push_back({.name = fmt::format("n{}", i), .type = arrow::Type::null});
  }
  EXPECT_EQ(read(with_items(6'000, members)).error, "");
  EXPECT_EQ(read(with_items(10'000, members)).error, "a row has more than two million values");
  // So is the name of each that is there.
  members.children = {{.name = std::string(100'000, 'n'), .type = arrow::Type::structure}};
  EXPECT_EQ(read(with_items(100, members)).error, "");
  EXPECT_EQ(read(with_items(200, members)).error, "a row has more than 16 MiB");
}

// Rows that no byte stands for are refused when they are too many.
TEST(PatternBatches, RowsCountThoughTheyAreEmpty) {
  Field event{.name = "item", .type = arrow::Type::fixed_size_list};
  event.size = 0;
  event.children = {arrow::text_field("item")};
  Field events{.name = "events", .type = arrow::Type::fixed_size_list};
  events.size = 1;
  events.children = {event};
  constexpr size_t kRows = 1 << 30;
  BatchBuilder builder(kRows);
  builder.node(kRows);
  builder.node(kRows);
  add_texts(builder, {});
  auto reader = PatternBatchReader::open(source_of(stream_of({events}, builder.take())));
  ASSERT_TRUE(reader);
  auto record = reader->next();
  while (record && *record && reader->row() < 1'000'000) record = reader->next();
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(reader->row(), (256 << 20) / 1000 + 1);
}

TEST(ImportLimit, GrowsWithWhatCame) {
  ImportLimit limit({});
  limit.came(1000);
  EXPECT_TRUE(limit.take(ImportLimit::kFloor));
  EXPECT_EQ(limit.take(1).error().message,
            "its 1000 bytes stand for more than 1000 times as many: send it without compression "
            "and without dictionaries");
  limit.came(999'000);
  EXPECT_TRUE(limit.take(1'000'000'000 - ImportLimit::kFloor - 1));
  EXPECT_FALSE(limit.take(1));
}

// Whoever reads is asked before each read, between rows by their count, and within a large one.
TEST(PatternBatches, AreGivenUpWithinARow) {
  const Field nothing{.name = "item", .type = arrow::Type::null};
  const std::string bytes = with_items(1'900'000, nothing);
  int asked = 0;
  const auto record_when_asked = [&](int most) {
    asked = 0;
    auto reader = PatternBatchReader::open(source_of(bytes), [&]() -> Status {
      if (++asked <= most) return {};
      return fail(ErrorCode::cancelled, "enough");
    });
    return reader->next();
  };
  EXPECT_TRUE(record_when_asked(INT_MAX));
  const int all = asked;
  EXPECT_GT(all, 100);
  const auto given_up = record_when_asked(all / 2);
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace hoist::service
