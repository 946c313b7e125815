// The packed form against the layout's own function for one weight, and there and back.
#include <set>

#include "tensors/packed/pack.h"
#include "tensors/packed/testing.h"
#include "tensors/packed/tile.h"

namespace hoist::tensors::packed {
namespace {

constexpr uint32_t kTile = kTileRows * kTileColumns;

std::vector<uint16_t> unpacked(const View& view) {
  std::vector<uint16_t> weights(view.shape.weights(), 0xa5a5);
  EXPECT_TRUE(unpack(view, weights));
  return weights;
}

TEST(Packed, EveryPatternInEveryPlaceOfATile) {
  // 1024 places, 65536 patterns: place p holds pattern 64 k + p at step k.
  std::vector<uint16_t> lines(kTile);
  std::vector<uint16_t> tile(kTileBytes / 2);
  std::vector<uint16_t> back(kTile);
  for (const uint32_t base : {0U, 1U, 100U, 112U, 127U}) {
    for (uint32_t step = 0; step < 65536; ++step) {
      for (uint32_t p = 0; p < kTile; ++p) lines[p] = static_cast<uint16_t>(step + 64 * p);
      encode_tile(lines.data(), kTileColumns, base, tile.data());
      decode_tile(tile.data(), base, back.data(), kTileColumns);
      for (uint16_t& weight : lines) weight = is_escape(weight, base) ? 0 : weight;
      ASSERT_EQ(back, lines) << "base " << base << ", step " << step;
    }
  }
}

TEST(Packed, ATilesPlacesAreTheLayouts) {
  std::mt19937_64 random(test_seed());
  const std::vector<uint16_t> lines = any_bits(kTile, random);
  std::vector<uint16_t> tile(kTileBytes / 2);
  for (const uint32_t base : {0U, 64U, 120U}) {
    encode_tile(lines.data(), kTileColumns, base, tile.data());
    for (uint32_t i = 0; i < kTile; ++i) {
      const uint16_t wanted = is_escape(lines[i], base) ? 0 : lines[i];
      ASSERT_EQ(weight_at(tile.data(), base, i / kTileColumns, i % kTileColumns), wanted);
    }
  }
}

// As a lane sees them, which has fragments of mma.m16n8k16 to make: registers r = 0…3 of step j.
TEST(Packed, LanesHoldTheirFragments) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    for (uint32_t i = 0; i < 32; ++i) {
      const uint32_t j = i / 8;
      const uint32_t r = i / 2 % 4;
      const uint32_t half = i % 2;
      const uint32_t row = lane / 4 + 8 * (r & 1);
      const uint32_t column = 32 * (j >> 1) + 8 * (lane % 4) + 4 * (j & 1) + 2 * (r >> 1) + half;
      const Place place = place_of(row, column);
      const uint32_t word = 2 * j + (r >> 1);
      EXPECT_EQ(place.kept, (word / 4 * 32 + lane) * 8 + word % 4 * 2 + half);
      EXPECT_EQ(place.is_swapped, r % 2 == 1);
      EXPECT_EQ(place.codes, (64 + lane) * 8 + j * 2 + half);
      EXPECT_EQ(place.which, r);
    }
  }
}

TEST(Packed, PlacesShareNoBit) {
  // A weight alone in a tile of zeros sets the bits that are its own: all together are all.
  std::vector<uint16_t> lines(kTile);
  std::vector<uint16_t> tile(kTileBytes / 2);
  std::vector<uint16_t> seen(kTileBytes / 2);
  for (uint32_t i = 0; i < kTile; ++i) {
    lines.assign(kTile, 0);
    lines[i] = 0x8000 | 15 << 7 | 0x7f;
    encode_tile(lines.data(), kTileColumns, 0, tile.data());
    for (size_t k = 0; k < tile.size(); ++k) {
      ASSERT_EQ(seen[k] & tile[k], 0) << "place " << i;
      seen[k] |= tile[k];
    }
  }
  EXPECT_EQ(seen, std::vector<uint16_t>(kTileBytes / 2, 0xffff));
}

TEST(Packed, ThereAndBack) {
  for (const TestMatrix& matrix : test_matrices()) {
    SCOPED_TRACE(matrix.name);
    Shape shape;
    const std::vector<std::byte> bytes = packed_bytes(matrix, shape);
    const Result<View> view = view_of(bytes.data(), bytes.size(), shape);
    ASSERT_TRUE(view) << view.error().message;
    const Status checked = check_contents(*view);
    ASSERT_TRUE(checked) << checked.error().message;
    ASSERT_EQ(unpacked(*view), matrix.weights);
  }
}

TEST(Packed, RowsAreThoseOfTheMatrix) {
  std::mt19937_64 random(test_seed());
  for (const TestMatrix& matrix : test_matrices()) {
    SCOPED_TRACE(matrix.name);
    Shape shape;
    const std::vector<std::byte> bytes = packed_bytes(matrix, shape);
    const Result<View> view = view_of(bytes.data(), bytes.size(), shape);
    std::vector<int64_t> rows;
    for (size_t i = 0; matrix.rows != 0 && i < 150; ++i) {
      rows.push_back(static_cast<int64_t>(random() % matrix.rows));
    }
    std::vector<uint16_t> wanted;
    for (const int64_t row : rows) {
      const auto begin = matrix.weights.begin() + row * matrix.columns;
      wanted.insert(wanted.end(), begin, begin + matrix.columns);
    }
    std::vector<uint16_t> weights(wanted.size());
    ASSERT_TRUE(unpack_rows(*view, rows, weights));
    ASSERT_EQ(weights, wanted);
    for (const int64_t wrong : {int64_t{-1}, int64_t{matrix.rows}, INT64_MAX, INT64_MIN}) {
      std::vector<uint16_t> one(matrix.columns);
      EXPECT_FALSE(unpack_rows(*view, std::vector<int64_t>{wrong}, one));
    }
  }
}

TEST(Packed, TheBaseHasMostWeightsInItsWindow) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 200; ++round) {
    std::vector<uint32_t> counts(256);
    for (uint32_t& count : counts) count = random() % 4 == 0 ? random() % 3 : 0;
    uint32_t best = 0;
    uint64_t most = 0;
    for (uint32_t base = 0; base <= kLargestBase; ++base) {
      uint64_t inside = 0;
      for (uint32_t e = base + 1; e <= base + kCodes; ++e) inside += counts[e];
      if (inside >= most) {
        most = inside;
        best = base;
      }
    }
    ASSERT_EQ(best_base(counts), best);
  }
}

TEST(Packed, EscapesAreThoseOfTheRows) {
  for (const TestMatrix& matrix : test_matrices()) {
    const Result<Plan> plan = plan_packing(matrix.plain());
    ASSERT_TRUE(plan);
    uint32_t all = 0;
    uint32_t most = 0;
    for (uint32_t row = 0; row < matrix.rows; ++row) {
      uint32_t count = 0;
      for (uint32_t i = 0; i < matrix.columns; ++i) {
        count += is_escape(matrix.weights[row * matrix.columns + i], plan->bases[row / kTileRows]);
      }
      ASSERT_EQ(plan->row_escapes[row], all) << matrix.name;
      all += count;
      most = std::max(most, count);
    }
    ASSERT_EQ(plan->shape.escapes, all);
    ASSERT_EQ(plan->most_in_row, most);
  }
}

TEST(Packed, RowsMayHaveGaps) {
  std::mt19937_64 random(test_seed());
  const std::vector<uint16_t> wide = gaussian(40 * 300, random);
  const PlainMatrix inside = {wide.data() + 7, 40, 200, 300};
  const Result<Plan> plan = plan_packing(inside);
  ASSERT_TRUE(plan);
  std::vector<std::byte> bytes(plan->shape.bytes());
  ASSERT_TRUE(pack(inside, *plan, bytes));
  const std::vector<uint16_t> weights = unpacked(*view_of(bytes.data(), bytes.size(), plan->shape));
  for (size_t i = 0; i < weights.size(); ++i) {
    ASSERT_EQ(weights[i], wide[7 + i / 200 * 300 + i % 200]);
  }
}

TEST(Packed, GaussianWeightsTakeThreeQuarters) {
  std::mt19937_64 random(test_seed());
  const TestMatrix matrix = {"gaussian", 1024, 1024, gaussian(1 << 20, random)};
  const Result<Plan> plan = plan_packing(matrix.plain());
  EXPECT_EQ(plainness(plan->shape, plan->most_in_row), Plainness::packed);
  EXPECT_LT(static_cast<double>(plan->shape.bytes()),
            0.755 * static_cast<double>(plan->shape.plain_bytes()));
}

TEST(Packed, WhatStaysPlain) {
  EXPECT_EQ(plainness({255, 256, 0}, 0), Plainness::small);
  EXPECT_EQ(plainness({256, 256, 0}, 0), Plainness::packed);
  EXPECT_EQ(plainness({1, 1 << 20, 0}, 0), Plainness::small);  // padding
  EXPECT_EQ(plainness({1 << 20, 16, 0}, 0), Plainness::small);
  EXPECT_EQ(plainness({1000, 1000, 10000}, 100), Plainness::packed);
  EXPECT_EQ(plainness({1000, 1000, 10001}, 100), Plainness::many_escapes);
  EXPECT_EQ(plainness({1000, 1000, 104}, 104), Plainness::packed);
  EXPECT_EQ(plainness({1000, 1000, 105}, 105), Plainness::crowded_row);
}

TEST(Packed, WrongSizesAreRefused) {
  std::mt19937_64 random(test_seed());
  const TestMatrix matrix = {"gaussian", 20, 100, gaussian(2000, random)};
  Shape shape;
  std::vector<std::byte> bytes = packed_bytes(matrix, shape);
  EXPECT_FALSE(view_of(bytes.data(), bytes.size() - 1, shape));
  EXPECT_FALSE(view_of(bytes.data() + 8, bytes.size(), shape));
  EXPECT_FALSE(view_of(bytes.data(), bytes.size(), {1U << 31, 100, 0}));
  EXPECT_FALSE(check_extents(1, uint64_t{1} << 40));
  const Result<View> view = view_of(bytes.data(), bytes.size(), shape);
  std::vector<uint16_t> weights(1999);
  EXPECT_FALSE(unpack(*view, weights));
  EXPECT_FALSE(unpack_rows(*view, std::vector<int64_t>{1}, weights));
  const Result<Plan> plan = plan_packing(matrix.plain());
  EXPECT_FALSE(pack({matrix.weights.data(), 10, 200, 200}, *plan, bytes));
}

// Whatever stands in the tables, a view that passes is read inside of its bytes: AddressSanitizer
// sees the others.
TEST(Packed, DamagedTablesAreFoundOrHarmless) {
  std::mt19937_64 random(test_seed());
  TestMatrix matrix = {"some escapes", 40, 150, gaussian(6000, random)};
  for (size_t i = 0; i < matrix.weights.size(); i += 50) matrix.weights[i] = 0x7fc0;
  Shape shape;
  const std::vector<std::byte> whole = packed_bytes(matrix, shape);
  ASSERT_GT(shape.escapes, 100U);
  int found = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::byte> bytes = whole;
    const size_t tables = bytes.size() - shape.factors_at();
    const size_t at = shape.factors_at() + random() % (tables / 4) * 4;
    const uint32_t values[] = {static_cast<uint32_t>(random()),
                               0,
                               0xffffffff,
                               shape.escapes,
                               shape.escapes + 1,
                               shape.columns,
                               shape.columns - 1};
    std::memcpy(bytes.data() + at, &values[random() % std::size(values)], 4);
    const Result<View> view = view_of(bytes.data(), bytes.size(), shape);
    ASSERT_TRUE(view);
    const Status checked = check_contents(*view);
    if (!checked) {
      EXPECT_EQ(checked.error().code, ErrorCode::corrupt);
      ++found;
      continue;
    }
    (void)unpacked(*view);
    std::vector<uint16_t> row(shape.columns);
    EXPECT_TRUE(unpack_rows(*view, std::vector<int64_t>{39}, row));
  }
  EXPECT_GT(found, 400);
}

TEST(Packed, ColumnsOutsideAndOffsetsThatFallAreCorrupt) {
  TestMatrix matrix = {"escapes", 16, 64, std::vector<uint16_t>(1024, 0x3f80)};
  for (const size_t i : {3, 5, 70}) matrix.weights[i] = 0x7fc0;
  Shape shape;
  std::vector<std::byte> bytes = packed_bytes(matrix, shape);
  ASSERT_EQ(shape.escapes, 3U);
  auto* const rows = reinterpret_cast<uint32_t*>(bytes.data() + shape.row_escapes_at());
  auto* const escapes = reinterpret_cast<Escape*>(bytes.data() + shape.escapes_at());
  const Result<View> view = view_of(bytes.data(), bytes.size(), shape);
  const auto with = [&](auto& place, uint32_t value) {
    const auto old = place;
    place = value;
    const Status checked = check_contents(*view);
    place = old;
    return checked.has_value();
  };
  EXPECT_TRUE(with(rows[1], 2));
  EXPECT_FALSE(with(rows[0], 1));
  EXPECT_FALSE(with(rows[1], 4));
  EXPECT_FALSE(with(rows[16], 2));
  EXPECT_FALSE(with(escapes[2].column, 64));
  EXPECT_FALSE(with(escapes[1].column, 3));  // twice
  EXPECT_FALSE(with(escapes[0].bits, 0x10000));
  EXPECT_TRUE(check_contents(*view));
}

}  // namespace
}  // namespace hoist::tensors::packed
