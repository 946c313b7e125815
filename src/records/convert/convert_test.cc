#include "records/convert/convert.h"

#include <gtest/gtest.h>

#include "base/test_seed.h"
#include "base/utf8.h"
#include "records/convert/convert_testing.h"
#include "records/convert/sniff.h"

namespace hoist::records {
namespace {

constexpr std::string_view kTrades =
    R"({"symbol":"BTC-USD","timestamp":1755392220,"open":"117391.31","volume":0.60979011,"tags":["a","b c"],"note":null,"status":"ACTIVE"})"
    "\n";

TEST(Convert, PlainValuesLookAsTheFormatHasThem) {
  const auto in = [](TextForm form) { return converted(kTrades, TextForm::jsonl, form).value(); };
  EXPECT_EQ(
      in(TextForm::csv),
      "symbol,timestamp,open,volume,tags,note,status\n"
      "BTC-USD,1755392220,\"117391.31\",0.60979011,\"[\"\"a\"\",\"\"b c\"\"]\",null,ACTIVE\n");
  EXPECT_EQ(in(TextForm::lt),
            "symbol>>BTC-USD timestamp>>1755392220 open>>\"117391.31\" volume>>0.60979011 "
            "tags>>[\"a\",\"b c\"] note>>null status>>ACTIVE\n");
  EXPECT_EQ(in(TextForm::lts),
            "symbol>>BTC-USD ⏱>>1755392220 open>>\"117391.31\" volume>>0.60979011 "
            "tags>>[\"a\",\"b c\"] note>>null 📊>>ACTIVE\n");
  EXPECT_EQ(in(TextForm::ltu),
            "__symbol>>BTC-USD __timestamp>>1755392220 __open>>\"117391.31\" __volume>>0.60979011 "
            "__tags>>[\"a\",\"b c\"] __note>>null __status>>ACTIVE\n");
  EXPECT_EQ(in(TextForm::sym),
            "⟆⟐.RAW:[§₿»⏱68a128dc»↗117391.31»▣=0.60979011»tags:=\\(\"a\"\\;\"b "
            "c\"\\)»note:=null»status:ACTIVE,✓]\n");
  EXPECT_EQ(in(TextForm::jsonl), kTrades);
}

TEST(Convert, AnyRecordsComeBackThroughAnyTwoFormats) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 300; ++round) {
    const std::vector<Record> records = random_rows(random, random() % 12);
    const std::string expected = json_lines(records);
    SCOPED_TRACE(expected);
    ASSERT_EQ(converted(expected, TextForm::jsonl, TextForm::jsonl).value(), expected);
    for (const TextForm first : kAllForms) {
      const std::string one = converted(expected, TextForm::jsonl, first).value();
      ASSERT_TRUE(is_utf8(one)) << name(first);
      for (const TextForm second : kAllForms) {
        const std::string two = converted(one, first, second).value();
        const Result<std::string> again = converted(two, second, TextForm::jsonl);
        ASSERT_TRUE(again) << name(second) << ": " << again.error().message;
        ASSERT_EQ(*again, expected) << name(first) << " " << name(second) << "\n" << one << two;
        // A record has one spelling in a format, however it got there.
        ASSERT_EQ(two, converted(expected, TextForm::jsonl, second).value());
      }
    }
  }
}

TEST(Convert, WordsBehindAValueBelongToIt) {
  EXPECT_EQ(converted("name>>John  Smith\tJr \t age>>41\n", TextForm::lt, TextForm::jsonl).value(),
            R"({"name":"John  Smith\tJr","age":41})"
            "\n");
  EXPECT_EQ(converted("a>> b>>c>>d x e>>\r\n", TextForm::lt, TextForm::jsonl).value(),
            R"({"a":"","b":"c>>d x","e":""})"
            "\n");
}

TEST(Convert, RowsThatAreNoRecordsAreRefusedWithTheirLine) {
  const std::pair<TextForm, std::string_view> cases[] = {
      {TextForm::jsonl, "{\"a\":1}\n\n{\"a\":01}\n"},
      {TextForm::csv, "a,b\n1,2\n1,2,3\n"},
      {TextForm::lt, "a>>1\nb>>2\nlost a>>1\n"},
      {TextForm::ltu, "__a>>1\n__b>>2\nb>>2\n"},
      {TextForm::sym, "⟆⟐.RAW:[§₿,✓]\n\n⟆⟐.RAW:[§₿»60,✓]\n"},
  };
  for (const auto& [form, text] : cases) {
    const Result<std::string> refused = converted(text, form, TextForm::jsonl);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().message.find("line 3 of the text is no record"), std::string::npos)
        << refused.error().message;
  }
}

TEST(Convert, WhatIsNoRecordMayBeSkippedOrKept) {
  ConvertOptions options{.from = TextForm::jsonl, .to = TextForm::lt};
  const std::string_view text = "{\"a\":1}\n[1]\nhello world\n{\"a\":2}";
  options.unparsed = Unparsed::skip;
  EXPECT_EQ(converted(text, options).value(), "a>>1\na>>2\n");
  options.unparsed = Unparsed::keep;
  options.keep_key = "line";
  EXPECT_EQ(converted(text, options).value(), "a>>1\nline>>\"[1]\"\nline>>hello world\na>>2\n");
}

TEST(Convert, JsonIsChecked) {
  for (const std::string_view wrong : {"{",
                                       "{}x",
                                       "[]",
                                       "1",
                                       "{a:1}",
                                       "{\"a\"}",
                                       "{\"a\":}",
                                       "{\"a\":1,}",
                                       "{\"a\":.5}",
                                       "{\"a\":5.}",
                                       "{\"a\":+5}",
                                       "{\"a\":007}",
                                       "{\"a\":1e}",
                                       "{\"a\":nul}",
                                       "{\"a\":\"\\x\"}",
                                       "{\"a\":\"\\u12\"}",
                                       "{\"a\":\"\\u12g4\"}",
                                       "{\"a\":\"\t\"}",
                                       "{\"a\":\"}",
                                       "{\"a\":[1,]}",
                                       "{\"a\":[1 2]}",
                                       "{\"a\":-}",
                                       "{\"a\":nan}"}) {
    EXPECT_FALSE(converted(wrong, TextForm::jsonl, TextForm::lt)) << wrong;
  }
  const std::string deep(400, '[');
  EXPECT_TRUE(
      converted("{\"a\":" + deep + std::string(400, ']') + "}", TextForm::jsonl, TextForm::csv));
  EXPECT_FALSE(converted("{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}",
                         TextForm::jsonl, TextForm::csv));
  EXPECT_EQ(converted(" { \"a\" : [ 1 , { \"b\" : \"\\u00e9\\/\" } ] } \r\n", TextForm::jsonl,
                      TextForm::jsonl)
                .value(),
            "{\"a\":[1,{\"b\":\"é/\"}]}\n");
}

TEST(Convert, SurrogatesAndBytesKeepTheirEscapes) {
  for (const std::string_view same :
       {R"({"a":"\ud800"})", R"({"a":"\udc00x"})", R"({"a":"\udc80\udcff"})", R"({"a":"\ud83dé"})",
        R"({"a":"\udced\udca0\udc80\udced\udcb2\udc80"})", R"({"a":"\ud800\ud800\udbff"})",
        R"({"a":"\ud800\ud801x\udfff\ud802"})",
        R"({"a":"\udced\udca0\udc80\udced\udca0\udc81\udcff"})"}) {
    EXPECT_EQ(converted(same, TextForm::jsonl, TextForm::jsonl).value(), std::string(same) + "\n");
  }
  EXPECT_EQ(
      converted(R"({"a":"\ud83d\ude00 \udcc3\udca9"})", TextForm::jsonl, TextForm::jsonl).value(),
      "{\"a\":\"😀 é\"}\n");
  EXPECT_EQ(converted("{\"a\":\"\xff\"}", TextForm::jsonl, TextForm::jsonl).value(),
            "{\"a\":\"\\udcff\"}\n");
}

TEST(Convert, CsvHasTheKeysOfAllRecords) {
  const auto csv = [](std::string_view text) {
    return converted(text, TextForm::jsonl, TextForm::csv).value();
  };
  EXPECT_EQ(csv("{\"a\":1,\"c\":\"\"}\n{\"a\":null,\"b\":2,\"c\":3}\n{\"d\":4}\n"),
            "a,b,c,d\n1,,\"\",\nnull,2,3,\n,,,4\n");
  EXPECT_EQ(csv("{\"a\":1,\"b\":2}\n{\"b\":3,\"a\":4}\n"),
            "a,b,@order\n1,2,\n4,3,\"[\"\"b\"\",\"\"a\"\"]\"\n");
  EXPECT_EQ(csv("{\"a\":1,\"a\":2}\n{\"a\":3}\n"), "a,a\n1,2\n3,\n");
  EXPECT_EQ(csv("{}\n"), "@order\n[]\n");
  EXPECT_EQ(csv("{\"a\":1}\n{}\n"), "a,@order\n1,\n,[]\n");
  EXPECT_EQ(csv(""), "");
  std::string wide = "{\"k\":0";
  for (size_t i = 0; i < 16384; ++i) wide += ",\"" + std::to_string(i) + "\":0";
  EXPECT_EQ(converted(wide + "}", TextForm::jsonl, TextForm::csv).error().code,
            ErrorCode::unsupported);
}

TEST(Convert, CsvIsReadWithQuotesAndWithoutAHeader) {
  EXPECT_EQ(converted("\uFEFFa,\"b c\"\r\n\"x,\n\"\"y\"\"\",\r\n\r\n1,\"1\"\r\n", TextForm::csv,
                      TextForm::jsonl)
                .value(),
            "{\"a\":\"x,\\n\\\"y\\\"\"}\n{\"a\":1,\"b c\":\"1\"}\n");
  EXPECT_EQ(
      converted("1;x\n2;y", {.from = TextForm::csv, .delimiter = ';', .has_header = false}).value(),
      "{\"0\":1,\"1\":\"x\"}\n{\"0\":2,\"1\":\"y\"}\n");
  EXPECT_EQ(converted("1,2\n", {.from = TextForm::csv, .header = "a,b"}).value(),
            "{\"a\":1,\"b\":2}\n");
  for (const std::string_view wrong : {"a\nx\"y\n", "a\n\"x\n", "a\n\"x\"y\n", "a,@order\n1,5\n",
                                       "a,@order\n1,\"[\"\"b\"\"]\"\n", "a,@order\n1,[]\n"}) {
    EXPECT_FALSE(converted(wrong, TextForm::csv, TextForm::jsonl)) << wrong;
  }
}

TEST(Convert, SymbolicLinesKeepWhatIsBesideTheirFields) {
  EXPECT_EQ(
      converted("⟆⊤.TRADING:[§Ξ»⏱1755392220»↗1.5»a\\cb:\\\"=x,◉]\n", TextForm::sym, TextForm::jsonl)
          .value(),
      R"({"@type":"TABLE","@subtype":"TRADING","symbol":"ETH-USD","timestamp":"1755392220",)"
      R"("open":"1.5","a:b":"=x","@status":"COMMITTED"})"
      "\n");
  for (const std::string_view wrong :
       {"⟆⟐.RAW:[§₿»⏱=x,✓]", "⟆⟐.RAW:[§\\q,✓]", "⟆⟐.RAW:[§\\x1,✓]", "⟆⟐.RAW:[]",
        "⟆⟐:[§₿,✓]", "LORETOKEN.PRICE:[BTC-USD,ts:1,ACTIVE]", "⟆⟐.RAW:[§[»↗1,✓]"}) {
    EXPECT_FALSE(converted(wrong, TextForm::sym, TextForm::jsonl)) << wrong;
  }
}

// Pieces end anywhere, chunks hold many rows, and batches many chunks.
TEST(Convert, LongTextsAreConvertedInPieces) {
  std::mt19937_64 random(test_seed());
  std::string text;
  std::string expected;
  for (int i = 0; i < 60000; ++i) {
    const std::string filler(random() % 100, 'x');
    text += std::to_string(i) + ",\"" + filler + "\n\"\n";
    expected += "{\"n\":" + std::to_string(i) + ",\"t\":\"" + filler + "\\n\"}\n";
  }
  text = "n,t\n" + text;
  for (const TextForm through : {TextForm::jsonl, TextForm::csv}) {
    std::string out;
    const ConvertOptions options{.from = TextForm::csv, .to = through};
    const EachText each = [&](const WriteText& take) -> Status {
      for (size_t at = 0; at < text.size();) {
        const size_t size = std::min<size_t>(1 + random() % 700000, text.size() - at);
        if (Status taken = take(std::string_view(text).substr(at, size)); !taken) return taken;
        at += size;
      }
      return {};
    };
    const Result<Converted> done = convert(each, options, [&](std::string_view piece) -> Status {
      out += piece;
      return {};
    });
    ASSERT_TRUE(done);
    EXPECT_EQ(done->records, 60000u);
    EXPECT_EQ(converted(out, through, TextForm::jsonl).value(), expected);
  }
}

TEST(Convert, LinesAreCountedOverPieces) {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += "{\"a\":1234}\n";
  text += "nothing\n";
  const Result<std::string> refused = converted(text, TextForm::jsonl, TextForm::csv);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("line 300001 "), std::string::npos);
}

TEST(Convert, AConversionMayBeStopped) {
  std::stop_source stop;
  size_t written = 0;
  const EachText endless = [&](const WriteText& take) -> Status {
    for (;;) {
      if (Status taken = take("{\"a\":1}\n"); !taken) return taken;
      if (++written == 1000000) stop.request_stop();
    }
  };
  const Result<Converted> done = convert(endless, {.to = TextForm::csv, .stop = stop.get_token()},
                                         [](std::string_view /*piece*/) { return Status(); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::cancelled);
}

TEST(Convert, FormatsAreFound) {
  EXPECT_EQ(form_of_name("a/b.tsv")->delimiter, '\t');
  EXPECT_EQ(form_of_name("x.sym")->form, TextForm::sym);
  EXPECT_FALSE(form_of_name("x.txt"));
  EXPECT_EQ(dialect_of_text("{\"a\":1}\n")->form, TextForm::jsonl);
  EXPECT_EQ(dialect_of_text("a;b\nx;1\ny;2\n")->delimiter, ';');
  EXPECT_EQ(dialect_of_text("a>>1 b>>2\n")->form, TextForm::lt);
  EXPECT_EQ(dialect_of_text("a>>1 ⏱>>2\n")->form, TextForm::lts);
  EXPECT_EQ(dialect_of_text("__a>>1 __b>>2\n")->form, TextForm::ltu);
  EXPECT_EQ(dialect_of_text("⟆⟐.RAW:[§₿,✓]\n")->form, TextForm::sym);
  EXPECT_EQ(dialect_of_text("\n")->form, TextForm::jsonl);
  EXPECT_FALSE(dialect_of_text("1,2\n3,4\n"));
  EXPECT_FALSE(dialect_of_text("any words\nof any kind\n"));
}

}  // namespace
}  // namespace hoist::records
