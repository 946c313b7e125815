// The engine against the C library's qsort_r(), which is the oracle.
#include "ops/qsort/qsort.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "ops/qsort/qsort_testing.h"
#include "ops/qsort/system.h"

namespace hoist::qsort::testing {
namespace {

// As many as take all paths: several threads, buckets, runs.
constexpr size_t kMany = 150'000;

template <typename T>
using CompareTyped = int (*)(const T&, const T&);

template <typename T, CompareTyped<T> kCompare>
int erased(const void* a, const void* b, void*) {
  return kCompare(*static_cast<const T*>(a), *static_cast<const T*>(b));
}

// Whether the engine took it, at the latest at the third time: a sample may miss the last of
// several keys. Samples hang on the number of elements, so each time there is one element less.
// What it took must be what the C library makes of it; what it left must be as it was.
template <typename T>
bool same_as_libc(const std::vector<T>& values, hoist_compare* compare) {
  bool taken = false;
  for (int attempt = 0; attempt < 3 && !taken; ++attempt) {
    const size_t count = values.size() - std::min<size_t>(attempt, values.size());
    std::vector<T> ours(values.begin(), values.begin() + count);
    std::vector<T> expected = ours;
    taken = hoist_qsort(ours.data(), ours.size(), sizeof(T), compare, nullptr, ::qsort_r);
    if (taken) ::qsort_r(expected.data(), expected.size(), sizeof(T), compare, nullptr);
    EXPECT_TRUE(ours.empty() ||
                std::memcmp(ours.data(), expected.data(), ours.size() * sizeof(T)) == 0);
  }
  return taken;
}

class QsortTest : public ::testing::Test {
 protected:
  QsortTest() : seed_(std::random_device{}()), trace_(__FILE__, __LINE__, seed_), random_(seed_) {}

  template <typename T, typename Make>
  std::vector<T> make(size_t count, Make&& value) {
    std::vector<T> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = value(i);
    return values;
  }

  const uint64_t seed_;
  ::testing::ScopedTrace trace_;
  std::mt19937_64 random_;
};

template <typename T>
int ascending(const T& a, const T& b) {
  return a < b ? -1 : b < a;
}
template <typename T>
int descending(const T& a, const T& b) {
  return ascending(b, a);
}

template <typename T>
void expect_numbers_taken(std::mt19937_64& random) {
  for (const size_t count : {2000u, 70000u}) {
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(random());
    EXPECT_TRUE((same_as_libc<T>(values, erased<T, ascending<T>>)));
    EXPECT_TRUE((same_as_libc<T>(values, erased<T, descending<T>>)));
    for (T& value : values) value = static_cast<T>(random() % 50);
    EXPECT_TRUE((same_as_libc<T>(values, erased<T, ascending<T>>)));
  }
}

TEST_F(QsortTest, TakesNumbers) {
  expect_numbers_taken<int8_t>(random_);
  expect_numbers_taken<uint8_t>(random_);
  expect_numbers_taken<int16_t>(random_);
  expect_numbers_taken<uint16_t>(random_);
  expect_numbers_taken<int32_t>(random_);
  expect_numbers_taken<uint32_t>(random_);
  expect_numbers_taken<int64_t>(random_);
  expect_numbers_taken<uint64_t>(random_);
}

TEST_F(QsortTest, TakesFloats) {
  std::normal_distribution<double> normal;
  for (const size_t count : {3000u, 80000u}) {
    auto doubles = make<double>(count, [&](size_t) { return normal(random_); });
    EXPECT_TRUE((same_as_libc<double>(doubles, erased<double, ascending<double>>)));
    EXPECT_TRUE((same_as_libc<double>(doubles, erased<double, descending<double>>)));
    // Zeros of both signs are equal, so that they stay in the order of the input.
    for (size_t i = 0; i < count; i += 3) doubles[i] = i % 2 == 0 ? 0.0 : -0.0;
    doubles[5] = std::numeric_limits<double>::infinity();
    doubles[6] = -doubles[5];
    EXPECT_TRUE((same_as_libc<double>(doubles, erased<double, ascending<double>>)));
    EXPECT_TRUE((same_as_libc<double>(doubles, erased<double, descending<double>>)));
    const auto floats =
        make<float>(count, [&](size_t) { return static_cast<float>(normal(random_)); });
    EXPECT_TRUE((same_as_libc<float>(floats, erased<float, ascending<float>>)));
    EXPECT_TRUE((same_as_libc<float>(floats, erased<float, descending<float>>)));
  }
}

TEST_F(QsortTest, LeavesNansToTheOriginal) {
  auto doubles =
      make<double>(5000, [&](size_t) { return std::generate_canonical<double, 53>(random_); });
  doubles[4321] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE((same_as_libc<double>(doubles, erased<double, ascending<double>>)));
}

int subtract(const int& a, const int& b) {
  return static_cast<int>(static_cast<unsigned>(a) - static_cast<unsigned>(b));
}

TEST_F(QsortTest, SubtractionThatMayOverflow) {
  const auto narrow = make<int>(kMany, [&](size_t) { return static_cast<int>(random_() >> 34); });
  EXPECT_TRUE((same_as_libc<int>(narrow, erased<int, subtract>)));
  // Only two elements lie too far apart, which no sample finds.
  auto wide = make<int>(kMany, [&](size_t) { return static_cast<int>(random_() % 1000); });
  wide[777] = std::numeric_limits<int>::max();
  wide[999] = -2000;
  EXPECT_FALSE((same_as_libc<int>(wide, erased<int, subtract>)));
  const auto all = make<int>(kMany, [&](size_t) { return static_cast<int>(random_()); });
  EXPECT_FALSE((same_as_libc<int>(all, erased<int, subtract>)));
}

struct Couple {
  int first;
  int second;
};

int subtract_second(const Couple& a, const Couple& b) {
  return a.first != b.first ? a.first - b.first : subtract(a.second, b.second);
}

TEST_F(QsortTest, SubtractionThatMayOverflowBehindAnotherKey) {
  auto couples = make<Couple>(kMany, [&](size_t) {
    return Couple{static_cast<int>(random_() % 4), static_cast<int>(random_() >> 34)};
  });
  EXPECT_TRUE((same_as_libc<Couple>(couples, erased<Couple, subtract_second>)));
  couples[777] = {2, std::numeric_limits<int>::max()};
  couples[999] = {2, -(1 << 30)};
  EXPECT_FALSE((same_as_libc<Couple>(couples, erased<Couple, subtract_second>)));
}

struct Record {
  int32_t group;
  char padding;  // three bytes of it follow
  int64_t key;
  double value;
};

int by_key(const Record& a, const Record& b) { return ascending(a.key, b.key); }
int by_group_and_key(const Record& a, const Record& b) {
  return a.group != b.group ? ascending(a.group, b.group) : descending(a.key, b.key);
}
int by_three(const Record& a, const Record& b) {
  if (a.group != b.group) return descending(a.group, b.group);
  return a.padding != b.padding ? ascending(a.padding, b.padding) : ascending(a.value, b.value);
}

TEST_F(QsortTest, TakesRecords) {
  for (const uint64_t keys : {10ull, 1000ull, ~0ull}) {
    std::vector<Record> records(kMany / 2);
    std::memset(records.data(), 0xa5, records.size() * sizeof(Record));
    for (size_t i = 0; i < records.size(); ++i) {
      records[i].group = static_cast<int32_t>(random_() % 20) - 10;
      records[i].padding = static_cast<char>(random_() % 5);
      records[i].key = static_cast<int64_t>(random_() % keys);
      records[i].value = static_cast<double>(i % 977) / 8;
    }
    EXPECT_TRUE((same_as_libc<Record>(records, erased<Record, by_key>)));
    EXPECT_TRUE((same_as_libc<Record>(records, erased<Record, by_group_and_key>)));
    EXPECT_TRUE((same_as_libc<Record>(records, erased<Record, by_three>)));
  }
}

struct Digest {
  unsigned char bytes[20];
};
int by_bytes(const Digest& a, const Digest& b) { return std::memcmp(a.bytes, b.bytes, 20); }
int by_text(const Digest& a, const Digest& b) {
  return ::strncmp(reinterpret_cast<const char*>(a.bytes), reinterpret_cast<const char*>(b.bytes),
                   20);
}

TEST_F(QsortTest, TakesMemoryAndTexts) {
  auto digests = make<Digest>(kMany / 4, [&](size_t) {
    Digest digest;
    for (unsigned char& byte : digest.bytes) byte = static_cast<unsigned char>(random_());
    return digest;
  });
  EXPECT_TRUE((same_as_libc<Digest>(digests, erased<Digest, by_bytes>)));
  // Long common prefixes, and what follows a text's NUL is arbitrary.
  for (Digest& digest : digests) {
    std::snprintf(reinterpret_cast<char*>(digest.bytes), sizeof digest.bytes, "prefix-%d",
                  static_cast<int>(random_() % 5000));
  }
  EXPECT_TRUE((same_as_libc<Digest>(digests, erased<Digest, by_text>)));
}

int by_string(const char* const& a, const char* const& b) { return std::strcmp(a, b); }
int by_string_backwards(const char* const& a, const char* const& b) { return std::strcmp(b, a); }

TEST_F(QsortTest, TakesStrings) {
  std::vector<std::string> texts(kMany / 4);
  for (std::string& text : texts) {
    text = "/usr/share/" + std::string(random_() % 30, 'x') + std::to_string(random_() % 20000);
  }
  texts[17].clear();
  std::vector<const char*> strings;
  for (const std::string& text : texts) strings.push_back(text.c_str());
  EXPECT_TRUE((same_as_libc<const char*>(strings, erased<const char*, by_string>)));
  EXPECT_TRUE((same_as_libc<const char*>(strings, erased<const char*, by_string_backwards>)));
}

TEST_F(QsortTest, StringsThatContainOneAnother) {
  const std::string text(20000, 'a');
  std::vector<const char*> strings(text.size());
  for (size_t i = 0; i < strings.size(); ++i) strings[i] = text.c_str() + random_() % text.size();
  EXPECT_TRUE((same_as_libc<const char*>(strings, erased<const char*, by_string>)));
}

int by_string_or_null(const char* const& a, const char* const& b) {
  if (a == nullptr || b == nullptr) return (a != nullptr) - (b != nullptr);
  return std::strcmp(a, b);
}

TEST_F(QsortTest, PointersThatLeadNowhere) {
  std::vector<std::string> texts(5000);
  for (std::string& text : texts) text = std::to_string(random_());
  std::vector<const char*> strings;
  for (const std::string& text : texts) strings.push_back(text.c_str());
  strings[4000] = nullptr;
  same_as_libc<const char*>(strings, erased<const char*, by_string_or_null>);
}

int scattered(const uint32_t& a, const uint32_t& b) {
  return ascending(a * 2654435761u, b * 2654435761u);
}

TEST_F(QsortTest, LeavesWhatItDoesNotUnderstand) {
  const auto values = make<uint32_t>(kMany, [&](size_t) { return random_(); });
  EXPECT_FALSE((same_as_libc<uint32_t>(values, erased<uint32_t, scattered>)));
  EXPECT_FALSE((same_as_libc<uint32_t>(values, [](const void*, const void*, void*) { return 0; })));
  EXPECT_FALSE((same_as_libc<uint32_t>(values, [](const void*, const void*, void*) { return 1; })));
}

// Pointers to memory that no string functions read: long, alike, without a NUL, and partly given
// back to the system.
struct Holder {
  const char* buffer;
  uint32_t number;
};

int by_holder(const Holder& a, const Holder& b) { return ascending(a.number, b.number); }

TEST_F(QsortTest, PointersThatAreNotFollowed) {
  const std::vector<char> alike(size_t{4} << 20, 'x');
  const auto holders = make<Holder>(5000, [&](size_t) {
    return Holder{alike.data() + random_() % 1000, static_cast<uint32_t>(random_())};
  });
  EXPECT_TRUE((same_as_libc<Holder>(holders, erased<Holder, by_holder>)));
}

// A file that has become shorter than its mapping is readable by its permissions, and cannot be
// read.
TEST_F(QsortTest, PointersBehindTheEndOfAFile) {
  constexpr size_t kBytes = 1 << 16;
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(::ftruncate(::fileno(file), kBytes), 0);
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, ::fileno(file), 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(::ftruncate(::fileno(file), 0), 0);
  const auto holders = make<Holder>(5000, [&](size_t) {
    return Holder{static_cast<const char*>(memory) + random_() % kBytes,
                  static_cast<uint32_t>(random_())};
  });
  EXPECT_TRUE((same_as_libc<Holder>(holders, erased<Holder, by_holder>)));
  ::munmap(memory, kBytes);
  std::fclose(file);
}

// The first key is plain, what decides among equal ones is not.
int half_understood(const Record& a, const Record& b) {
  return a.key != b.key ? ascending(a.key, b.key)
                        : scattered(static_cast<uint32_t>(a.group), static_cast<uint32_t>(b.group));
}

TEST_F(QsortTest, LeavesFewEqualElementsToTheOriginal) {
  const auto records = make<Record>(kMany / 2, [&](size_t) {
    return Record{static_cast<int32_t>(random_()), 0,
                  static_cast<int64_t>(random_() % (kMany * 20)), 0.0};
  });
  EXPECT_TRUE((same_as_libc<Record>(records, erased<Record, half_understood>)));
  const auto groups = make<Record>(kMany / 2, [&](size_t) {
    return Record{static_cast<int32_t>(random_()), 0, static_cast<int64_t>(random_() % 10), 0.0};
  });
  EXPECT_FALSE((same_as_libc<Record>(groups, erased<Record, half_understood>)));
}

// Comparators that look at where an element lies.
TEST_F(QsortTest, AddressesGiveThemselvesAway) {
  std::vector<int> values = make<int>(5000, [](size_t i) { return static_cast<int>(i); });
  std::swap(values[4998], values[4999]);
  const std::vector<int> before = values;
  EXPECT_FALSE(hoist_qsort(
      values.data(), values.size(), sizeof(int),
      [](const void* a, const void* b, void*) { return a < b ? -1 : a > b; }, nullptr, ::qsort_r));
  EXPECT_EQ(values, before);
}

// Equal elements told apart by their addresses, "to make the sort stable".
TEST_F(QsortTest, TiesBrokenByAddress) {
  const auto records = make<Record>(20000, [&](size_t i) {
    return Record{0, 0, static_cast<int64_t>(random_() % 30), static_cast<double>(i)};
  });
  same_as_libc<Record>(records, [](const void* a, const void* b, void*) {
    const int result = by_key(*static_cast<const Record*>(a), *static_cast<const Record*>(b));
    return result != 0 ? result : a < b ? -1 : 1;
  });
}

TEST_F(QsortTest, OnlyEverAsksAboutElementsOfTheArray) {
  struct Seen {
    const char* start;
    const char* end;
    size_t size;
    size_t bad = 0;
  };
  std::vector<int> values = make<int>(30000, [&](size_t) { return static_cast<int>(random_()); });
  const char* start = reinterpret_cast<const char*>(values.data());
  Seen seen = {start, start + values.size() * sizeof(int), sizeof(int)};
  const auto compare = [](const void* a, const void* b, void* context) {
    Seen& seen = *static_cast<Seen*>(context);
    for (const void* p : {a, b}) {
      const char* at = static_cast<const char*>(p);
      seen.bad += at < seen.start || at >= seen.end || (at - seen.start) % seen.size != 0;
    }
    seen.bad += a == b;
    return ascending(*static_cast<const int*>(a), *static_cast<const int*>(b));
  };
  EXPECT_TRUE(hoist_qsort(values.data(), values.size(), sizeof(int), compare, &seen, ::qsort_r));
  EXPECT_EQ(seen.bad, 0u);
}

struct Escape {
  std::jmp_buf target;
  size_t calls;
};

TEST_F(QsortTest, LongjmpOutOfTheComparator) {
  const auto values = make<int>(kMany, [&](size_t) { return static_cast<int>(random_()); });
  const std::multiset<int> expected(values.begin(), values.end());
  const auto compare = [](const void* a, const void* b, void* context) {
    Escape& escape = *static_cast<Escape*>(context);
    if (--escape.calls == 0) std::longjmp(escape.target, 1);
    return ascending(*static_cast<const int*>(a), *static_cast<const int*>(b));
  };
  // While it samples, while it judges, and at the end. What the call had serves the next one.
  for (const size_t calls : {1u, 2u, 60u, 1000u, 100000u}) {
    std::thread([&] {
      std::vector<int> array = values;
      Escape escape;
      escape.calls = calls;
      bool left = false;
      if (setjmp(escape.target) == 0) {
        hoist_qsort(array.data(), array.size(), sizeof(int), compare, &escape, ::qsort_r);
      } else {
        left = true;
      }
      EXPECT_TRUE(left);
      EXPECT_EQ(std::multiset<int>(array.begin(), array.end()), expected);
      EXPECT_TRUE(hoist_qsort(array.data(), array.size(), sizeof(int), erased<int, ascending<int>>,
                              nullptr, ::qsort_r));
      EXPECT_TRUE(std::is_sorted(array.begin(), array.end()));
      EXPECT_EQ(std::multiset<int>(array.begin(), array.end()), expected);
    }).join();
  }
}

TEST_F(QsortTest, ExceptionsPassThrough) {
  std::vector<int> array = make<int>(kMany, [&](size_t) { return static_cast<int>(random_()); });
  const std::multiset<int> expected(array.begin(), array.end());
  for (size_t calls : {5u, 5000u}) {
    const auto compare = [](const void* a, const void* b, void* context) {
      if (--*static_cast<size_t*>(context) == 0) throw std::runtime_error("out");
      return ascending(*static_cast<const int*>(a), *static_cast<const int*>(b));
    };
    EXPECT_THROW(hoist_qsort(array.data(), array.size(), sizeof(int), compare, &calls, ::qsort_r),
                 std::runtime_error);
    EXPECT_EQ(std::multiset<int>(array.begin(), array.end()), expected);
  }
  EXPECT_TRUE(hoist_qsort(array.data(), array.size(), sizeof(int), erased<int, ascending<int>>,
                          nullptr, ::qsort_r));
  EXPECT_TRUE(std::is_sorted(array.begin(), array.end()));
}

TEST_F(QsortTest, ComparatorsThatSort) {
  static std::vector<int> inner;
  static size_t refused;
  refused = 0;
  inner = make<int>(3000, [&](size_t) { return static_cast<int>(random_()); });
  const auto compare = [](const void* a, const void* b, void*) {
    if (*static_cast<const int*>(a) % 500 == 0) {
      std::vector<int> copy = inner;
      refused += !hoist_qsort(copy.data(), copy.size(), sizeof(int), erased<int, ascending<int>>,
                              nullptr, ::qsort_r);
    }
    return ascending(*static_cast<const int*>(a), *static_cast<const int*>(b));
  };
  const auto values = make<int>(10000, [&](size_t) { return static_cast<int>(random_()); });
  EXPECT_TRUE(same_as_libc<int>(values, compare));
  EXPECT_GT(refused, 0u);
}

TEST_F(QsortTest, ForkInTheComparator) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no threads after fork";
#endif
  static int calls;
  calls = 0;
  const auto compare = [](const void* a, const void* b, void*) {
    if (++calls == 20000) {
      const pid_t child = ::fork();
      if (child != 0) {
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
      }
    }
    return ascending(*static_cast<const int*>(a), *static_cast<const int*>(b));
  };
  const pid_t parent = ::getpid();
  std::vector<int> array = make<int>(kMany, [&](size_t) { return static_cast<int>(random_()); });
  const bool taken =
      hoist_qsort(array.data(), array.size(), sizeof(int), compare, nullptr, ::qsort_r);
  bool right = taken && std::is_sorted(array.begin(), array.end());
  if (::getpid() != parent) {
    // The child goes on with what its parent began, and may begin anew.
    std::shuffle(array.begin(), array.end(), random_);
    right = right && same_as_libc<int>(array, erased<int, ascending<int>>);
    ::_exit(right ? 0 : 1);
  }
  EXPECT_TRUE(right);
}

TEST_F(QsortTest, ThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([seed = random_()] {
      std::mt19937_64 random(seed);
      std::vector<int64_t> values(kMany);
      for (int64_t& value : values) value = static_cast<int64_t>(random());
      EXPECT_TRUE((same_as_libc<int64_t>(values, erased<int64_t, ascending<int64_t>>)));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(QsortTest, KeepsErrno) {
  const auto values = make<int>(kMany, [&](size_t) { return static_cast<int>(random_()); });
  errno = EXDEV;
  EXPECT_TRUE((same_as_libc<int>(values, erased<int, ascending<int>>)));
  EXPECT_EQ(errno, EXDEV);
}

TEST_F(QsortTest, SmallestArrays) {
  for (size_t count = 0; count < 40; ++count) {
    const auto values = make<int>(count, [&](size_t) { return static_cast<int>(random_() % 20); });
    same_as_libc<int>(values, erased<int, ascending<int>>);
  }
}

// Whether the C library keeps equal elements in order decides what may be taken.
TEST(SystemTest, WhichLibrariesSortStably) {
  constexpr uint64_t kMemory = uint64_t{8} << 30;
  EXPECT_TRUE(sorts_stably("2.36", 1000, 8, kMemory));
  EXPECT_TRUE(sorts_stably("2.36", 256 << 20, 8, kMemory));
  EXPECT_FALSE(sorts_stably("2.36", (256 << 20) + 1, 8, kMemory));
  EXPECT_FALSE(sorts_stably("2.17", 64 << 20, 33, uint64_t{1} << 30));
  EXPECT_TRUE(sorts_stably("2.17", 16 << 20, 4000, uint64_t{2} << 30));
  EXPECT_TRUE(sorts_stably("2.39", size_t{1} << 32, 8, kMemory));
  for (const char* unknown : {"2.99", "3.0", "", "2.", "x"}) {
    EXPECT_FALSE(sorts_stably(unknown, 1000, 8, kMemory)) << unknown;
  }
}

}  // namespace
}  // namespace hoist::qsort::testing
