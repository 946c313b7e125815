// Distances against their definitions, on lengths about whole words and on symbols of every width.
#include "match/fuzz/edit_distances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "base/test_seed.h"
#include "match/fuzz/place_counts.h"
#include "match/fuzz/plain_distances.h"
#include "match/pairs/stored_sequence.h"

namespace hoist::match {
namespace {

constexpr size_t kLengths[] = {0, 1, 2, 7, 8, 9, 31, 63, 64, 65, 127, 128, 129, 254, 255, 256, 300};

uint64_t plain_hamming(const Numbers& a, const Numbers& b) {
  uint64_t different = std::max(a.size(), b.size()) - std::min(a.size(), b.size());
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) different += a[i] != b[i] ? 1 : 0;
  return different;
}

class EditDistances : public testing::Test {
 protected:
  Numbers any(size_t length, uint32_t letters, uint32_t first) {
    Numbers out(length);
    for (uint32_t& symbol : out) symbol = first + static_cast<uint32_t>(random_() % letters);
    return out;
  }
  Numbers edited(Numbers symbols, uint32_t letters, uint32_t first) {
    for (uint64_t edits = random_() % 12; edits != 0 && symbols.size() > 1; --edits) {
      const size_t at = random_() % (symbols.size() - 1);
      if (random_() % 2 == 0) {
        std::swap(symbols[at], symbols[at + 1]);
      } else {
        symbols[at] = first + static_cast<uint32_t>(random_() % letters);
      }
    }
    return symbols;
  }

  void expect_as_defined(const Numbers& a, const Numbers& b, uint32_t a_width, uint32_t b_width) {
    const StoredSequence x(a, a_width);
    const StoredSequence y(b, b_width);
    const auto where = [&] {
      return ::testing::Message() << a.size() << " symbols of " << a_width << " and " << b.size()
                                  << " of " << b_width << " bytes";
    };
    const Sequence& p = x.sequence();
    const Sequence& q = y.sequence();
    ASSERT_EQ(osa_distance(p, q), plain_transposing(a, b, true)) << where();
    ASSERT_EQ(damerau_levenshtein_distance(p, q), plain_transposing(a, b, false)) << where();
    ASSERT_EQ(jaro_similarity(p, q), plain_jaro(a, b)) << where();
    ASSERT_EQ(hamming_distance(p, q), plain_hamming(a, b)) << where();
    const auto front = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
    const auto back = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin();
    ASSERT_EQ(common_prefix(p, q), static_cast<uint64_t>(front)) << where();
    ASSERT_EQ(common_suffix(p, q), static_cast<uint64_t>(back)) << where();
  }

  std::mt19937_64 random_{test_seed()};
};

TEST_F(EditDistances, OfLengthsAboutWholeWords) {
  for (const size_t m : kLengths) {
    for (const size_t n : kLengths) {
      if (random_() % 3 != 0 && m + n > 300) continue;
      const uint32_t letters = std::array{1u, 2u, 4u, 26u}[random_() % 4];
      expect_as_defined(any(m, letters, 'a'), any(n, letters, 'a'), 1, 1);
      const Numbers a = any(m, letters, 'a');
      expect_as_defined(a, edited(a, letters, 'a'), 1, 1);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(EditDistances, OfSymbolsOfEveryWidth) {
  constexpr std::array<uint32_t, 3> kFirst = {'a', 250, 65530};
  for (int turn = 0; turn < 400; ++turn) {
    const size_t a_width = random_() % 3;
    const size_t b_width = random_() % 3;
    const uint32_t first = kFirst[std::min(a_width, b_width)];
    const uint32_t letters = std::min(a_width, b_width) == 2 ? 40 : 6;
    const Numbers a = any(kLengths[random_() % std::size(kLengths)], letters, first);
    const Numbers b = turn % 2 == 0
                          ? edited(a, letters, first)
                          : any(kLengths[random_() % std::size(kLengths)], letters, first);
    expect_as_defined(a, b, 1u << a_width, 1u << b_width);
    if (HasFatalFailure()) return;
  }
}

// More different symbols than a byte has.
TEST_F(EditDistances, OfSymbolsThatAreAllDifferent) {
  for (const size_t length : {size_t{64}, size_t{255}, size_t{256}, size_t{300}}) {
    Numbers a(length);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint32_t>(7919 * i);
    Numbers b = a;
    std::rotate(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(length / 3), b.end());
    expect_as_defined(a, b, 4, 4);
    expect_as_defined(a, any(length, 1000, 0), 4, 4);
  }
}

// Cells of 16 bits do not hold such lengths.
TEST_F(EditDistances, OfLongSequences) {
  Numbers a = any(17000, 4, 'a');
  a[100] = 'p';
  a[101] = 'q';
  a[16000] = 'r';
  Numbers b = a;
  std::swap(b[100], b[101]);
  b.erase(b.begin() + 16000);
  b.back() = 'x';
  const StoredSequence x(a, 1);
  const StoredSequence y(b, 1);
  EXPECT_EQ(damerau_levenshtein_distance(x.sequence(), y.sequence()), 3);
  EXPECT_EQ(osa_distance(x.sequence(), y.sequence()), 3);
}

}  // namespace
}  // namespace hoist::match
