// Arrays of strings that are compared by strcoll(), against the C library's qsort_r().
#include "ops/qsort/collation.h"

#include <gtest/gtest.h>
#include <locale.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "ops/qsort/qsort_testing.h"

namespace hoist::qsort::testing {
namespace {

struct Element {
  int64_t number;
  const char* text;
};

int by_text(const void* a, const void* b, void*) {
  return std::strcoll(static_cast<const Element*>(a)->text, static_cast<const Element*>(b)->text);
}
int by_text_backwards(const void* a, const void* b, void*) { return by_text(b, a, nullptr); }
int by_text_and_number(const void* a, const void* b, void*) {
  const int result = by_text(a, b, nullptr);
  return result != 0 ? result : compare_as<int64_t>(a, b);
}

class CollationTest : public ::testing::Test {
 protected:
  // Debian's images have no such locale: it is made once, from its source.
  static void SetUpTestSuite() {
    std::string name = (std::filesystem::temp_directory_path() / "hoist-locale-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    const std::string made = folder_ + "/en_US.UTF-8";
    const std::string command = "localedef --no-archive -i en_US -f UTF-8 " + made + " 2>/dev/null";
    ::setenv("LOCPATH", folder_.c_str(), 1);
    if (std::system(command.c_str()) != 0 || std::setlocale(LC_ALL, "en_US.UTF-8") == nullptr)
      return;
    locale_ = ::duplocale(LC_GLOBAL_LOCALE);
    std::setlocale(LC_ALL, "C");
  }
  static void TearDownTestSuite() {
    if (locale_ != nullptr) ::freelocale(locale_);
    std::filesystem::remove_all(folder_);
  }

  CollationTest()
      : seed_(std::random_device{}()), trace_(__FILE__, __LINE__, seed_), random_(seed_) {}
  void SetUp() override {
    if (locale_ == nullptr) GTEST_SKIP() << "localedef cannot make en_US.UTF-8";
    // The thread's own: what other threads and setlocale() have does not count.
    ::uselocale(locale_);
  }
  void TearDown() override { ::uselocale(LC_GLOBAL_LOCALE); }

  std::string random_text() {
    static constexpr const char* kParts[] = {"a", "B", "b", "é", "E", "-",
                                             " ", "ß", "z", "Ω", "_", "9"};
    std::string text;
    for (size_t i = random_() % 9; i > 0; --i) text += kParts[random_() % std::size(kParts)];
    return text;
  }
  std::vector<char> make(size_t count) {
    texts_.resize(count);
    std::vector<Element> elements(count);
    for (size_t i = 0; i < count; ++i) {
      texts_[i] = random_text();
      elements[i] = {static_cast<int64_t>(random_() % 5), texts_[i].c_str()};
    }
    return as_bytes(elements);
  }
  static std::vector<char> as_bytes(const std::vector<Element>& elements) {
    const char* bytes = reinterpret_cast<const char*>(elements.data());
    return {bytes, bytes + elements.size() * sizeof(Element)};
  }

  // Whether the engine took it; what it took is what the C library makes of it.
  static bool same_as_libc(const std::vector<char>& input, hoist_compare* compare) {
    std::vector<char> ours = input;
    const bool taken = sort_with_engine(ours, sizeof(Element), compare, nullptr);
    EXPECT_TRUE(ours == (taken ? sorted_by_libc(input, sizeof(Element), compare, nullptr) : input));
    return taken;
  }

  static inline std::string folder_;
  static inline locale_t locale_ = nullptr;
  const uint64_t seed_;
  ::testing::ScopedTrace trace_;
  std::mt19937_64 random_;
  std::vector<std::string> texts_;
};

TEST_F(CollationTest, TakesStringsInTheThreadsLocale) {
  EXPECT_TRUE(locale_collates());
  for (const size_t count : {300, 3000, 70000}) {
    const std::vector<char> input = make(count);
    EXPECT_TRUE(same_as_libc(input, by_text)) << count;
    EXPECT_TRUE(same_as_libc(input, by_text_backwards)) << count;
  }
}

TEST_F(CollationTest, TheCLocaleHasNothingToCollate) {
  const locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  ::uselocale(plain);
  EXPECT_FALSE(locale_collates());
  EXPECT_TRUE(same_as_libc(make(3000), by_text));
  ::uselocale(locale_);
  ::freelocale(plain);
}

TEST_F(CollationTest, FurtherKeysAreTheOriginals) { same_as_libc(make(3000), by_text_and_number); }

TEST_F(CollationTest, LongStrings) {
  const std::string common(300, 'x');  // keys that differ late
  std::vector<char> input = make(2000);
  std::vector<Element> elements(2000);
  for (size_t i = 0; i < elements.size(); ++i) {
    texts_[i] = common + texts_[i];
    elements[i] = {0, texts_[i].c_str()};
  }
  EXPECT_TRUE(same_as_libc(as_bytes(elements), by_text));
  // One that is not followed to its end.
  const std::string longest(size_t{100} << 10, 'y');
  elements[777].text = longest.c_str();
  EXPECT_FALSE(same_as_libc(as_bytes(elements), by_text));
}

TEST_F(CollationTest, EqualStringsStayInOrder) {
  std::vector<char> input = make(5000);
  std::vector<Element> elements(5000);
  for (size_t i = 0; i < elements.size(); ++i) {
    elements[i] = {static_cast<int64_t>(i), texts_[i % 400].c_str()};
  }
  EXPECT_TRUE(same_as_libc(as_bytes(elements), by_text));
}

}  // namespace
}  // namespace hoist::qsort::testing
