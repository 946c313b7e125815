// Distances against their definitions, on lengths about whole words and on symbols of every width.
#include "match/fuzz/edit_distances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "base/test_seed.h"
#include "match/fuzz/place_counts.h"

namespace hoist::match {
namespace {

using Numbers = std::vector<uint32_t>;

constexpr size_t kLengths[] = {0, 1, 2, 7, 8, 9, 31, 63, 64, 65, 127, 128, 129, 254, 255, 256, 300};

// Symbols of so many bytes each, in memory of their own.
class Stored {
 public:
  Stored(const Numbers& symbols, uint32_t width) {
    for (const uint32_t symbol : symbols) {
      for (uint32_t byte = 0; byte < width; ++byte) {
        bytes_.push_back(static_cast<uint8_t>(symbol >> (8 * byte)));
      }
    }
    sequence_.symbols = bytes_.data();
    sequence_.length = static_cast<uint32_t>(symbols.size());
    sequence_.width = width;
  }

  const Sequence& sequence() const { return sequence_; }

 private:
  std::vector<uint8_t> bytes_;
  Sequence sequence_;
};

// The whole matrix of Lowrance and Wagner, or of its restriction to neighbours.
uint64_t plain_transposing(const Numbers& a, const Numbers& b, bool restricted) {
  const uint64_t infinite = a.size() + b.size();
  std::vector<std::vector<uint64_t>> d(a.size() + 2, std::vector<uint64_t>(b.size() + 2, infinite));
  std::map<uint32_t, size_t> last_in_a;
  for (size_t i = 0; i <= a.size(); ++i) d[i + 1][1] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[1][j + 1] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t last_in_b = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t k = last_in_a[b[j - 1]];
      const size_t l = last_in_b;
      const bool same = a[i - 1] == b[j - 1];
      if (same) last_in_b = j;
      uint64_t best = std::min({d[i][j] + (same ? 0 : 1), d[i + 1][j] + 1, d[i][j + 1] + 1});
      const bool neighbours = k + 1 == i && l + 1 == j;
      if (k > 0 && l > 0 && (!restricted || neighbours)) {
        best = std::min(best, d[k][l] + (i - k - 1) + 1 + (j - l - 1));
      }
      d[i + 1][j + 1] = best;
    }
    last_in_a[a[i - 1]] = i;
  }
  return d[a.size() + 1][b.size() + 1];
}

// Symbol by symbol.
double plain_jaro(const Numbers& a, const Numbers& b) {
  if (a.empty() && b.empty()) return 1;
  if (a.empty() || b.empty()) return 0;
  const size_t longest = std::max(a.size(), b.size());
  const size_t reach = longest / 2 > 1 ? longest / 2 - 1 : 0;
  std::vector<bool> taken(a.size());
  Numbers of_b;
  for (size_t j = 0; j < b.size(); ++j) {
    for (size_t i = j > reach ? j - reach : 0; i < std::min(a.size(), j + reach + 1); ++i) {
      if (taken[i] || a[i] != b[j]) continue;
      taken[i] = true;
      of_b.push_back(b[j]);
      break;
    }
  }
  if (of_b.empty()) return 0;
  size_t next = 0;
  size_t moved = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (taken[i] && a[i] != of_b[next++]) ++moved;
  }
  const auto common = static_cast<double>(of_b.size());
  double sum = common / static_cast<double>(a.size());
  sum += common / static_cast<double>(b.size());
  sum += (common - static_cast<double>(moved / 2)) / common;
  return sum / 3.0;
}

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
    const Stored x(a, a_width);
    const Stored y(b, b_width);
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
  const Stored x(a, 1);
  const Stored y(b, 1);
  EXPECT_EQ(damerau_levenshtein_distance(x.sequence(), y.sequence()), 3);
  EXPECT_EQ(osa_distance(x.sequence(), y.sequence()), 3);
}

}  // namespace
}  // namespace hoist::match
