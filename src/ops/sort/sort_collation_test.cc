// Lines that only the lower levels of collation tell apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <clocale>
#include <random>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "ops/sort/collation_sorter.h"
#include "ops/sort/settled.h"
#include "ops/sort/sort_testing.h"

namespace {
std::atomic<size_t> collations{0};
}

// The C library's, counted.
extern "C" int strcoll(const char* a, const char* b) noexcept {
  ++collations;
  const locale_t locale = ::duplocale(LC_GLOBAL_LOCALE);
  const int order = ::strcoll_l(a, b, locale);
  ::freelocale(locale);
  return order;
}

namespace hoist::sort {
namespace {

// Lines of one buffer, as entries in a random order.
class Lines {
 public:
  explicit Lines(const std::vector<std::string>& lines, std::mt19937_64& random) {
    for (const std::string& line : lines) {
      entries_.push_back({LineRef::make(text_.size(), line.size()), 0});
      text_ += line + '\n';
    }
    text_ += std::string(8, '\0');
    std::shuffle(entries_.begin(), entries_.end(), random);
  }
  std::vector<Entry>& entries() { return entries_; }
  const char* text() const { return text_.data(); }

 private:
  std::string text_;
  std::vector<Entry> entries_;
};

bool same(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Entry& x, const Entry& y) { return x.lo == y.lo; });
}

Options options_for(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "sort");
  return parse_options(arguments, "9.1").value();
}

// The same letters in either case, with signs between them.
std::string spelt(std::mt19937_64& random, const std::string& letters) {
  std::string text;
  for (const char letter : letters) {
    text += static_cast<char>(random() % 4 == 0 ? letter - 'a' + 'A' : letter);
    if (random() % 8 == 0) text += pick<std::string>({"-", " ", "(", "\"", "─"}, random);
  }
  return text;
}

class SortCollationSorter : public ::testing::Test {
 protected:
  void SetUp() override {
    static const Locales locales;
    const std::vector<std::string>& names = locales.names();
    if (std::find(names.begin(), names.end(), "en_US.UTF-8") == names.end()) {
      GTEST_SKIP() << "no sources of locales";
    }
    Locales::select("en_US.UTF-8");
  }

  // How many calls of strcoll() it took.
  size_t check(const std::vector<std::string>& lines, const std::vector<std::string>& arguments,
               size_t block_bytes = CollationSorter::kBlockBytes) {
    const Options options = options_for(arguments);
    const Comparator comparator(options);
    const Coder coder(comparator);
    Lines sorted(lines, random_);
    const EntryOrder order(comparator, sorted.text(), '\n');
    collations = 0;
    CollationSorter(coder, order, block_bytes).sort(sorted.entries(), coder.first_stage());
    const size_t calls = collations;
    std::vector<Entry> expected = sorted.entries();
    const Comparator plain = plain_comparator(options);
    std::sort(expected.begin(), expected.end(), EntryOrder(plain, sorted.text(), '\n'));
    EXPECT_TRUE(same(sorted.entries(), expected))
        << shown(arguments) << lines.size() << " lines, blocks of " << block_bytes;
    return calls;
  }

  std::mt19937_64 random_{test_seed()};
};

TEST_F(SortCollationSorter, AgreesWithComparing) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{}, {"-r"}, {"-s", "-k1,1"}, {"-k1,1r", "-k2n"}}) {
    for (const size_t count : {0, 1, 2, 3, 4, 5, 100, 1000}) {
      std::vector<std::string> lines;
      for (size_t i = 0; i < count; ++i) lines.push_back(spelt(random_, "letters"));
      check(lines, arguments);
      check(lines, arguments, 1000);
      check(lines, arguments, 1);
    }
  }
}

TEST_F(SortCollationSorter, ComparesAboutOnceALine) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < 4000; ++i) lines.push_back(spelt(random_, "thesameletters"));
  EXPECT_LT(check(lines, {}), 2 * lines.size());
  // Merging sixteen blocks: once more for each time that their number halves.
  EXPECT_LT(check(lines, {}, 24 << 10), 6 * lines.size());
}

// Keys that are the same leave all to the comparison: what follows a NUL, other keys.
TEST_F(SortCollationSorter, EqualKeys) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < 3000; ++i) {
    lines.push_back(std::string(1, '\0') + static_cast<char>('a' + random_() % 26) +
                    std::string(1, '\0') + static_cast<char>('a' + random_() % 26));
  }
  EXPECT_LT(check(lines, {"-s"}), 3 * 14 * lines.size());
  lines.clear();
  for (size_t i = 0; i < 3000; ++i) {
    lines.push_back(std::string(random_() % 2 == 0 ? "yes " : "Yes ") + std::to_string(random_()));
  }
  EXPECT_LT(check(lines, {"-k1,1", "-k2n"}), 2 * 14 * lines.size());
}

TEST_F(SortCollationSorter, TextsTooLongForKeys) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < 20; ++i) {
    lines.push_back(std::string(Coder::kMaximumCollated - 4 + random_() % 8, '\x01') +
                    spelt(random_, "abc"));
  }
  check(lines, {});
}

TEST(SortSettled, AllButTheFirst) {
  Settled settled;
  EXPECT_FALSE(settled[70]);
  settled.mark(0, 100);  // nothing to mark
  settled.reset(200);
  settled.mark(60, 70);
  settled.mark(130, 1);
  settled.mark(131, 69);
  for (size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(settled[i], (i > 60 && i < 130) || i > 131) << i;
  }
  settled.reset(200);
  EXPECT_FALSE(settled[61]);
}

}  // namespace
}  // namespace hoist::sort
