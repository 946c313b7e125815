// The oracle does GF(2^8) by shifts and exclusive or, and knows nothing of ISA-L.
#include "codec/parity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <vector>

#include "base/test_seed.h"

namespace hoist::codec {
namespace {

using Bytes = std::vector<std::byte>;

uint8_t slow_multiply(unsigned a, unsigned b) {
  unsigned product = 0;
  for (; b != 0; b >>= 1) {
    if (b & 1) product ^= a;
    a <<= 1;
    if (a & 0x100) a ^= 0x11d;
  }
  return static_cast<uint8_t>(product);
}

uint8_t slow_inverse(unsigned a) {
  for (unsigned b = 1; b < 256; ++b) {
    if (slow_multiply(a, b) == 1) return static_cast<uint8_t>(b);
  }
  return 0;
}

// All shards of one stripe; each begins at an odd address when asked.
struct Stripe {
  Stripe(size_t data_shards, size_t parity_shards, size_t size, bool unaligned = false)
      : n(data_shards), skew(unaligned ? 1 : 0) {
    shards.assign(data_shards + parity_shards, Bytes(size + skew));
  }
  Parity::WritableShard at(size_t i) { return std::span(shards[i]).subspan(skew); }
  std::vector<Parity::Shard> data() {
    std::vector<Parity::Shard> spans;
    for (size_t i = 0; i < n; ++i) spans.push_back(at(i));
    return spans;
  }
  std::vector<Parity::WritableShard> parity() {
    std::vector<Parity::WritableShard> spans;
    for (size_t i = n; i < shards.size(); ++i) spans.push_back(at(i));
    return spans;
  }
  std::vector<Parity::Shard> const_parity() {
    std::vector<Parity::Shard> spans;
    for (size_t i = n; i < shards.size(); ++i) spans.push_back(at(i));
    return spans;
  }

  size_t n;
  size_t skew;
  std::vector<Bytes> shards;
};

class ParityTest : public ::testing::Test {
 protected:
  Stripe random_stripe(const Parity& parity, size_t size, bool unaligned = false) {
    Stripe stripe(parity.data_shards(), parity.parity_shards(), size, unaligned);
    for (Bytes& shard : stripe.shards) {
      for (std::byte& byte : shard) byte = static_cast<std::byte>(random_());
    }
    return stripe;
  }
  Stripe encoded_stripe(const Parity& parity, size_t size, bool unaligned = false) {
    Stripe stripe = random_stripe(parity, size, unaligned);
    EXPECT_TRUE(parity.encode(stripe.data(), stripe.parity()));
    return stripe;
  }

  // Loses shards, rebuilds them and compares.
  void lose_and_mend(const Parity& parity, Stripe& stripe, const std::vector<size_t>& lost,
                     ThreadPool* pool = nullptr) {
    std::vector<Parity::Survivor> survivors;
    std::vector<Parity::Wanted> wanted;
    std::vector<Bytes> rebuilt(lost.size(), Bytes(stripe.at(0).size(), std::byte{0x5a}));
    for (size_t i = 0; i < stripe.shards.size(); ++i) {
      const auto found = std::find(lost.begin(), lost.end(), i);
      if (found == lost.end()) {
        survivors.push_back({i, stripe.at(i)});
      } else {
        wanted.push_back({i, rebuilt[found - lost.begin()]});
      }
    }
    std::shuffle(survivors.begin(), survivors.end(), random_);
    std::shuffle(wanted.begin(), wanted.end(), random_);
    ASSERT_TRUE(parity.reconstruct(survivors, wanted, pool));
    for (size_t i = 0; i < lost.size(); ++i) {
      ASSERT_TRUE(std::equal(rebuilt[i].begin(), rebuilt[i].end(), stripe.at(lost[i]).begin()))
          << "shard " << lost[i] << " of " << parity.data_shards() << "+" << parity.parity_shards();
    }
  }

  std::mt19937_64 random_{test_seed()};
};

TEST_F(ParityTest, MatrixIsTheCauchyMatrix) {
  for (const auto& [n, k] : {std::pair{1, 1}, {3, 2}, {10, 4}, {128, 127}, {254, 1}, {1, 254}}) {
    const Parity parity = *Parity::create(n, k);
    for (int i = 0; i < k; ++i) {
      for (int j = 0; j < n; ++j) {
        ASSERT_EQ(parity.coefficient(i, j), slow_inverse((n + i) ^ j)) << n << "+" << k;
      }
    }
  }
}

TEST_F(ParityTest, EncodeAndAccumulateMatchTheOracle) {
  for (const auto& [n, k] : {std::pair{1, 1}, {2, 1}, {4, 2}, {5, 7}, {16, 6}, {20, 13}}) {
    const Parity parity = *Parity::create(n, k);
    for (const size_t size : {0, 1, 7, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 1000, 4097}) {
      for (const bool unaligned : {false, true}) {
        Stripe stripe = encoded_stripe(parity, size, unaligned);
        Stripe sums(n, k, size, unaligned);
        std::vector<size_t> order(n);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random_);
        for (const size_t j : order) {
          ASSERT_TRUE(parity.accumulate(j, stripe.at(j), sums.parity()));
        }
        for (int i = 0; i < k; ++i) {
          for (size_t b = 0; b < size; ++b) {
            uint8_t expected = 0;
            for (int j = 0; j < n; ++j) {
              expected ^= slow_multiply(parity.coefficient(i, j),
                                        std::to_integer<unsigned>(stripe.at(j)[b]));
            }
            ASSERT_EQ(std::to_integer<uint8_t>(stripe.at(n + i)[b]), expected)
                << n << "+" << k << ", " << size << " bytes, byte " << b;
            ASSERT_EQ(sums.at(n + i)[b], stripe.at(n + i)[b]);
          }
        }
      }
    }
  }
}

TEST_F(ParityTest, EveryLossIsMended) {
  for (const auto& [n, k] : {std::pair{1, 1}, {1, 3}, {2, 2}, {4, 3}, {5, 1}, {3, 5}, {6, 4}}) {
    const Parity parity = *Parity::create(n, k);
    Stripe stripe = encoded_stripe(parity, 37, true);
    for (unsigned pattern = 0; pattern < 1u << (n + k); ++pattern) {
      if (std::popcount(pattern) > k) continue;
      std::vector<size_t> lost;
      for (int i = 0; i < n + k; ++i) {
        if (pattern >> i & 1) lost.push_back(i);
      }
      lose_and_mend(parity, stripe, lost);
    }
  }
}

TEST_F(ParityTest, LargeCodesAreMended) {
  for (const auto& [n, k] : {std::pair{128, 127}, {254, 1}, {1, 254}, {200, 55}, {40, 8}}) {
    const Parity parity = *Parity::create(n, k);
    Stripe stripe = encoded_stripe(parity, 100);
    std::vector<size_t> indices(n + k);
    std::iota(indices.begin(), indices.end(), 0);
    // The first shards, the last, and random ones.
    lose_and_mend(parity, stripe, {indices.begin(), indices.begin() + k});
    lose_and_mend(parity, stripe, {indices.end() - k, indices.end()});
    for (int round = 0; round < 4; ++round) {
      std::shuffle(indices.begin(), indices.end(), random_);
      lose_and_mend(parity, stripe, {indices.begin(), indices.begin() + k});
      lose_and_mend(parity, stripe, {indices.begin(), indices.begin() + (k + 1) / 2});
    }
  }
}

TEST_F(ParityTest, ThreadsChangeNothing) {
  ThreadPool pool(4);
  const Parity parity = *Parity::create(6, 3);
  Stripe stripe = encoded_stripe(parity, 777'777, true);
  Stripe again = stripe;
  for (size_t i = 6; i < 9; ++i) std::ranges::fill(again.at(i), std::byte{0});
  Stripe sums = again;
  ASSERT_TRUE(parity.encode(again.data(), again.parity(), &pool));
  EXPECT_EQ(again.shards, stripe.shards);
  for (size_t j = 0; j < 6; ++j) {
    ASSERT_TRUE(parity.accumulate(j, sums.at(j), sums.parity(), &pool));
  }
  EXPECT_EQ(sums.shards, stripe.shards);
  lose_and_mend(parity, stripe, {0, 5, 7}, &pool);
  EXPECT_TRUE(*parity.verify(stripe.data(), stripe.const_parity(), &pool));
}

TEST_F(ParityTest, OnlyWhatIsWantedIsRebuilt) {
  const Parity parity = *Parity::create(4, 3);
  Stripe stripe = encoded_stripe(parity, 100);
  const std::vector<Parity::Survivor> survivors = {
      {6, stripe.at(6)}, {0, stripe.at(0)}, {4, stripe.at(4)}, {3, stripe.at(3)}};
  Bytes one(100);
  const Parity::Wanted wanted = {2, one};
  ASSERT_TRUE(parity.reconstruct(survivors, std::span(&wanted, 1)));
  EXPECT_TRUE(std::ranges::equal(one, stripe.at(2)));
  EXPECT_TRUE(parity.reconstruct(survivors, {}));
}

TEST_F(ParityTest, VerifyFindsAnyChangedBit) {
  const Parity parity = *Parity::create(3, 2);
  Stripe stripe = encoded_stripe(parity, 300'000);
  ASSERT_TRUE(*parity.verify(stripe.data(), stripe.const_parity()));
  for (size_t shard = 0; shard < 5; ++shard) {
    for (const size_t position : {size_t{0}, size_t{150'001}, size_t{299'999}}) {
      stripe.at(shard)[position] ^= std::byte{0x10};
      EXPECT_FALSE(*parity.verify(stripe.data(), stripe.const_parity()));
      stripe.at(shard)[position] ^= std::byte{0x10};
    }
  }
}

template <typename T>
ErrorCode code_of(const Result<T>& result) {
  return result ? ErrorCode::internal : result.error().code;
}

TEST_F(ParityTest, WrongUseIsAnError) {
  for (const auto& [n, k] : {std::pair{0, 1}, {1, 0}, {128, 128}, {255, 1}, {256, 0}}) {
    EXPECT_EQ(code_of(Parity::create(n, k)), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(code_of(Parity::create(SIZE_MAX, 2)), ErrorCode::invalid_argument);

  const Parity parity = *Parity::create(4, 2);
  Stripe stripe = encoded_stripe(parity, 64);
  Stripe other(4, 2, 63);
  std::vector<Parity::Shard> data = stripe.data();
  EXPECT_EQ(code_of(parity.encode(data, other.parity())), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(parity.encode(std::span(data).first(3), stripe.parity())),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(parity.encode({}, stripe.parity())), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(parity.verify(data, other.const_parity())), ErrorCode::invalid_argument);
  data[2] = data[2].first(10);
  EXPECT_EQ(code_of(parity.encode(data, stripe.parity())), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(parity.verify(data, stripe.const_parity())), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(parity.accumulate(4, stripe.at(0), stripe.parity())),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(parity.accumulate(0, other.at(0), stripe.parity())),
            ErrorCode::invalid_argument);
}

TEST_F(ParityTest, ImpossibleReconstructionIsAnError) {
  const Parity parity = *Parity::create(4, 2);
  Stripe stripe = encoded_stripe(parity, 64);
  Bytes room(64, std::byte{7});
  const auto reconstruct = [&](std::vector<size_t> survivors, std::vector<size_t> wanted) {
    std::vector<Parity::Survivor> from;
    std::vector<Parity::Wanted> to;
    for (const size_t i : survivors) from.push_back({i, stripe.at(std::min<size_t>(i, 5))});
    for (const size_t i : wanted) to.push_back({i, room});
    return code_of(parity.reconstruct(from, to));
  };
  EXPECT_EQ(reconstruct({0, 1, 4}, {2}), ErrorCode::corrupt);
  EXPECT_EQ(reconstruct({}, {2}), ErrorCode::corrupt);
  EXPECT_EQ(reconstruct({0, 1, 4, 4}, {2}), ErrorCode::invalid_argument);
  EXPECT_EQ(reconstruct({0, 1, 4, 6}, {2}), ErrorCode::invalid_argument);
  EXPECT_EQ(reconstruct({0, 1, 3, 4}, {1}), ErrorCode::invalid_argument);
  EXPECT_EQ(reconstruct({0, 1, 3, 4}, {6}), ErrorCode::invalid_argument);
  EXPECT_EQ(reconstruct({0, 1, 3, 4}, {2, 2}), ErrorCode::invalid_argument);
  room.resize(63);
  EXPECT_EQ(reconstruct({0, 1, 3, 4}, {2}), ErrorCode::invalid_argument);
  EXPECT_EQ(std::count(room.begin(), room.end(), std::byte{7}), 63);
}

}  // namespace
}  // namespace hoist::codec
