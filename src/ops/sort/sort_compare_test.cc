// Comparator against the installed sort, and the pieces of the order one by one.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "ops/sort/compare.h"
#include "ops/sort/sort_testing.h"

namespace hoist::sort {
namespace {

Line line(std::string_view text) { return {text.data(), text.size()}; }
int sign(int order) { return (order > 0) - (order < 0); }

// Every earlier text sorts before every later one, in a call either way round.
template <typename Compare>
void expect_ascending(const std::vector<std::string>& texts, Compare compare) {
  for (size_t i = 0; i < texts.size(); ++i) {
    for (size_t j = 0; j < texts.size(); ++j) {
      const int expected = (i > j) - (i < j);
      EXPECT_EQ(sign(compare(line(texts[i]), line(texts[j]))), expected)
          << "[" << texts[i] << "] and [" << texts[j] << "]";
    }
  }
}

template <typename Compare>
void expect_equal(const std::vector<std::string>& texts, Compare compare) {
  for (const std::string& a : texts) {
    for (const std::string& b : texts) {
      EXPECT_EQ(compare(line(a), line(b)), 0) << "[" << a << "] and [" << b << "]";
    }
  }
}

TEST(SortCompare, NumericReadsValues) {
  LocaleFacts facts = read_locale();
  const auto compare = [&](Line a, Line b) { return compare_numeric(a, b, facts); };
  expect_ascending({"-12", "-2.5", "-2.05", "-.5", "x", ".05", ".5", "1", "1.05", "9", "10",
                    "123456789012345678901234567890", "123456789012345678901234567891"},
                   compare);
  expect_equal({"", "0", "-0", "+5", "--5", "0.000", "-.", ".", "abc", " \t-00.0x"}, compare);
  expect_equal({"1", " 1", "001.", "1.0", "1x", "1.0.5", std::string("1\0009", 3)}, compare);
  expect_ascending({"1,5", "2"}, compare);  // no thousands separator in C, but for one odd byte
  expect_equal({"1234", "1\200234", "\2001\200\200234\200"}, compare);
  expect_ascending({"1.1\2009", "1.11"}, compare);
  facts.thousands_separator = ',';
  expect_ascending({"2", "1,5", "15.5", "1,234,567"}, compare);
  expect_equal({"1234", "1,234", ",,1,,234,", "0,01234"}, compare);
}

TEST(SortCompare, HumanNumericOrdersByUnitFirst) {
  const LocaleFacts facts = read_locale();
  const auto v9_1 = [&](Line a, Line b) { return compare_human_numeric(a, b, facts); };
  const auto v9_4 = [&](Line a, Line b) {
    return compare_human_numeric(a, b, facts, Dialect{.ronna_and_quetta = true});
  };
  const std::vector<std::string> units = {"-1G", "-2M", "-1M", "-5", "0T", "5",  "9999", "1k",
                                          "2K",  "1M",  "1G",  "1T", "1P", "1E", "1Z",   "1Y"};
  expect_ascending(units, v9_1);
  expect_ascending(units, v9_4);
  expect_equal({"1", "1R", "1Q", "1m", "1g"}, v9_1);
  expect_ascending({"1Y", "1R", "1Q"}, v9_4);
}

TEST(SortCompare, GeneralNumericPutsUnreadableAndNansFirst) {
  const auto v9_1 = [](Line a, Line b) { return compare_general_numeric(a, b); };
  const auto v9_4 = [](Line a, Line b) {
    return compare_general_numeric(a, b, Dialect{.nans_by_sign = true});
  };
  const std::vector<std::string> numbers = {"x",   "nan", "-inf", "-1e4000", "-1",      "1e-4000",
                                            "0x1", "1.5", "1e1",  "1e4000",  "infinity"};
  expect_ascending(numbers, v9_1);
  expect_ascending(numbers, v9_4);
  expect_equal({"0", "-0", "0x0", "0e5"}, v9_1);
  expect_ascending({"nan", "-nan", "nan(1)", "nan(5)"}, v9_1);
  expect_ascending({"-nan", "nan"}, v9_4);
  expect_equal({"nan", "nan(1)", "nan(5)"}, v9_4);
}

TEST(SortCompare, MonthsByName) {
  const LocaleFacts facts = read_locale();
  EXPECT_EQ(month_number(line("JAN"), facts), 1);
  EXPECT_EQ(month_number(line(" \tdecember"), facts), 12);
  EXPECT_EQ(month_number(line("de"), facts), 0);
  EXPECT_EQ(month_number(line(""), facts), 0);
  EXPECT_EQ(month_number(line("x"), facts), 0);
}

// The examples of the manual's chapter, and the corners of its rules.
TEST(SortCompare, VersionFollowsTheManual) {
  const auto v9_1 = [](Line a, Line b) { return compare_version(a, b); };
  const auto v9_4 = [](Line a, Line b) {
    return compare_version(a, b, Dialect{.keeps_stem = true});
  };
  expect_ascending({"",  ".",  "..", ".a", ".b", "~",  "1~",  "1",  "1%", "2", "8", "8.5",
                    "9", "10", "a~", "a",  "a1", "a2", "a10", "aa", "a!", "b", "%"},
                   v9_1);
  expect_ascending({"hello-8", "hello-8.txt", "hello-8.2", "hello-8.2.txt", "hello-8.12.txt"},
                   v9_1);
  expect_ascending({"a.b", "a.c.d", "abc"}, v9_1);
  expect_equal({"1.01", "1.1", "01.001"}, v9_1);
  expect_ascending({".Z0", ".a.b", ".zz", ".~Z._"}, v9_1);
  expect_ascending({".~Z._", ".Z0", ".a.b", ".zz"}, v9_4);
}

// The bytes of the NaN that a line begins with, sign and payload; empty: none.
std::string nan_bytes(const std::string& text) {
  constexpr size_t kBytes = 10;  // the rest of a long double is padding
  const long double value = std::strtold(text.c_str(), nullptr);
  std::string bytes(kBytes, '\0');
  std::memcpy(bytes.data(), &value, kBytes);
  return std::isnan(value) ? bytes : std::string();
}

// A sorted text with the lines of equal NaNs, which release 9.1 leaves in any order
// (compare_nans()), put into an order of their own.
std::string with_ordered_nans(const std::string& sorted) {
  std::vector<std::string> lines;
  std::istringstream in(sorted);
  for (std::string text; std::getline(in, text);) lines.push_back(text);
  for (auto first = lines.begin(); first != lines.end();) {
    const std::string nan = nan_bytes(*first);
    const auto last = std::find_if(first + 1, lines.end(), [&](const std::string& text) {
      return nan.empty() || nan_bytes(text) != nan;
    });
    std::sort(first, last);
    first = last;
  }
  std::string text;
  for (const std::string& one : lines) text += one + '\n';
  return text;
}

// Compares whole sorts of generated lines with the installed program.
class AgainstInstalledSort : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { locales_ = new Locales; }
  static void TearDownTestSuite() {
    delete locales_;
    locales_ = nullptr;
  }
  void SetUp() override {
    if (version_ != "9.1" && version_ != "9.4") GTEST_SKIP() << "no GNU sort 9.1 or 9.4";
  }

  // `settle` undoes what the program leaves open, in its output and in ours.
  void check(const std::vector<std::string>& options, const std::string& input,
             std::string (*settle)(const std::string&) = nullptr) {
    std::vector<std::string> argv = {"sort"};
    argv.insert(argv.end(), options.begin(), options.end());
    const Result<Options> parsed = parse_options(argv, version_);
    ASSERT_TRUE(parsed) << shown(argv) << parsed.error().message;
    const ProgramResult expected = run_program(argv, input);
    ASSERT_EQ(expected.status, 0) << shown(argv) << expected.errors;
    const std::string ours = sort_plainly(*parsed, input);
    ASSERT_EQ(settle != nullptr ? settle(ours) : ours,
              settle != nullptr ? settle(expected.output) : expected.output)
        << "LC_ALL=" << getenv("LC_ALL") << " " << shown(argv) << "\ninput:\n"
        << input;
  }

  std::string lines(const std::vector<std::string>& pieces, int count, int longest,
                    char terminator = '\n') {
    std::string text;
    for (int i = 0; i < count; ++i) {
      for (size_t left = random_() % static_cast<size_t>(longest + 1); left > 0; --left) {
        text += pick(pieces, random_);
      }
      text.push_back(terminator);
    }
    return text;
  }

  static Locales* locales_;
  const std::string version_ = installed_version();
  std::mt19937_64 random_{test_seed()};
};
Locales* AgainstInstalledSort::locales_ = nullptr;

TEST_F(AgainstInstalledSort, Versions) {
  const std::vector<std::string> dense = {"~", ".", "-", "a", "b", "Z", "0", "1", "9", "10", "_"};
  const std::vector<std::string> wild = {
      "~", ".", "..", ".tar.gz", "a",  "B", "0",
      "1", "9", " ",  "\xc3",    "\t", "/", std::string(1, '\0')};
  Locales::select("C");
  for (int round = 0; round < 30; ++round) {
    check({"-V", "-s"}, lines(dense, 300, 7));
    check({"-sV"}, lines(wild, 300, 8));
    check({"-Vu"}, lines(dense, 300, 3));
    check({"-zV"}, lines({"~", ".", "a", "\n", "1", "0"}, 100, 5, '\0'));
  }
}

TEST_F(AgainstInstalledSort, Numbers) {
  const std::vector<std::string> pieces = {
      "0", "1", "9", "12", ".", ",",   "-",  "+", " ", "\xa0",
      "K", "M", "k", "Y",  "R", "000", "\t", "e", "x", std::string(1, '\0')};
  for (const std::string& locale : locales_->names()) {
    Locales::select(locale);
    for (int round = 0; round < 12; ++round) {
      const std::string input = lines(pieces, 300, 6);
      for (const char* option : {"-n", "-h", "-g", "-gs", "-ns", "-hs", "-nu", "-hu", "-gu"}) {
        check({option}, input);
      }
    }
    check({"-gs"}, lines({"nan", "-", "inf", "(1)", "(2)", " ", "1", "e", "0x", "p"}, 300, 4),
          version_ == "9.1" ? with_ordered_nans : nullptr);
  }
}

TEST_F(AgainstInstalledSort, Months) {
  const std::vector<std::string> pieces = {
      "jan", "FEB",      "Mar", "apr",  "Mai", "jun", "jul", "m\xe4r", "m\xc3\xa4r", "MÄR",  "dez",
      "okt", "f\xe9vr.", "a",   "mars", " ",   "\t",  "x",   "ma",     "juin",       "juil."};
  for (const std::string& locale : locales_->names()) {
    Locales::select(locale);
    for (int round = 0; round < 5; ++round) {
      check({"-M"}, lines(pieces, 200, 3));
      check({"-Msr"}, lines(pieces, 200, 3));
      check({"-sk2M"}, lines(pieces, 200, 5));
    }
  }
}

TEST_F(AgainstInstalledSort, RandomKeys) {
  const std::vector<std::string> pieces = {"a",
                                           "B",
                                           "b",
                                           "A",
                                           "c",
                                           " ",
                                           "  ",
                                           "\t",
                                           ",",
                                           ",",
                                           ".",
                                           "-",
                                           "1",
                                           "2",
                                           "10",
                                           "\xc3\xa4",
                                           "\xc3\x84",
                                           "\xff",
                                           "z",
                                           "Z",
                                           "_",
                                           "~",
                                           std::string(1, '\0'),
                                           "\x01",
                                           "e\xcc\x81",
                                           "\xe4"};
  const std::vector<std::string> letters = {"b", "d", "f", "g", "h", "i", "M", "n", "r", "V"};
  const auto some_letters = [&] {
    std::string text;
    for (size_t left = random_() % 3; left > 0; --left) text += pick(letters, random_);
    return text;
  };
  int accepted = 0;
  for (int round = 0; round < 400; ++round) {
    Locales::select(pick(locales_->names(), random_));
    std::vector<std::string> options;
    for (size_t left = random_() % 3; left > 0; --left) {
      std::string key = "-k" + std::to_string(1 + random_() % 3);
      if (random_() % 3 == 0) key += "." + std::to_string(1 + random_() % 4);
      key += some_letters();
      if (random_() % 2 == 0) {
        key += "," + std::to_string(1 + random_() % 4);
        if (random_() % 3 == 0) key += "." + std::to_string(random_() % 4);
        key += some_letters();
      }
      options.push_back(key);
    }
    if (random_() % 3 == 0) options.push_back("-" + pick(letters, random_));
    if (random_() % 4 == 0) options.push_back("-" + pick(letters, random_));
    if (random_() % 4 == 0) options.push_back("-s");
    if (random_() % 4 == 0) options.push_back("-u");
    if (random_() % 3 == 0)
      options.push_back("-t" + pick<std::string>({",", " ", "\\0", "a"}, random_));
    const bool nul = random_() % 5 == 0;
    if (nul) options.push_back("-z");
    std::vector<std::string> argv = {"sort"};
    argv.insert(argv.end(), options.begin(), options.end());
    if (!parse_options(argv, version_)) {
      ASSERT_EQ(run_program(argv).status, 2) << shown(argv);  // letters that exclude each other
      continue;
    }
    ++accepted;
    std::vector<std::string> text = pieces;
    if (nul) text.push_back("\n");
    check(options, lines(text, 60, 10, nul ? '\0' : '\n'));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(accepted, 200);
}

TEST(SortCompare, CollationIsBytesOnlyWithoutRules) {
  const Locales locales;
  for (const std::string& name : locales.names()) {
    Locales::select(name);
    EXPECT_EQ(read_locale().hard_collation, name != "C" && name != "C.UTF-8") << name;
  }
}

}  // namespace
}  // namespace hoist::sort
