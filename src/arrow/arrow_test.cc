// What the writer wrote, the reader reads; what is damaged, it refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "arrow/arrow_testing.h"
#include "arrow/writer.h"

namespace hoist::arrow {
namespace {

// A value as text, whatever its type.
std::string text_of(const Array& array, int64_t i) {
  if (array.is_null(i)) return "null";
  const Field& field = array.field();
  const auto items = [&] {
    std::string text = "[";
    const auto [begin, end] = array.items(i);
    for (int64_t k = begin; k < end; ++k) text += text_of(array.child(), k) + ",";
    return text + "]";
  };
  switch (field.type) {
    case Type::boolean:
      return array.boolean(i) ? "true" : "false";
    case Type::integer:
      return field.is_signed ? fmt::to_string(array.signed_integer(i))
                             : fmt::to_string(array.unsigned_integer(i));
    case Type::real:
      return fmt::format("{}", array.real(i));
    case Type::text:
    case Type::large_text:
    case Type::text_view:
      return fmt::format("'{}'", array.text(i));
    case Type::structure: {
      std::string text = "{";
      for (const Array& member : array.children()) text += text_of(member, i) + ",";
      return text + "}";
    }
    default:
      return items();
  }
}

// All values of all batches, a line a row; or the error.
Result<std::string> read(std::string bytes, std::vector<std::string> columns,
                         size_t step = SIZE_MAX, size_t most_bytes = 1 << 20) {
  auto reader = Reader::open(source_of(std::move(bytes), step),
                             {.columns = std::move(columns), .most_bytes = most_bytes});
  if (!reader) return reader.error();
  std::string text;
  for (;;) {
    const auto batch = reader->next();
    if (!batch) return batch.error();
    if (*batch == nullptr) return text;
    for (int64_t i = 0; i < std::min<int64_t>((*batch)->rows, 10'000); ++i) {
      for (const Array& column : (*batch)->columns) text += text_of(column, i) + " ";
      text += "\n";
    }
  }
}

struct Written {
  std::string bytes;
  Writer writer;
  explicit Written(std::vector<Field> fields, bool as_file = false)
      : writer(std::move(fields), as_file, [this](std::string_view more) -> Status {
          bytes += more;
          return {};
        }) {
    EXPECT_TRUE(writer.begin());
  }
  std::string end() {
    EXPECT_TRUE(writer.end());
    return bytes;
  }
};

std::string stream_of(std::vector<Field> fields, const Batch& batch) {
  Written written(std::move(fields));
  EXPECT_TRUE(written.writer.add(batch));
  return written.end();
}

TEST(Arrow, NumbersOfEveryWidthCutInEveryWay) {
  BatchBuilder builder(3);
  builder.node({1, 0, 1});
  builder.buffer(std::vector<int8_t>{-1, 0, 127});
  builder.node(3);
  builder.buffer(std::vector<uint16_t>{1, 65535, 3});
  builder.node(3);
  builder.buffer(std::vector<uint64_t>{1, UINT64_MAX, 3});
  builder.node(3);
  builder.buffer(std::vector<double>{0.5, -2, 1e300});
  builder.node({0, 1, 1});
  builder.bits(std::vector<uint8_t>{1, 0, 1});
  const std::vector<Field> fields = {integer_field("a", 8, true),
                                     integer_field("b", 16, false),
                                     integer_field("c", 64, false),
                                     double_field("d"),
                                     {.name = "e", .type = Type::boolean}};
  const Batch batch = builder.take();
  for (const bool as_file : {false, true}) {
    Written written(fields, as_file);
    ASSERT_TRUE(written.writer.add(batch));
    ASSERT_TRUE(written.writer.add(batch));
    const std::string bytes = written.end();
    for (const size_t step : {size_t{1}, size_t{7}, SIZE_MAX}) {
      const auto text = read(bytes, {"a", "b", "c", "d", "e"}, step);
      ASSERT_TRUE(text) << text.error().message;
      const std::string rows =
          "-1 1 1 0.5 null \nnull 65535 18446744073709551615 -2 false \n127 3 3 1e+300 true \n";
      EXPECT_EQ(*text, rows + rows);
    }
    EXPECT_EQ(*read(bytes, {"d", "b", "none"}),
              "1 0.5 \n65535 -2 \n3 1e+300 \n"
              "1 0.5 \n65535 -2 \n3 1e+300 \n");
  }
}

TEST(Arrow, ListsAndMapsOfRandomLengths) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  const std::vector<Field> fields = {list_field("a", list_field("item", text_field("item"))),
                                     map_field("b", double_field("value"))};
  std::string expected;
  std::vector<int32_t> outer = {0}, inner = {0}, pairs = {0};
  std::vector<std::string> texts, keys;
  std::vector<double> values;
  for (int row = 0; row < 300; ++row) {
    expected += "[";
    for (auto events = random() % 4; events > 0; --events) {
      expected += "[";
      for (auto symbols = random() % 4; symbols > 0; --symbols) {
        texts.emplace_back(random() % 20, static_cast<char>('a' + random() % 26));
        expected += fmt::format("'{}',", texts.back());
      }
      inner.push_back(static_cast<int32_t>(texts.size()));
      expected += "],";
    }
    outer.push_back(static_cast<int32_t>(inner.size() - 1));
    expected += "] [";
    for (auto entries = random() % 3; entries > 0; --entries) {
      keys.push_back(fmt::to_string(random()));
      values.push_back(random());
      expected += fmt::format("{{'{}',{},}},", keys.back(), values.back());
    }
    pairs.push_back(static_cast<int32_t>(keys.size()));
    expected += "] \n";
  }
  BatchBuilder builder(300);
  builder.node(300);
  builder.buffer(outer);
  builder.node(inner.size() - 1);
  builder.buffer(inner);
  add_texts(builder, texts);
  builder.node(300);
  builder.buffer(pairs);
  add_pairs(builder, keys, values);
  const auto text = read(stream_of(fields, builder.take()), {"a", "b"}, 1 + random() % 100);
  ASSERT_TRUE(text) << text.error().message << ", seed " << seed;
  EXPECT_EQ(*text, expected) << "seed " << seed;
}

TEST(Arrow, DictionariesAreReplacedAndGoOn) {
  Field field = text_field("a");
  field.dictionary = {.id = 7, .bits = 8};
  const auto indices = [](std::vector<int8_t> values, std::vector<uint8_t> valid) {
    BatchBuilder builder(values.size());
    builder.node(valid);
    builder.buffer(values);
    return builder.take();
  };
  std::string bytes = schema_message(std::vector{field});
  const auto put = [&](const std::string& metadata, const Batch& batch) {
    bytes += metadata + batch.body;
  };
  const Batch first = texts_batch({"x", "y"}), more = texts_batch({"z"}),
              other = texts_batch({"w"});
  put(dictionary_message(first, 7), first);
  const Batch two = indices({0, 1, 100}, {1, 1, 0});
  put(batch_message(two), two);
  put(dictionary_message(more, 7, true), more);
  const Batch three = indices({2, 0}, {1, 1});
  put(batch_message(three), three);
  put(dictionary_message(other, 7), other);
  const Batch one = indices({0}, {1});
  put(batch_message(one), one);
  EXPECT_EQ(*read(bytes, {"a"}), "'x' \n'y' \nnull \n'z' \n'x' \n'w' \n");
  const Batch beyond = indices({1}, {1});
  put(batch_message(beyond), beyond);
  EXPECT_EQ(read(bytes, {"a"}).error().code, ErrorCode::corrupt);
  const Batch negative = indices({-1}, {1});
  EXPECT_EQ(read(schema_message(std::vector{field}) + dictionary_message(first, 7) + first.body +
                     batch_message(negative) + negative.body,
                 {"a"})
                .error()
                .code,
            ErrorCode::corrupt);
  EXPECT_EQ(read(stream_of({field}, two), {"a"}).error().message,
            "a: an index is beyond its dictionary");
}

TEST(Arrow, ColumnsOfOtherTypesAreSkipped) {
  BatchBuilder builder(2);
  builder.node(2);
  builder.buffer(std::vector<int64_t>{1, 2});
  builder.node(2);
  builder.buffer(std::vector<int64_t>{1, 0, 2, 0});
  add_pairs(builder, {"p", "q"}, {1, 2});
  add_texts(builder, {"x", "y"});
  Field both{.name = "both", .type = Type::structure};
  both.children = {text_field("p"), double_field("q")};
  Field decimal{.name = "decimal", .type = Type::decimal, .bits = 128};
  const std::vector<Field> fields = {
      {.name = "time", .type = Type::timestamp}, decimal, both, text_field("a")};
  const std::string bytes = stream_of(fields, builder.take());
  EXPECT_EQ(*read(bytes, {"a"}), "'x' \n'y' \n");
  EXPECT_EQ(*read(bytes, {"a", "both"}), "{'p',1,} 'x' \n{'q',2,} 'y' \n");
  EXPECT_EQ(read(bytes, {"time"}).error().message, "time is timestamp, which is not read");
}

// Batches that say something else than what they have.
TEST(Arrow, LyingBatchesAreRefused) {
  const std::vector<Field> list = {list_field("a", text_field("item"))};
  const auto build = [](const std::vector<int32_t>& lists, const std::vector<int32_t>& ends,
                        size_t rows = 2, size_t items = 3) {
    BatchBuilder builder(rows);
    builder.node(rows);
    builder.buffer(lists);
    builder.node(items);
    builder.buffer(ends);
    builder.buffer(std::string_view("abcdef"));
    return builder.take();
  };
  EXPECT_EQ(*read(stream_of(list, build({0, 2, 3}, {0, 1, 3, 6})), {"a"}),
            "['a','bc',] \n['def',] \n");
  for (const Batch& wrong :
       {build({0, 2, 4}, {0, 1, 3, 6}), build({0, 3, 2}, {0, 1, 3, 6}),
        build({-1, 2, 3}, {0, 1, 3, 6}), build({0, 2}, {0, 1, 3, 6}),
        build({0, 2, 3}, {0, 1, 3, 7}), build({0, 2, 3}, {0, 4, 3, 6}),
        build({0, 2, 3}, {-1, 1, 3, 6}), build({0, 2, 3}, {0, 1, 3}),
        build({0, 2, 3}, {0, 1, 3, 6}, 5), build({0, 2, 3}, {0, 1, 3, 6}, 2, 1000)}) {
    EXPECT_EQ(read(stream_of(list, wrong), {"a"}).error().code, ErrorCode::corrupt);
  }
  const auto change = [&](auto&& how) {
    Batch batch = build({0, 2, 3}, {0, 1, 3, 6});
    how(batch);
    const auto text = read(stream_of(list, batch), {"a"});
    return text ? *text : std::string(hoist::name(text.error().code));
  };
  EXPECT_EQ(change([](Batch& b) { b.rows = 3; }), "corrupt");
  EXPECT_EQ(change([](Batch& b) { b.rows = -2; }), "corrupt");
  EXPECT_EQ(change([](Batch& b) { b.nodes.pop_back(); }), "corrupt");
  EXPECT_EQ(change([](Batch& b) { b.nodes[0].length = INT64_MAX; }), "corrupt");
  EXPECT_EQ(change([](Batch& b) { b.nodes[0].nulls = 1; }), "corrupt");
  EXPECT_EQ(change([](Batch& b) { b.buffers.pop_back(); }), "corrupt");
  EXPECT_EQ(change([](Batch& b) { b.buffers[1].offset = INT64_MAX; }), "corrupt");
  EXPECT_EQ(change([](Batch& b) { b.buffers[1].size = INT64_MAX; }), "corrupt");
  EXPECT_EQ(change([](Batch& b) { b.buffers[1].size = -1; }), "corrupt");
  EXPECT_EQ(change([](Batch& b) { b.body.resize(8); }), "corrupt");
}

TEST(Arrow, LimitsHold) {
  const std::string text(100'000, 'x');
  const std::string bytes = stream_of({text_field("a")}, texts_batch({text}));
  EXPECT_TRUE(read(bytes, {"a"}, SIZE_MAX, 101'000));
  EXPECT_EQ(read(bytes, {"a"}, SIZE_MAX, 99'000).error().code, ErrorCode::unsupported);
  Field deep = text_field("a");
  for (int i = 0; i < 62; ++i) deep = list_field("a", deep);
  EXPECT_TRUE(read(schema_message(std::vector{deep}), {"a"}));
  for (int i = 0; i < 5; ++i) deep = list_field("a", deep);
  EXPECT_EQ(read(schema_message(std::vector{deep}), {"a"}).error().code, ErrorCode::corrupt);
  Field dictionary = text_field("a");
  dictionary.dictionary = {.id = 1};
  std::string grows = schema_message(std::vector{dictionary});
  const Batch entries = texts_batch({text});
  for (int i = 0; i < 3; ++i) grows += dictionary_message(entries, 1, true) + entries.body;
  EXPECT_TRUE(read(grows, {"a"}, SIZE_MAX, 302'000));
  EXPECT_EQ(read(grows, {"a"}, SIZE_MAX, 290'000).error().code, ErrorCode::unsupported);
}

// Each part of a dictionary takes memory, whatever little is in it; one that is replaced, none.
TEST(Arrow, SmallPartsOfDictionariesCount) {
  Field dictionary = text_field("a");
  dictionary.dictionary = {.id = 1};
  const auto parts = [&](int count, bool are_deltas) {
    const Batch entry = texts_batch({""});
    const std::string part = dictionary_message(entry, 1, are_deltas) + entry.body;
    std::string bytes = schema_message(std::vector{dictionary});
    for (int i = 0; i < count; ++i) bytes += part;
    return read(bytes, {"a"}, SIZE_MAX, 1 << 20);
  };
  EXPECT_TRUE(parts(1000, true));
  EXPECT_EQ(parts(8000, true).error().code, ErrorCode::unsupported);
  EXPECT_TRUE(parts(8000, false));
}

TEST(Arrow, BodiesAreToldDecompressedAndMayBeRefused) {
  const std::string bytes = stream_of({text_field("a")}, texts_batch({std::string(1000, 'x')}));
  size_t told = 0;
  const auto read_with = [&](const std::function<Status(size_t)>& on_body) {
    auto reader = Reader::open(source_of(bytes), {.columns = {"a"}, .on_body = on_body});
    return reader->next();
  };
  EXPECT_TRUE(read_with([&](size_t body) -> Status {
    told = body;
    return {};
  }));
  EXPECT_GE(told, 1000U);
  EXPECT_EQ(read_with([](size_t) -> Status { return fail(ErrorCode::exhausted, "no more"); })
                .error()
                .code,
            ErrorCode::exhausted);
}

TEST(Arrow, EveryTruncationIsRefusedUnlessItEndsAtAMessage) {
  const std::vector<Field> fields = {text_field("a")};
  const Batch batch = texts_batch({"one", "two", "three"});
  const std::string bytes = stream_of(fields, batch);
  const size_t schema = schema_message(fields).size();
  const size_t end = bytes.size() - kStreamEnd.size();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const bool is_whole = size == schema || size == end;
    EXPECT_EQ(read(bytes.substr(0, size), {"a"}).has_value(), is_whole) << size;
  }
}

TEST(Arrow, DamageNeverLeadsBeyondTheMessage) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE(seed);
  BatchBuilder builder(3);
  builder.node({1, 0, 1});
  builder.buffer(std::vector<int32_t>{0, 2, 2, 3});
  add_texts(builder, {"a", "bc", "def"});
  builder.node(3);
  builder.buffer(std::vector<int32_t>{0, 1, 2, 2});
  add_pairs(builder, {"k", "l"}, {1, 2});
  const std::string bytes = stream_of(
      {list_field("a", text_field("item")), map_field("b", double_field("value"))}, builder.take());
  int read_nevertheless = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    for (auto times = 1 + random() % 3; times > 0; --times) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    if (read(damaged, {"a", "b"})) ++read_nevertheless;
  }
  EXPECT_GT(read_nevertheless, 0);  // where bytes of texts, or padding, changed
  EXPECT_LT(read_nevertheless, 20'000);
}

}  // namespace
}  // namespace hoist::arrow
