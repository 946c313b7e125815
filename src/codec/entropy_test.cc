#include "codec/entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "base/test_seed.h"
#include "codec/entropy_testing.h"
#include "codec/entropy_tile.h"

namespace hoist::codec {
namespace {

struct Source {
  const char* name;
  std::function<std::vector<uint8_t>(size_t, std::mt19937_64&)> draw;
};

const std::vector<Source>& sources() {
  static const std::vector<Source> all = {
      {"exponents", [](size_t n, auto& r) { return exponents(n, 0.02, r); }},
      {"letters", letters},
      {"geometric", geometric},
      {"sparse", sparse},
      {"one symbol", [](size_t n, auto&) { return std::vector<uint8_t>(n, 200); }},
      {"two symbols", [](size_t n, auto& r) { return uniform(n, 2, r); }},
      {"three symbols", [](size_t n, auto& r) { return uniform(n, 3, r); }},
      {"255 symbols", [](size_t n, auto& r) { return uniform(n, 255, r); }},
      {"256 symbols", [](size_t n, auto& r) { return uniform(n, 256, r); }},
  };
  return all;
}

SymbolHistogram count(std::span<const uint8_t> symbols) {
  SymbolHistogram histogram;
  histogram.add(symbols);
  return histogram;
}

// Encodes and decodes with every implementation, checks each against each and the oracle.
void check_tile(std::span<const uint8_t> symbols, const EntropyTable& table) {
  const std::vector<std::byte> tile = encode_tile(symbols, table, kRansPortable);
  ASSERT_LE(tile.size(), symbols.size());
  if (tile.size() != symbols.size()) {
    const auto expected = oracle_decode(tile, table, symbols.size());
    ASSERT_TRUE(expected);
    ASSERT_TRUE(std::equal(symbols.begin(), symbols.end(), expected->begin()));
  }
  for (const RansImplementation* rans : rans_implementations()) {
    if (!rans->supported()) continue;
    SCOPED_TRACE(rans->name);
    ASSERT_EQ(encode_tile(symbols, table, *rans), tile);
    std::vector<uint8_t> decoded(symbols.size() + 1, 0xa5);
    ASSERT_TRUE(decode_tile(tile, table, std::span(decoded).first(symbols.size()), *rans));
    ASSERT_TRUE(std::equal(symbols.begin(), symbols.end(), decoded.begin()));
    ASSERT_EQ(decoded.back(), 0xa5);
  }
}

TEST(EntropyTile, EveryImplementationAndTheOracleAgree) {
  std::mt19937_64 random(test_seed());
  for (const Source& source : sources()) {
    SCOPED_TRACE(source.name);
    for (const size_t size : {1, 2, 3, 127, 128, 129, 255, 256, 383, 1000, 4095, 8192, 40001}) {
      const std::vector<uint8_t> symbols = source.draw(size, random);
      for (const uint32_t width : {1u, 2u}) {
        if (size == 1 && width == 2) continue;  // no pair to count
        SCOPED_TRACE(testing::Message() << size << " symbols, " << width << " a code");
        check_tile(symbols, EntropyTable::build(count(symbols), width).value());
      }
    }
  }
}

TEST(EntropyTile, ATableCodesWhatItsHistogramHasNot) {
  std::mt19937_64 random(test_seed());
  const EntropyTable pairs = EntropyTable::build(count(exponents(100000, 0.02, random)), 2).value();
  const EntropyTable singles =
      EntropyTable::build(count(exponents(100000, 0.02, random)), 1).value();
  for (const Source& source : sources()) {
    SCOPED_TRACE(source.name);
    check_tile(source.draw(20000, random), pairs);
    check_tile(source.draw(20000, random), singles);
    // Mostly what the table knows, so that the tile shrinks although it escapes again and again.
    std::vector<uint8_t> mixed = exponents(20000, 0.02, random);
    const std::vector<uint8_t> foreign = source.draw(20000, random);
    for (size_t i = 0; i < mixed.size(); ++i) {
      if (random() % 16 == 0) mixed[i] = foreign[i];
    }
    check_tile(mixed, pairs);
    check_tile(mixed, singles);
  }
}

TEST(EntropyTile, ExponentsTakeLessThanOnePercentMoreThanTheirEntropy) {
  std::mt19937_64 random(test_seed());
  for (const double deviation : {0.015, 0.018, 0.02, 0.022, 0.7}) {
    const std::vector<uint8_t> symbols = exponents(1 << 20, deviation, random);
    const SymbolHistogram histogram = count(symbols);
    const EntropyTable table = EntropyTable::build(histogram).value();
    EXPECT_EQ(table.symbols_per_code(), 2u);
    for (const uint32_t tile_symbols : {64u << 10, 32u << 10, 16u << 10, 8u << 10}) {
      const size_t size = entropy_encode(symbols, table, tile_symbols)->size();
      const double bits = 8.0 * static_cast<double>(size) / static_cast<double>(symbols.size());
      const double above = bits / histogram.entropy() - 1;
      std::printf("deviation %.3f, tiles of %2u Ki: entropy %.4f, coded %.4f, %.2f %% above\n",
                  deviation, tile_symbols >> 10, histogram.entropy(), bits, 100 * above);
      if (tile_symbols == kMaxTileSymbols) {
        EXPECT_LT(above, 0.01);
      }
    }
  }
}

TEST(EntropySection, RoundTripsWithAndWithoutAPool) {
  std::mt19937_64 random(test_seed());
  ThreadPool pool(3);
  for (const size_t size : {0, 1, 127, 8191, 8192, 8193, 65536, 65537, 300001}) {
    for (const uint32_t tile_symbols : {kMinTileSymbols, kMaxTileSymbols}) {
      const std::vector<uint8_t> symbols = exponents(size, 0.02, random);
      const EntropyTable table = EntropyTable::build(count(exponents(9999, 0.02, random))).value();
      const auto coded = entropy_encode(symbols, table, tile_symbols);
      ASSERT_TRUE(coded);
      EXPECT_EQ(*coded, entropy_encode(symbols, table, tile_symbols, &pool).value());
      const auto view = EntropyView::parse(*coded);
      ASSERT_TRUE(view) << view.error().message;
      ASSERT_EQ(view->symbols(), size);
      for (ThreadPool* each : {static_cast<ThreadPool*>(nullptr), &pool}) {
        std::vector<uint8_t> decoded(size);
        const Status status = entropy_decode(*view, table, decoded, each);
        ASSERT_TRUE(status) << status.error().message;
        EXPECT_EQ(decoded, symbols);
      }
    }
  }
}

TEST(EntropySection, WrongArgumentsAreRefused) {
  const EntropyTable table = EntropyTable::build(count(std::vector<uint8_t>{1, 2, 3})).value();
  const std::vector<uint8_t> symbols(10);
  for (const uint32_t bad : {0u, 128u, kMinTileSymbols + 128, 2 * kMaxTileSymbols}) {
    EXPECT_EQ(entropy_encode(symbols, table, bad).error().code, ErrorCode::invalid_argument);
  }
  const auto coded = entropy_encode(symbols, table).value();
  const EntropyView view = EntropyView::parse(coded).value();
  std::vector<uint8_t> room(9);
  EXPECT_EQ(entropy_decode(view, table, room).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(entropy_decode_tile(view, view.tiles()[0], table, room).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(EntropyTable::build(SymbolHistogram()).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(EntropyTable::build(count(symbols), 3).error().code, ErrorCode::invalid_argument);
}

// Whatever the bytes, all implementations and the oracle give the same answer.
TEST(EntropyTile, CorruptTilesAreFoundAlike) {
  std::mt19937_64 random(test_seed());
  int rejected = 0;
  for (int round = 0; round < 400; ++round) {
    const Source& source = sources()[random() % sources().size()];
    const std::vector<uint8_t> symbols = source.draw(2 + random() % 3000, random);
    const EntropyTable table = EntropyTable::build(count(symbols), 1 + random() % 2).value();
    std::vector<std::byte> tile = encode_tile(symbols, table);
    switch (random() % 3) {
      case 0:
        tile[random() % tile.size()] ^= std::byte{1} << static_cast<int>(random() % 8);
        break;
      case 1:
        tile.resize(random() % (tile.size() + 100));
        break;
      default:
        for (std::byte& byte : tile) byte = static_cast<std::byte>(random());
    }
    if (tile.size() == symbols.size()) continue;
    const auto expected =
        tile.size() < symbols.size() ? oracle_decode(tile, table, symbols.size()) : std::nullopt;
    rejected += !expected;
    // Exactly as large as they are, so that a sanitizer sees every step outside.
    const std::vector<std::byte> exact(tile.begin(), tile.end());
    for (const RansImplementation* rans : rans_implementations()) {
      if (!rans->supported()) continue;
      std::vector<uint8_t> decoded(symbols.size());
      ASSERT_EQ(decode_tile(exact, table, decoded, *rans), expected.has_value()) << rans->name;
      if (expected) {
        ASSERT_EQ(decoded, *expected);
      }
    }
  }
  EXPECT_GT(rejected, 100);
}

TEST(EntropySection, CorruptSectionsAreRefused) {
  std::mt19937_64 random(test_seed());
  const std::vector<uint8_t> symbols = exponents(50001, 0.02, random);
  const EntropyTable table = EntropyTable::build(count(symbols)).value();
  const std::vector<std::byte> coded = entropy_encode(symbols, table, kMinTileSymbols).value();
  for (size_t size = 0; size < coded.size(); size += size < 100 ? 1 : 97) {
    EXPECT_FALSE(EntropyView::parse(std::span(coded).first(size))) << size;
  }
  std::vector<std::byte> longer(coded);
  longer.resize(coded.size() + 4);
  EXPECT_FALSE(EntropyView::parse(longer));
  // Byte 0 of the count can change without a trace: the last group is padded to 128 symbols.
  for (size_t i = 1; i < 16 + 4 * 7; ++i) {
    std::vector<std::byte> changed(coded);
    changed[i] ^= std::byte{0x40};
    const auto view = EntropyView::parse(changed);
    if (!view) continue;
    std::vector<uint8_t> decoded(view->symbols());
    EXPECT_FALSE(entropy_decode(*view, table, decoded)) << i;
  }
  // A count of symbols that no memory could hold is refused before anything is allocated.
  std::vector<std::byte> huge(16);
  const uint64_t most = UINT64_MAX;
  const uint32_t tile_symbols = kMaxTileSymbols;
  std::memcpy(huge.data(), &most, 8);
  std::memcpy(huge.data() + 8, &tile_symbols, 4);
  EXPECT_EQ(EntropyView::parse(huge).error().code, ErrorCode::corrupt);
}

TEST(EntropyTable, SerialisesExactly) {
  std::mt19937_64 random(test_seed());
  for (const Source& source : sources()) {
    for (const uint32_t width : {1u, 2u}) {
      const SymbolHistogram histogram = count(source.draw(30000, random));
      const EntropyTable table = EntropyTable::build(histogram, width).value();
      const std::string bytes = table.serialise();
      const auto again = EntropyTable::parse(std::as_bytes(std::span(bytes)));
      ASSERT_TRUE(again) << source.name << ": " << again.error().message;
      EXPECT_EQ(again->serialise(), bytes);
      EXPECT_TRUE(std::equal(table.codes().begin(), table.codes().end(), again->codes().begin(),
                             again->codes().end()));
      EXPECT_EQ(std::memcmp(&table.decode_table(), &again->decode_table(), sizeof(RansDecodeTable)),
                0);
      EXPECT_LE(bytes.size(), 1100u);
    }
  }
}

TEST(EntropyTable, CorruptTablesAreRefusedOrComplete) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 2000; ++round) {
    const Source& source = sources()[random() % sources().size()];
    static std::vector<std::string> tables;
    if (round < 20) {
      const SymbolHistogram histogram = count(source.draw(3000, random));
      tables.push_back(EntropyTable::build(histogram, 1 + random() % 2)->serialise());
    }
    std::string bytes = tables[random() % tables.size()];
    if (random() % 2) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    } else {
      bytes.resize(random() % bytes.size());
    }
    const auto table = EntropyTable::parse(std::as_bytes(std::span(bytes)));
    if (!table) {
      EXPECT_EQ(table.error().code, ErrorCode::corrupt);
      continue;
    }
    EXPECT_EQ(table->serialise(), bytes);
    uint32_t slots = table->escape_frequency();
    for (const EntropyCode& code : table->codes()) slots += code.frequency;
    EXPECT_EQ(slots, kRansSlots);
  }
}

// No other choice of frequencies that sum to 4096 is better: no single step between two codes pays.
TEST(EntropyTable, FrequenciesAreOptimal) {
  std::mt19937_64 random(test_seed());
  for (const Source& source : sources()) {
    for (const size_t size : {10, 300, 20000, 100000}) {
      const SymbolHistogram histogram = count(source.draw(size, random));
      const EntropyTable table = EntropyTable::build(histogram, 1).value();
      const auto counts = histogram.singles();
      const auto bits = [&](uint16_t value, int frequency) {
        return -static_cast<double>(counts[value]) * std::log2(frequency / 4096.0);
      };
      double least_loss = INFINITY;
      double most_gain = 0;
      for (const auto [value, frequency] : table.codes()) {
        most_gain = std::max(most_gain, bits(value, frequency) - bits(value, frequency + 1));
        if (frequency == 1) continue;
        least_loss = std::min(least_loss, bits(value, frequency - 1) - bits(value, frequency));
      }
      EXPECT_LE(most_gain, least_loss * (1 + 1e-9)) << source.name << ", " << size;
    }
  }
}

TEST(EntropySection, FilledTilesAreCodedAsSymbolsInMemory) {
  std::mt19937_64 random(test_seed());
  ThreadPool pool(3);
  for (const size_t size : {0, 1, 8191, 8192, 8193, 50001}) {
    std::vector<uint8_t> symbols(size);
    for (uint8_t& symbol : symbols)
      symbol = static_cast<uint8_t>(std::min(random() % 9, random() % 9));
    SymbolHistogram histogram = count(symbols);
    if (size == 0) histogram.add_odd(1);
    const EntropyTable table = EntropyTable::build(histogram).value();
    const auto fill = [&](uint64_t first, std::span<uint8_t> tile) {
      std::copy_n(symbols.begin() + static_cast<ptrdiff_t>(first), tile.size(), tile.begin());
    };
    const auto expected = entropy_encode(symbols, table, kMinTileSymbols).value();
    EXPECT_EQ(entropy_encode(size, fill, table, kMinTileSymbols).value(), expected);
    EXPECT_EQ(entropy_encode(size, fill, table, kMinTileSymbols, &pool).value(), expected);
  }
  const EntropyTable table = EntropyTable::build(count(std::vector<uint8_t>{1, 2})).value();
  EXPECT_EQ(entropy_encode(
                1, [](uint64_t, std::span<uint8_t>) {}, table, 3)
                .error()
                .code,
            ErrorCode::invalid_argument);
}

TEST(SymbolHistogram, CountsOfOthersAreAddedAsItsOwn) {
  SymbolHistogram own;
  own.add(std::vector<uint8_t>{1, 2, 1, 2, 7, 1, 9});
  SymbolHistogram told;
  told.add_pairs(1, 2, 2);
  told.add_pairs(7, 1, 1);
  told.add_odd(9);
  EXPECT_EQ(told.singles(), own.singles());
  EXPECT_TRUE(std::equal(told.pairs().begin(), told.pairs().end(), own.pairs().begin()));
}

TEST(SymbolHistogram, CountsAndMerges) {
  SymbolHistogram histogram;
  EXPECT_EQ(histogram.entropy(), 0);
  histogram.add(std::vector<uint8_t>{1, 2, 1, 2, 3});
  SymbolHistogram other;
  other.add(std::vector<uint8_t>{2, 2});
  histogram.merge(other);
  EXPECT_EQ(histogram.total(), 7u);
  EXPECT_EQ(histogram.singles()[2], 4u);
  EXPECT_EQ(histogram.singles()[3], 1u);
  EXPECT_EQ(histogram.pairs()[1 | 2 << 8], 2u);
  EXPECT_NEAR(histogram.entropy(), (2 * std::log2(3.5) + 4 * std::log2(7.0 / 4) + std::log2(7)) / 7,
              1e-12);
}

}  // namespace
}  // namespace hoist::codec
