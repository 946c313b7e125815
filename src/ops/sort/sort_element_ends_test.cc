#include <gtest/gtest.h>

#include <clocale>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "ops/sort/compare.h"
#include "ops/sort/element_ends.h"
#include "ops/sort/sort_testing.h"

namespace hoist::sort {
namespace {

int sign(int order) { return (order > 0) - (order < 0); }

size_t common(const ElementEnds& ends, const std::string& a, const std::string& b) {
  return ends.common({a.data(), a.size()}, {b.data(), b.size()});
}

// Pieces that are more than one element, or that elements of more bytes are made of, in some
// locale; and what no locale knows.
std::vector<std::string> odd_pieces() {
  std::vector<std::string> pieces = {"ch",           "Ch",
                                     "c'h",          "ll",
                                     "lj",           "dz",
                                     "dzs",          "d\xc5\xbe",
                                     "cs",           "ny",
                                     "ng",           "aa",
                                     "\xc3\xa9",     "e\xcc\x81",
                                     "\xcc\x88",     "l\xc2\xb7l",
                                     "\xe4\xb8\xad", "\xe3\x81\x82",
                                     "\xe0\xb8\x81", "\xe0\xb9\x80\xe0\xb8\x81",
                                     "\xed\x95\x9c", "\xf0\x9f\x98\x80",
                                     "\xc2\xa0",     "\xff",
                                     "\xe4",         "\xe4\xb8",
                                     "\xc3",         "\xf0\x9f",
                                     "\xe1\x84\x80"};
  const size_t odd = pieces.size();
  for (int byte = 1; byte < 128; ++byte) pieces.emplace_back(1, static_cast<char>(byte));
  for (size_t i = 0; i < odd; ++i) pieces.insert(pieces.end(), 2, pieces[i]);
  return pieces;
}

TEST(SortElementEnds, WhatIsLeftOutDoesNotChangeTheOrder) {
  Locales locales;
  // Contractions, ranges, accents read backwards, signs that weigh nothing on some levels, prefix
  // vowels, one level only.
  for (const char* language : {"hr_HR", "hu_HU", "fr_CA", "es_ES", "pl_PL", "uk_UA", "th_TH"}) {
    locales.compile(language, "UTF-8");
  }
  locales.compile("ja_JP", "EUC-JP");
  const std::vector<std::string> pieces = odd_pieces();
  const std::vector<std::string> weightless = {" ", "'", "-", "\xcc\x81", "\xc2\xa0", "1", "a"};
  std::mt19937_64 random(test_seed());
  for (const std::string& name : locales.names()) {
    Locales::select(name);
    if (!read_locale().hard_collation) continue;
    const ElementEnds ends = ElementEnds::of_locale();
    size_t left_out = 0;
    for (int round = 0; round < 10000; ++round) {
      std::vector<std::string> alphabet;  // a few: texts that are nearly alike
      const std::vector<std::string>& from = random() % 3 == 0 ? weightless : pieces;
      for (size_t i = 2 + random() % 6; i > 0; --i) alphabet.push_back(pick(from, random));
      const auto text = [&](size_t most) {
        std::string made;
        for (size_t i = random() % most; i > 0; --i) made += pick(alphabet, random);
        return made;
      };
      const std::string prefix = text(12);
      std::string a = prefix + text(6);
      const std::string b = prefix + text(6);
      if (!a.empty() && random() % 4 == 0) {
        a[random() % a.size()] = static_cast<char>(1 + random() % 255);
      }
      if (a.empty() || b.empty() || a == b) continue;
      const size_t skipped = common(ends, a, b);
      ASSERT_LT(skipped, std::min(a.size(), b.size()));
      left_out += skipped;
      ASSERT_EQ(sign(std::strcoll(a.c_str(), b.c_str())),
                sign(std::strcoll(a.c_str() + skipped, b.c_str() + skipped)))
          << name << " [" << a << "] [" << b << "] " << skipped;
    }
    EXPECT_EQ(left_out > 0, name != "fr_CA.UTF-8") << name;
  }
}

TEST(SortElementEnds, TextsWithNulsCompareAsTheyDoInFull) {
  const Locales locales;
  std::mt19937_64 random(test_seed());
  const std::vector<std::string> pieces = {"a", "b", "A", " ", "-", "1", std::string(1, '\0'), "é"};
  for (const std::string& name : locales.names()) {
    Locales::select(name);
    if (!read_locale().hard_collation) continue;
    const ElementEnds ends = ElementEnds::of_locale();
    for (int round = 0; round < 20000; ++round) {
      const auto text = [&](size_t most) {
        std::string made;
        for (size_t i = random() % most; i > 0; --i) made += pick(pieces, random);
        return made;
      };
      const std::string prefix = text(6);
      const std::string a = prefix + text(4);
      const std::string b = prefix + text(4);
      const Line left{a.data(), a.size()};
      const Line right{b.data(), b.size()};
      ASSERT_EQ(sign(compare_collated(left, right, ends)), sign(compare_collated(left, right)))
          << name << " [" << a << "] [" << b << "]";
    }
  }
}

TEST(SortElementEnds, KeepsWhatDecides) {
  Locales locales;
  locales.compile("cs_CZ", "UTF-8");
  const auto at = [&](const std::string& name, const std::string& a, const std::string& b) {
    Locales::select(name);
    return common(ElementEnds::of_locale(), a, b);
  };
  const std::vector<std::string>& names = locales.names();
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!has("en_US.UTF-8") || !has("cs_CZ.UTF-8")) GTEST_SKIP() << "no sources of locales";
  EXPECT_EQ(at("en_US.UTF-8", "banana", "bananb"), 5u);
  EXPECT_EQ(at("en_US.UTF-8", "banana", "banana split"), 5u);    // never an empty rest
  EXPECT_EQ(at("en_US.UTF-8", "ban 2026-1", "ban 2026-2"), 3u);  // digits have a backward level
  EXPECT_EQ(at("en_US.UTF-8", "", "a"), 0u);
  EXPECT_EQ(at("en_US.UTF-8", "xyc", "xyh"), 2u);
  EXPECT_EQ(at("cs_CZ.UTF-8", "xch", "xcz"), 1u);  // c may begin ch
  EXPECT_EQ(at("cs_CZ.UTF-8", "xha", "xhb"), 1u);  // and h may end it
  EXPECT_EQ(ElementEnds().common({"abc", 3}, {"abd", 3}), 0u);
}

}  // namespace
}  // namespace hoist::sort
