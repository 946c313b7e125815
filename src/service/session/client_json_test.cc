// Texts of every kind beside nlohmann::json, and what a document keeps.
#include "service/session/client_json.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <random>
#include <string>
#include <thread>

#include "base/test_seed.h"
#include "service/session/client_json_testing.h"

namespace hoist::service {
namespace {

using Random = std::mt19937_64;

std::string repeated(size_t count, std::string_view text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(ClientJson, TakesWhatNlohmannTakes) {
  using std::string_literals::operator""s;
  const std::string texts[] = {
      "", " \n", "{}", "[]", "null", "true", "-1", "\"a\"", "{\"a\":1,\"b\":2,\"a\":{\"b\":3}}",
      "{\"a\":\"x\",\"\\u0061\":1}", "{\"z\":1,\"y\":[{\"b\":1,\"a\":2,\"b\":3}]}",
      // Numbers.
      "18446744073709551615", "18446744073709551616", "9223372036854775808", "-9223372036854775808",
      "-9223372036854775809", "[123456789012345678901234567890, 1]", "-0", "-0.0", "1e400",
      "-1e400", "1e-400", "4.9e-324", "2.4e-324", "1.7976931348623157e308",
      "1.7976931348623159e308", "0e99999", "1e-99999999999999999999", "1e99999999999999999999",
      "[1E5, 1e+5, 1.50]", "01", "1.", ".5", "+1", "-", "1e", "0x1", "NaN", "[Infinity]",
      "-Infinity", "1_000", "[0.1, 0.30000000000000004]", repeated(400, "9"),
      "[" + repeated(400, "9") + "]", "9007199254740993", "9007199254740993.0",
      // Texts.
      "\"\\ud83d\\ude00\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\ud800\"", "\"\\ud800x\"",
      "\"\\ud800\\u0041\"", "\"\\u12g4\"", "\"\\u0000\"", "\"\\x\"", "\"\\\"", "\"\x01\"",
      "\"\x7f\"", "\"\xc3\xa9\xf0\x9f\x98\x80\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"",
      "\"\xf4\x90\x80\x80\"", "\"\xff\"", "\"\xc3", "[\"a", "\xc3\xa9",
      "\"\\/\\b\\f\\n\\r\\t\\\"\\\\\"", "{\"\\u0000\":1}",
      // What surrounds them.
      "\xef\xbb\xbf[1]", "\xef\xbb\xbf", "\xef\xbb[1]", "[1]\xef\xbb\xbf", "\0"s, "[\0]"s, "[1] x",
      "[1][2]", "[1],", "\f[1]", "\v1", "\t[ 1 ,\r\n2 ] ", "\xc2\xa0[1]", "// no\n1", "/**/1",
      "[1,]", "[,1]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "{1:2}", "['a']", "[1 2]",
      "{\"a\":1 \"b\":2}", "]", "[}", "{]", "nul", "truer", "TRUE"};
  for (const std::string& text : texts) EXPECT_EQ(difference(text), "") << text;
}

// nlohmann::json takes it for the end of the text.
TEST(ClientJson, ANulIsInNoJson) {
  using std::string_literals::operator""s;
  for (const auto& [text, byte] : std::vector<std::pair<std::string, size_t>>{
           {"[1]\0"s, 4}, {"[1]\0 this is { no json"s, 4}, {"{\"a\":\"\0\"}"s, 7}}) {
    JsonDocument document;
    const auto fault = document.parse(text);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->kind, JsonFault::Kind::syntax);
    EXPECT_EQ(fault->byte, byte);
  }
}

TEST(ClientJson, KnowsTheDeepestThatIsTaken) {
  for (const size_t depth : {1, 62, 63, 64, 65, 66, 200, 100'000}) {
    const std::string lists = std::string(depth, '['), ends = std::string(depth, ']');
    const std::string objects = repeated(depth, "{\"a\":"), object_ends = std::string(depth, '}');
    for (const std::string& text :
         {lists + ends, lists + "1" + ends, lists + "{}" + ends, objects + "1" + object_ends,
          objects + "{}" + object_ends, objects + "[[]]" + object_ends, lists,
          lists + "9e999" + ends, lists + "123456789012345678901" + ends,
          "{\"a\":1,\"b\":" + lists + "1" + ends + ",\"b\":2}"}) {
      EXPECT_EQ(difference(text), "") << depth << " " << text.substr(depth > 100 ? depth - 4 : 0);
    }
  }
}

TEST(ClientJson, KnowsTheMostValues) {
  for (const size_t count : {kMostJsonValues - 1, kMostJsonValues, kMostJsonValues + 1}) {
    // As many values as there are commas and one bracket.
    std::string text = "[" + repeated(count - 1, "0,") + "0]";
    JsonDocument document;
    const auto fault = document.parse(text);
    ASSERT_EQ(fault.has_value(), count > kMostJsonValues) << count;
    if (fault) {
      EXPECT_STREQ(fault->shape, "it has more than two million values");
    } else {
      EXPECT_EQ(document.root().items().size(), count);
    }
    text.back() = '}';
    EXPECT_EQ(document.parse(text)->kind,
              count > kMostJsonValues ? JsonFault::Kind::shape : JsonFault::Kind::syntax);
  }
}

// Texts that are JSON or nearly.
class Writer {
 public:
  explicit Writer(Random& random) : random_(random) {}

  std::string value(int depth) {
    switch (below(depth > 0 ? 8 : 5)) {
      case 0:
        return pick({"null", "true", "false"});
      case 1:
      case 2:
        return number();
      case 3:
      case 4:
        return string();
      case 5:
        return list('[', ']', [&] { return value(depth - 1); });
      default:
        return list('{', '}', [&] { return string() + space() + ":" + value(depth - 1); });
    }
  }

 private:
  size_t below(size_t bound) { return random_() % bound; }
  template <size_t N>
  std::string pick(const char* const (&texts)[N]) {
    return texts[below(N)];
  }
  std::string space() { return below(4) > 0 ? "" : pick({" ", "\n", "\t", "\r\n", "  "}); }

  std::string digits(size_t most) {
    std::string text;
    for (size_t left = 1 + below(most); left > 0; --left)
      text += static_cast<char>('0' + below(10));
    return text;
  }
  std::string number() {
    std::string text = below(3) == 0 ? "-" : "";
    text += below(3) == 0 ? "0" : digits(below(8) == 0 ? 40 : 20);
    if (below(2) == 0) text += "." + digits(25);
    if (below(3) == 0) text += pick({"e", "E"}) + pick({"", "+", "-"}) + digits(3);
    return text;
  }
  std::string string() {
    std::string text = "\"";
    for (size_t left = below(6); left > 0; --left) {
      text +=
          pick({"a", "b", "key", "\\n", "\\u0061", "\\u00e9", "\\ud83d\\ude00", "\\\"", "\\\\",
                "\xc3\xa9", "\xf0\x9f\x98\x80", "[", "{", ",", ":", "a long piece of plain text"});
    }
    return text + "\"";
  }
  template <typename Item>
  std::string list(char begin, char end, const Item& item) {
    std::string text = {begin};
    for (size_t left = below(5); left > 0; --left) {
      text += space() + item() + space() + (left > 1 ? "," : "");
    }
    return text + space() + end;
  }

  Random& random_;
};

std::string damaged(std::string text, Random& random) {
  constexpr std::array kPieces = {"\"",
                                  "\\",
                                  ",",
                                  ":",
                                  "[",
                                  "]",
                                  "{",
                                  "}",
                                  "0",
                                  "e",
                                  "-",
                                  ".",
                                  "\\ud800",
                                  "\xef\xbb\xbf",
                                  "\xc3",
                                  "\xff",
                                  "\x01",
                                  "1e999",
                                  "99999999999999999999",
                                  "//",
                                  " ",
                                  "null"};
  const size_t at = text.empty() ? 0 : random() % text.size();
  switch (random() % 4) {
    case 0:
      return text.substr(0, at);
    case 1:
      return text.erase(at, 1 + random() % 3);
    case 2:
      if (!text.empty()) text[at] = static_cast<char>(random());
      return text;
    default:
      return text.insert(at, kPieces[random() % kPieces.size()]);
  }
}

TEST(ClientJson, RandomTextsAreAsNlohmannSees) {
  Random random(test_seed());
  size_t taken = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    std::string text = Writer(random).value(4);
    for (size_t left = random() % 3; left > 0; --left) text = damaged(std::move(text), random);
    ASSERT_EQ(difference(text), "") << text;
    if (!expected_json(text).fault) ++taken;
  }
  EXPECT_GT(taken, 5'000);
  EXPECT_LT(taken, 18'000);
}

TEST(JsonDocument, DocumentsOfOneThreadDoNotDisturbEachOther) {
  JsonDocument first;
  ASSERT_FALSE(first.parse("[\"first\"]"));
  {
    JsonDocument second;
    ASSERT_FALSE(second.parse("[\"second\"]"));
    EXPECT_EQ(second.root().copy().dump(), "[\"second\"]");
  }
  JsonDocument third;
  ASSERT_FALSE(third.parse("[\"third\"]"));
  const JsonDocument moved = std::move(first);
  EXPECT_EQ(moved.root().copy().dump(), "[\"first\"]");
  EXPECT_EQ(third.root().copy().dump(), "[\"third\"]");
  std::thread([&third] {
    JsonDocument taken = std::move(third);
    EXPECT_EQ(taken.root().copy().dump(), "[\"third\"]");
  }).join();
}

size_t bytes_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(JsonDocument, AThreadKeepsLittleMemoryOfALargeOne) {
  const size_t before = bytes_in_use();
  for (const char* const odd : {"1", "12345678901234567890123"}) {
    const std::string text = "[" + repeated(1'000'000, "1234567,") + odd + "]";
    JsonDocument document;
    ASSERT_FALSE(document.parse(text));
  }
  EXPECT_LT(bytes_in_use(), before + (size_t{4} << 20));
}

TEST(JsonDocument, AfterAFaultTheNextTextIsTaken) {
  JsonDocument document;
  for (const std::string& text : {std::string(65, '['), std::string("{"), std::string("1e999")}) {
    EXPECT_TRUE(document.parse(text));
    ASSERT_FALSE(document.parse("{\"a\": 12345678901234567890123}"));
    EXPECT_EQ(document.root().find("a")->number(), 12345678901234567890123.0);
    ASSERT_FALSE(document.parse("[7]"));
    EXPECT_EQ((*document.root().items().begin()).whole(), 7);
  }
}

}  // namespace
}  // namespace hoist::service
