// Edits of single pairs against the plain dynamic program: every way to count them, at limits
// exactly at, below and above what they are, on lengths about whole words and on sequences that are
// hard.
#include "match/pairs/one_pair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "base/test_seed.h"
#include "match/oracle/oracle.h"
#include "match/pairs/edit_matrix.h"
#include "match/pairs/stored_sequence.h"

namespace hoist::match {
namespace {

using Symbols = std::vector<uint32_t>;

constexpr size_t kLengths[] = {0,   1,   2,   3,   31,  32,  33,  63,  64,  65,
                               127, 128, 129, 255, 256, 257, 511, 512, 513, 640};

class OnePair : public testing::TestWithParam<PairCount> {
 protected:
  uint64_t exact(const Symbols& a, const Symbols& b) const {
    if (GetParam() == PairCount::levenshtein) return oracle::levenshtein_distance(a, b);
    return a.size() + b.size() - 2 * oracle::lcs_length(a, b);
  }

  Symbols any(size_t length, uint32_t alphabet, uint32_t first = 0) {
    Symbols out(length);
    for (uint32_t& symbol : out) symbol = first + static_cast<uint32_t>(random_() % alphabet);
    return out;
  }

  Symbols edited(Symbols sequence, uint64_t edits, uint32_t alphabet) {
    for (; edits != 0; --edits) {
      const auto at = static_cast<std::ptrdiff_t>(random_() % (sequence.size() + 1));
      const auto symbol = static_cast<uint32_t>(random_() % alphabet);
      const bool is_end = static_cast<size_t>(at) == sequence.size();
      if (is_end || random_() % 3 == 0) {
        sequence.insert(sequence.begin() + at, symbol);
      } else if (random_() % 2 == 0) {
        sequence.erase(sequence.begin() + at);
      } else {
        sequence[static_cast<size_t>(at)] = symbol;
      }
    }
    return sequence;
  }

  void expect_exact(const Symbols& a, const Symbols& b, uint32_t a_width = 1,
                    uint32_t b_width = 1) {
    const uint64_t edits = exact(a, b);
    const StoredSequence x(a, a_width);
    const StoredSequence y(b, b_width);
    const auto where = [&] {
      return ::testing::Message() << a.size() << " symbols of " << a_width << " and " << b.size()
                                  << " of " << b_width << " bytes, " << edits << " edits";
    };
    ASSERT_EQ(matrix_edits(GetParam(), x.sequence(), y.sequence()), edits) << where();
    ASSERT_EQ(pair_edits(GetParam(), x.sequence(), y.sequence()), edits) << where();
    for (const uint64_t most :
         {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{4}, uint64_t{5},
          uint64_t{31}, uint64_t{63}, uint64_t{64}, edits / 2, edits - std::min<uint64_t>(edits, 1),
          edits, edits + 1, 2 * edits, random_() % (a.size() + b.size() + 2), uint64_t{1} << 40}) {
      ASSERT_EQ(pair_edits(GetParam(), x.sequence(), y.sequence(), most), std::min(edits, most + 1))
          << where() << ", at most " << most;
    }
  }

  std::mt19937_64 random_{test_seed()};
};

TEST_P(OnePair, OfLengthsAboutWholeWords) {
  for (const size_t m : kLengths) {
    for (const size_t n : kLengths) {
      if (random_() % 3 != 0 && m + n > 300) continue;
      const uint32_t alphabet = std::array{1u, 2u, 4u, 26u}[random_() % 4];
      expect_exact(any(m, alphabet), any(n, alphabet));
    }
  }
}

TEST_P(OnePair, OfSequencesThatAreAlike) {
  for (int turn = 0; turn < 400; ++turn) {
    const uint32_t alphabet = std::array{1u, 2u, 4u, 200u}[random_() % 4];
    const Symbols a = any(kLengths[random_() % std::size(kLengths)] + random_() % 2, alphabet);
    expect_exact(a, edited(a, random_() % 40, alphabet));
    if (HasFatalFailure()) return;
  }
}

// Long enough that bands of few edits are tried one after the other.
TEST_P(OnePair, OfLongSequences) {
  for (const uint64_t edits :
       {uint64_t{0}, uint64_t{5}, uint64_t{60}, uint64_t{300}, uint64_t{900}}) {
    const Symbols a = any(2500 + random_() % 200, 26);
    expect_exact(a, edited(a, edits, 26));
    expect_exact(a, any(2400, 26));
  }
}

TEST_P(OnePair, OfSymbolsOfEverySize) {
  const std::array<uint32_t, 3> largest = {256, 65536, 0x110000};
  for (int turn = 0; turn < 300; ++turn) {
    const size_t a_size = random_() % 3;
    const size_t b_size = random_() % 3;
    // Some within the smallest range, so that there are equal ones.
    Symbols a = any(random_() % 200, turn % 2 == 0 ? 5 : largest[std::min(a_size, b_size)]);
    Symbols b = edited(a, random_() % 20, 5);
    for (uint32_t& symbol : a) {
      if (random_() % 8 == 0) symbol = static_cast<uint32_t>(random_() % largest[a_size]);
    }
    for (uint32_t& symbol : b) {
      if (random_() % 8 == 0) symbol = static_cast<uint32_t>(random_() % largest[b_size]);
    }
    expect_exact(a, b, 1u << a_size, 1u << b_size);
    if (HasFatalFailure()) return;
  }
}

// More distinct symbols than the tables of bands have room for.
TEST_P(OnePair, OfSymbolsThatAreAllDifferent) {
  Symbols a(3000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint32_t>(7919 * i);
  expect_exact(a, edited(a, 700, 1000), 4, 4);
  Symbols b = a;
  std::rotate(b.begin(), b.begin() + 1000, b.end());
  expect_exact(a, b, 4, 4);
}

TEST_P(OnePair, OfHardOnes) {
  for (const size_t length : {size_t{64}, size_t{65}, size_t{511}, size_t{512}, size_t{1300}}) {
    const Symbols equal(length, 'a');
    expect_exact(equal, equal);
    expect_exact(equal, Symbols(length - 1, 'a'));
    expect_exact(equal, Symbols(length, 'b'));
    Symbols periodic(length);
    for (size_t i = 0; i < length; ++i) periodic[i] = i % 3;
    Symbols shifted(length);
    for (size_t i = 0; i < length; ++i) shifted[i] = (i + 1) % 3;
    expect_exact(periodic, shifted);
    Symbols front = any(length, 4);
    const Symbols original = front;
    front.insert(front.begin(), 9);
    expect_exact(front, original);
    front.back() = 8;
    expect_exact(front, original);
    expect_exact(any(length, 20), any(length, 20, 100));
    expect_exact(equal, {});
    expect_exact({'b'}, equal);
  }
}

TEST_P(OnePair, StopsWhenItIsCancelled) {
  std::stop_source stopped;
  stopped.request_stop();
  const Symbols a = any(200000, 4);
  const Symbols b = any(200000, 4);
  const StoredSequence x(a, 1);
  const StoredSequence y(b, 1);
  pair_edits(GetParam(), x.sequence(), y.sequence(), kAnyEdits,
             stopped.get_token());  // minutes otherwise
}

INSTANTIATE_TEST_SUITE_P(Counts, OnePair, testing::Values(PairCount::lcs, PairCount::levenshtein),
                         [](const auto& info) {
                           return info.param == PairCount::lcs ? "Lcs" : "Levenshtein";
                         });

}  // namespace
}  // namespace hoist::match
