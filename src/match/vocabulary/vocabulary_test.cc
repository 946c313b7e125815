#include "match/vocabulary/vocabulary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/test_seed.h"
#include "match/vocabulary/pattern.h"
#include "match/vocabulary/printable.h"

namespace hoist::match {
namespace {

using Events = std::vector<std::vector<std::string>>;

std::string name_of(const Events& events, bool sort = true) {
  PatternText pattern = pattern_of(events);
  EXPECT_TRUE(normalise(pattern, sort));
  return pattern_name(pattern);
}

std::string repr_of(const Events& events) {
  std::string out;
  append_python_repr(pattern_of(events), out);
  return out;
}

TEST(PatternTest, NameIsTheDigestOfThePythonRepr) {
  // python3 -c 'import hashlib; print(hashlib.sha1(repr([["a"], ["b"],
  // ["c"]]).encode()).hexdigest())'
  EXPECT_EQ(name_of({{"a"}, {"b"}, {"c"}}), "b98534b32c1d7489d4ce1a48724aa65aeecbdba9");
  EXPECT_EQ(name_of({{"a"}, {}, {"b"}, {}, {"c"}}), name_of({{"a"}, {"b"}, {"c"}}));
}

TEST(PatternTest, ReprQuotesLikePython) {
  EXPECT_EQ(repr_of({{"a", "b"}, {"c"}}), "[['a', 'b'], ['c']]");
  EXPECT_EQ(repr_of({{"it's"}}), R"([["it's"]])");
  EXPECT_EQ(repr_of({{"it's \"x\""}}), R"([['it\'s "x"']])");
  EXPECT_EQ(repr_of({{"\"", "\\", ""}}), R"([['"', '\\', '']])");
  EXPECT_EQ(repr_of({{"\t\n\r\x01\x7f"}}), R"([['\t\n\r\x01\x7f']])");
  EXPECT_EQ(repr_of({{std::string("\0", 1)}}), R"([['\x00']])");
  EXPECT_EQ(repr_of({{"é€😀"}}), "[['é€😀']]");
  EXPECT_EQ(repr_of({{"\u00a0\u00ad\u2028\ue000\U000e0001\U0010ffff"}}),
            R"([['\xa0\xad\u2028\ue000\U000e0001\U0010ffff']])");
  EXPECT_EQ(repr_of({}), "[]");
}

TEST(PatternTest, PrintableAgreesWithUnicodeWhereItIsWellKnown) {
  EXPECT_TRUE(is_printable(' '));
  EXPECT_TRUE(is_printable(0xa1));
  EXPECT_FALSE(is_printable(0x80));
  EXPECT_FALSE(is_printable(0xd800));
  EXPECT_FALSE(is_printable(0xe000));
  EXPECT_FALSE(is_printable(0x3000));  // a space that is not U+0020
  EXPECT_TRUE(is_printable(0x4e00));
  EXPECT_TRUE(is_printable(0x1f600));
  EXPECT_FALSE(is_printable(0x10ffff));
}

TEST(PatternTest, EventsAreSortedByCodePointUnlessToldOtherwise) {
  EXPECT_EQ(name_of({{"b", "a"}}), name_of({{"a", "b"}}, false));
  EXPECT_NE(name_of({{"b", "a"}}, false), name_of({{"a", "b"}}, false));
  const Events events = {{"😀", "\uffee", "z", ""}, {}, {"b"}};
  PatternText pattern = pattern_of(events);
  ASSERT_TRUE(normalise(pattern, true));
  const std::vector<std::string_view> expected = {"", "z", "\uffee", "😀", "b"};
  EXPECT_EQ(pattern.tokens, expected);
  EXPECT_EQ(pattern.event_ends, (std::vector<uint32_t>{4, 5}));
}

TEST(PatternTest, RefusesWhatIsNoPattern) {
  for (const std::string bad :
       {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
    const Events events = {{bad}};
    PatternText pattern = pattern_of(events);
    EXPECT_EQ(normalise(pattern, true).error().code, ErrorCode::invalid_argument);
  }
  const std::string longest(kMaxSymbolBytes, 'x');
  const std::string too_long(kMaxSymbolBytes + 1, 'x');
  Events events = {{longest}};
  PatternText pattern = pattern_of(events);
  EXPECT_TRUE(normalise(pattern, true));
  EXPECT_FALSE(check_learnable(pattern));
  events = {{too_long}};
  pattern = pattern_of(events);
  EXPECT_FALSE(normalise(pattern, true));
  events = {std::vector<std::string>(65'535, "x")};
  pattern = pattern_of(events);
  EXPECT_TRUE(normalise(pattern, true));
  EXPECT_TRUE(check_learnable(pattern));
  events[0].push_back("x");
  pattern = pattern_of(events);
  EXPECT_FALSE(normalise(pattern, true));
}

TEST(VocabularyTest, NumbersSymbolsInOrderOfLearning) {
  Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.find("a"), std::nullopt);
  EXPECT_EQ(vocabulary.add("a"), 0u);
  EXPECT_EQ(vocabulary.add(""), 1u);
  EXPECT_EQ(vocabulary.add("a"), 0u);
  EXPECT_EQ(vocabulary.size(), 2u);
  EXPECT_EQ(vocabulary.symbol(1), "");
  EXPECT_EQ(vocabulary.find("b"), std::nullopt);
  EXPECT_EQ(vocabulary.size(), 2u);
  vocabulary.add_patterns_with(1, 3);
  vocabulary.add_patterns_with(1, -1);
  EXPECT_EQ(vocabulary.patterns_with(1), 2u);
}

TEST(VocabularyTest, AgreesWithAMap) {
  std::mt19937_64 random(test_seed());
  Vocabulary vocabulary;
  std::unordered_map<std::string, uint32_t> expected;
  for (int i = 0; i < 60'000; ++i) {
    std::string symbol(random() % 12, '\0');
    for (char& c : symbol) c = static_cast<char>('a' + random() % 3);
    if (random() % 1000 == 0) symbol.append(kMaxSymbolBytes - symbol.size(), 'z');
    const auto [at, is_new] = expected.try_emplace(symbol, static_cast<uint32_t>(expected.size()));
    if (!is_new) {
      ASSERT_EQ(vocabulary.find(symbol), at->second);
    }
    ASSERT_EQ(vocabulary.add(symbol), at->second);
  }
  ASSERT_EQ(vocabulary.size(), expected.size());
  for (const auto& [symbol, id] : expected) {
    ASSERT_EQ(vocabulary.find(symbol), id);
    ASSERT_EQ(vocabulary.symbol(id), symbol);
  }
}

TEST(VocabularyTest, ReadersSeeWholeSymbolsWhileOneWrites) {
  constexpr uint32_t kSymbols = 30'000;
  Vocabulary vocabulary;
  std::atomic<uint32_t> wrong = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      std::mt19937_64 random(test_seed());
      while (vocabulary.size() < kSymbols) {
        const uint32_t size = vocabulary.size();
        if (size == 0) continue;
        const auto id = static_cast<uint32_t>(random() % size);
        if (vocabulary.symbol(id) != std::to_string(id)) ++wrong;
        if (vocabulary.find(std::to_string(id)) != id) ++wrong;
        const auto ahead = vocabulary.find(std::to_string(id + 100));
        if (ahead && *ahead != id + 100) ++wrong;
      }
    });
  }
  for (uint32_t id = 0; id < kSymbols; ++id) vocabulary.add(std::to_string(id));
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace hoist::match
