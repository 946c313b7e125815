#include "match/pairs/banded_edits.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "base/test_seed.h"
#include "match/oracle/oracle.h"

namespace hoist::match {
namespace {

using Symbols = std::vector<uint32_t>;

constexpr uint32_t kDistinct = 26;
constexpr size_t kBorders[] = {0, 1, 62, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257};

Symbols random_sequence(std::mt19937_64& random, size_t length, uint32_t alphabet) {
  Symbols out(length);
  for (uint32_t& symbol : out) symbol = static_cast<uint32_t>(random() % alphabet);
  return out;
}

Symbols edited(std::mt19937_64& random, Symbols sequence, uint64_t edits, uint32_t alphabet) {
  for (; edits != 0; --edits) {
    const auto at = static_cast<std::ptrdiff_t>(random() % (sequence.size() + 1));
    const auto symbol = static_cast<uint32_t>(random() % alphabet);
    const bool is_end = static_cast<size_t>(at) == sequence.size();
    if (is_end || random() % 3 == 0) {
      sequence.insert(sequence.begin() + at, symbol);
    } else if (random() % 2 == 0) {
      sequence.erase(sequence.begin() + at);
    } else {
      sequence[static_cast<size_t>(at)] = symbol;
    }
  }
  return sequence;
}

class Banded : public testing::TestWithParam<PairCount> {
 protected:
  bool is_lcs() const { return GetParam() == PairCount::lcs; }

  uint64_t exact(const Symbols& a, const Symbols& b) const {
    if (!is_lcs()) return oracle::levenshtein_distance(a, b);
    return a.size() + b.size() - 2 * oracle::lcs_length(a, b);
  }

  uint64_t count(BandedEdits& banded, const Symbols& a, const Symbols& b, uint64_t most,
                 uint64_t columns = UINT64_MAX) const {
    NumberedSequence rows;
    rows.set({a.data(), a.size()}, a.data());
    NumberedSequence others;
    others.set({b.data(), b.size()}, b.data());
    return banded.count(GetParam(), rows, others, most, columns);
  }

  // At limits about the distance, about the widths at which words are added, and at any.
  void expect_exact(const Symbols& a, const Symbols& b) {
    const uint64_t edits = exact(a, b);
    const uint64_t difference = std::max(a.size(), b.size()) - std::min(a.size(), b.size());
    for (const uint64_t wanted :
         {uint64_t{0}, edits - std::min<uint64_t>(edits, 1), edits, edits + 1, 60 + random_() % 8,
          124 + random_() % 8, 188 + random_() % 8, random_() % (a.size() + b.size() + 2),
          uint64_t{100'000}}) {
      const uint64_t most = std::max(wanted, difference);
      const auto where = [&] {
        return ::testing::Message() << a.size() << " and " << b.size() << " symbols, at most "
                                    << most << " edits of " << edits;
      };
      ASSERT_EQ(count(banded_, a, b, most), std::min(edits, most + 1)) << where();
      const uint64_t columns = 1 + random_() % 70;
      ASSERT_LE(count(banded_, a, b, most, columns), std::min(edits, most + 1))
          << where() << ", of " << columns << " columns";
    }
  }

  std::mt19937_64 random_{test_seed()};
  BandedEdits banded_{kDistinct};
  std::deque<Symbols> rows_;  // which the tables are of
};

TEST_P(Banded, CountsAtEveryWidth) {
  for (int turn = 0; turn < 1500; ++turn) {
    const uint32_t alphabet = turn % 4 == 0 ? 1 : turn % 4 == 1 ? 2 : turn % 4 == 2 ? 4 : kDistinct;
    const auto length = [&] {
      return random_() % 2 == 0 ? random_() % 200 : kBorders[random_() % std::size(kBorders)];
    };
    // One sequence with several, as a list has them.
    if (turn % 3 == 0) rows_.push_back(random_sequence(random_, length(), alphabet));
    const Symbols& a = rows_.back();
    expect_exact(a, turn % 2 == 0 ? edited(random_, a, random_() % 80, alphabet)
                                  : random_sequence(random_, length(), alphabet));
  }
}

// All that they have in common is far from the diagonal, and nothing is.
TEST_P(Banded, CountsShiftedAndForeignSequences) {
  for (const size_t shift : {1, 31, 32, 33, 63, 64, 65, 100}) {
    const Symbols middle = random_sequence(random_, 150, kDistinct - 1);
    rows_.push_back(middle);
    Symbols& front = rows_.emplace_back(shift, kDistinct - 1);
    front.insert(front.end(), middle.begin(), middle.end());
    Symbols& back = rows_.emplace_back(middle);
    back.insert(back.end(), shift, kDistinct - 1);
    expect_exact(front, back);
    expect_exact(back, front);
    expect_exact(rows_[rows_.size() - 3], front);
    expect_exact(rows_[rows_.size() - 3], Symbols(shift, kDistinct - 1));
  }
}

TEST_P(Banded, CountsInLongSequences) {
  const Symbols a = random_sequence(random_, 3000, 4);
  for (const uint64_t edits : {0, 20, 200, 800}) {
    expect_exact(a, edited(random_, a, edits, 4));
  }
}

// Where the whole table would be too large, 64 diagonals go along in words of rows.
TEST_P(Banded, TakesWhatItsTablesHold) {
  constexpr uint32_t kMany = BandedEdits::kTableBytes / sizeof(uint64_t) / 3;
  BandedEdits banded(kMany);
  EXPECT_TRUE(banded.is_in_one_word(EditBand(64, 64, 40)));
  EXPECT_FALSE(banded.is_in_one_word(EditBand(300, 300, 40)));
  EXPECT_TRUE(banded.takes(EditBand(300, 300, 40)));
  EXPECT_FALSE(banded.takes(EditBand(300, 300, 300)));
  Symbols a = random_sequence(random_, 300, kMany);
  a.back() = kMany - 1;
  for (int turn = 0; turn < 20; ++turn) {
    const Symbols b = edited(random_, a, random_() % 30, kMany);
    const uint64_t edits = exact(a, b);
    const uint64_t most = std::max<uint64_t>(40, b.size() - std::min(a.size(), b.size()));
    ASSERT_EQ(count(banded, a, b, most), std::min(edits, most + 1));
  }
}

TEST_P(Banded, StopsWhereCancelled) {
  std::stop_source stopped;
  stopped.request_stop();
  BandedEdits banded(2, stopped.get_token());
  const Symbols a(5'000'000, 0);
  const Symbols b(5'000'000, 1);
  EXPECT_LT(count(banded, a, b, 10'000'000), b.size());  // hours, if it went on
}

INSTANTIATE_TEST_SUITE_P(Both, Banded, testing::Values(PairCount::lcs, PairCount::levenshtein),
                         [](const auto& count) {
                           return count.param == PairCount::lcs ? "Lcs" : "Levenshtein";
                         });

}  // namespace
}  // namespace hoist::match
