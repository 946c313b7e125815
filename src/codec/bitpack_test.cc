// Every set of kernels against a decoder that reads the format bit by bit, on columns that lead to
// every width and mode; damaged streams; and the GPU's way through a plane.
#include "codec/bitpack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <set>

#include "base/test_seed.h"
#include "codec/bitpack_test_columns.h"

namespace hoist::codec {
namespace {

using Bytes = std::vector<std::byte>;

uint64_t read_number(const Bytes& bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value |= std::to_integer<uint64_t>(bytes.at(at + i)) << (8 * i);
  return value;
}

bool bit_at(const Bytes& bytes, size_t from, size_t bit) {
  return (std::to_integer<unsigned>(bytes.at(from + bit / 8)) >> bit % 8 & 1) != 0;
}

// docs/reference/bitpacking.md, word for word.
uint64_t oracle_residual(const Bytes& stream, size_t planes, unsigned width, unsigned index) {
  const unsigned group = index / 128, quad = index / 4 % 32, place = index % 4;
  const unsigned lane = quad / 16 * 16 + quad % 4 * 4 + quad / 4 % 4;
  const unsigned row = group * 4 + place;
  uint64_t residual = 0;
  for (unsigned bit = 0; bit < width; ++bit) {
    const unsigned plane = bit / 32;
    const unsigned plane_width = std::min(32u, width - plane * 32);
    const unsigned in_lane = row * plane_width + bit % 32;
    const size_t word = in_lane / 32 * 32 + lane;
    if (bit_at(stream, planes + plane * 32 * 128, word * 32 + in_lane % 32)) {
      residual |= uint64_t{1} << bit;
    }
  }
  return residual;
}

template <typename T>
void oracle_tile(const Bytes& stream, size_t at, std::vector<T>& out, size_t count) {
  const unsigned mode = read_number(stream, at, 1), width = read_number(stream, at + 1, 1);
  const unsigned patches = read_number(stream, at + 2, 2), bytes = read_number(stream, at + 4, 1);
  const uint64_t reference = read_number(stream, at + 8, 8);
  const size_t planes = at + (mode == 0 ? 16 : 32);
  const size_t positions = planes + width * 128;
  uint64_t value = mode == 0 ? 0 : read_number(stream, at + 16, 8);
  uint64_t slope = mode == 2 ? read_number(stream, at + 24, 8) : 0;
  for (unsigned i = 0; i < count; ++i) {
    uint64_t residual = oracle_residual(stream, planes, width, i);
    for (unsigned p = 0; p < patches; ++p) {
      if (read_number(stream, positions + 2 * p, 2) == i) {
        residual += read_number(stream, positions + 2 * patches + p * bytes, bytes) << width;
      }
    }
    if (mode == 0) value = residual + reference;
    if (mode == 1) value += residual + reference;
    if (mode == 2) value += slope += residual + reference;
    out.push_back(static_cast<T>(value));
  }
}

template <typename T>
std::vector<T> oracle_decode(const Bytes& stream) {
  const uint64_t count = read_number(stream, 8, 8);
  std::vector<T> out;
  for (uint64_t first = 0; first < count; first += 1024) {
    const size_t at = 16 * read_number(stream, 16 + first / 1024 * 4, 4);
    oracle_tile(stream, at, out, std::min<uint64_t>(1024, count - first));
  }
  return out;
}

TileHeader tile_header(const Bytes& stream, size_t tile) {
  TileHeader header;
  std::memcpy(&header, stream.data() + 16 * read_number(stream, 16 + 4 * tile, 4), 16);
  return header;
}

class Bitpack : public testing::Test {
 protected:
  Bitpack() : seed_(test_seed()), random_(seed_) {}

  // Encodes, decodes by everything that decodes, and gives the stream.
  template <typename T>
  Bytes round_trip(const std::vector<T>& column) {
    SCOPED_TRACE(testing::Message() << "seed " << seed_ << ", " << 8 * sizeof(T) << " bits, "
                                    << column.size() << " values");
    const std::span<const T> values(column);
    const Result<Bytes> stream = encode_bitpack<T>(values);
    EXPECT_TRUE(stream);
    EXPECT_EQ(stream->size(), bitpack_size<T>(values));
    EXPECT_LE(stream->size(), max_bitpack_size(column.size(), sizeof(T)));
    EXPECT_EQ(oracle_decode<T>(*stream), column);
    const Result<BitpackView> view = BitpackView::open(*stream);
    EXPECT_TRUE(view);
    EXPECT_EQ(view->count(), column.size());
    for (const TileKernels* kernels : all_tile_kernels()) {
      std::vector<T> decoded(column.size(), static_cast<T>(0xa5));
      const Status status = view->decode<T>(0, decoded, *kernels);
      EXPECT_TRUE(status) << status.error().message;
      EXPECT_EQ(decoded, column) << kernels->name;
    }
    return *stream;
  }

  template <typename T>
  void every_shape_and_size() {
    for (const Shape shape : kShapes) {
      for (const size_t count : {0, 1, 2, 3, 4, 5, 127, 128, 129, 1023, 1024, 1025, 2048, 3333}) {
        const unsigned width = static_cast<unsigned>(random_() % (8 * sizeof(T) + 1));
        round_trip(make_column<T>(shape, width, count, random_));
      }
    }
  }

  template <typename T>
  void every_width() {
    for (unsigned width = 0; width <= 8 * sizeof(T); ++width) {
      for (const Shape shape : {Shape::narrow, Shape::sorted, Shape::accelerating}) {
        const Bytes stream = round_trip(make_column<T>(shape, width, 1024, random_));
        if (shape == Shape::narrow) widths_.insert({sizeof(T), tile_header(stream, 0).width});
      }
    }
  }

  const uint64_t seed_;
  std::mt19937_64 random_;
  std::set<std::pair<size_t, unsigned>> widths_;
};

TEST_F(Bitpack, EveryShapeAndSize) {
  every_shape_and_size<uint8_t>();
  every_shape_and_size<uint16_t>();
  every_shape_and_size<uint32_t>();
  every_shape_and_size<uint64_t>();
}

TEST_F(Bitpack, EveryWidth) {
  every_width<uint8_t>();
  every_width<uint16_t>();
  every_width<uint32_t>();
  every_width<uint64_t>();
  // Uniform values of w bits want w bits (8-bit ones may do with patches).
  for (const size_t bytes : {2, 4, 8}) {
    for (unsigned width = 0; width <= 8 * bytes; ++width) {
      EXPECT_TRUE(widths_.count({bytes, width})) << bytes << " bytes, width " << width;
    }
  }
}

TEST_F(Bitpack, ModesAreChosenBySize) {
  const auto mode = [&](Shape shape) {
    const Bytes stream = round_trip(make_column<uint32_t>(shape, 9, 2048, random_));
    return static_cast<TileMode>(tile_header(stream, 0).mode);
  };
  EXPECT_EQ(mode(Shape::narrow), TileMode::frame_of_reference);
  EXPECT_EQ(mode(Shape::signed_narrow), TileMode::frame_of_reference);
  EXPECT_EQ(mode(Shape::sorted), TileMode::delta);
  EXPECT_EQ(mode(Shape::sorted_patched), TileMode::delta);
  EXPECT_EQ(mode(Shape::accelerating), TileMode::delta_of_delta);
}

TEST_F(Bitpack, SizesThatTheHeaderPromises) {
  const auto size = [&](const std::vector<uint64_t>& column) { return round_trip(column).size(); };
  EXPECT_EQ(size({}), 32u);
  EXPECT_EQ(size({7}), 48u);  // header, table, a tile without planes
  EXPECT_EQ(size(std::vector<uint64_t>(1024, 7)), 48u);
  // Few values do not pay for a whole tile's planes: they become patches.
  EXPECT_LE(size({1, uint64_t{1} << 63, 12345678901234567}), 96u);
  const std::vector<uint64_t> worst = make_column<uint64_t>(Shape::random, 64, 4096, random_);
  EXPECT_EQ(size(worst), max_bitpack_size(4096, 8));
}

TEST_F(Bitpack, OutliersOnBothSidesBecomePatches) {
  std::vector<uint32_t> column = make_column<uint32_t>(Shape::narrow, 6, 1024, random_);
  const uint32_t middle = column[0];
  for (size_t i = 0; i < column.size(); i += 97)
    column[i] = middle + (i % 2 ? 1u << 20 : ~(1u << 21));
  const TileHeader header = tile_header(round_trip(column), 0);
  EXPECT_LE(header.width, 7);
  EXPECT_EQ(header.patch_count, 11);
}

TEST_F(Bitpack, TilesDecodeAlone) {
  const std::vector<uint64_t> column = make_column<uint64_t>(Shape::sorted, 13, 5000, random_);
  const Bytes stream = round_trip(column);
  const Result<BitpackView> view = BitpackView::open(stream);
  for (size_t tile = 0; tile < view->tile_count(); ++tile) {
    std::vector<uint64_t> part(std::min<size_t>(1024, column.size() - tile * 1024));
    ASSERT_TRUE(view->decode<uint64_t>(tile, part));
    EXPECT_TRUE(std::equal(part.begin(), part.end(), column.begin() + tile * 1024));
  }
  std::vector<uint64_t> wrong(1023);
  EXPECT_EQ(view->decode<uint64_t>(0, wrong).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(view->decode<uint64_t>(9, wrong).error().code, ErrorCode::invalid_argument);
  std::vector<uint32_t> narrow(1024);
  EXPECT_EQ(view->decode<uint32_t>(0, narrow).error().code, ErrorCode::invalid_argument);
}

// Flipped bits and cut ends: an answer, never a crash, and nothing beyond the output.
TEST_F(Bitpack, DamagedStreams) {
  for (int round = 0; round < 3000; ++round) {
    const Shape shape = kShapes[random_() % std::size(kShapes)];
    const size_t count = random_() % 2500;
    Bytes stream =
        *encode_bitpack<uint32_t>(make_column<uint32_t>(shape, random_() % 33, count, random_));
    for (int flips = 1 + static_cast<int>(random_() % 4); flips > 0; --flips) {
      // Mostly the headers, where damage matters.
      const size_t at =
          random_() % (random_() % 2 ? stream.size() : std::min<size_t>(64, stream.size()));
      stream[at] ^= static_cast<std::byte>(1u << random_() % 8);
    }
    if (random_() % 4 == 0) stream.resize(random_() % stream.size());
    // Freshly allocated, so that AddressSanitizer sees both ends.
    const std::unique_ptr<std::byte[]> exact(new std::byte[stream.size()]);
    std::memcpy(exact.get(), stream.data(), stream.size());
    std::vector<uint32_t> out(count);
    (void)decode_bitpack<uint32_t>({exact.get(), stream.size()}, out);
  }
}

TEST_F(Bitpack, DamageThatIsSeen) {
  std::vector<uint32_t> column = make_column<uint32_t>(Shape::narrow, 6, 1024, random_);
  column[10] += 1u << 30;
  column[20] += 1u << 30;
  const Bytes good = round_trip(column);
  ASSERT_EQ(tile_header(good, 0).patch_count, 2);
  const size_t tile = 32;
  const auto refused = [&](size_t at, unsigned value) {
    Bytes bad = good;
    bad.at(at) = static_cast<std::byte>(value);
    std::vector<uint32_t> out(column.size());
    const Status status = decode_bitpack<uint32_t>(bad, out);
    return !status && status.error().code == ErrorCode::corrupt;
  };
  const size_t positions = tile + 16 + tile_header(good, 0).width * 128;
  EXPECT_TRUE(refused(0, 'X'));
  EXPECT_TRUE(refused(3, 3));
  EXPECT_TRUE(refused(4, 1));
  EXPECT_TRUE(refused(8, 1));
  EXPECT_TRUE(refused(15, 255));
  EXPECT_TRUE(refused(16, 0));    // offset
  EXPECT_TRUE(refused(20, 255));  // end
  EXPECT_TRUE(refused(tile, 3));
  EXPECT_TRUE(refused(tile + 1, 33));
  EXPECT_TRUE(refused(tile + 2, 200));
  EXPECT_TRUE(refused(tile + 4, 3));
  EXPECT_TRUE(refused(tile + 5, 1));
  EXPECT_TRUE(refused(tile + 12, 1));         // a reference of more than 32 bits
  EXPECT_TRUE(refused(positions + 1, 0x04));  // beyond the tile
  EXPECT_TRUE(refused(positions, 20));        // twice the same
}

TEST_F(Bitpack, AnyAddress) {
  const std::vector<uint32_t> column =
      make_column<uint32_t>(Shape::sorted_patched, 11, 3000, random_);
  const Bytes stream = round_trip(column);
  Bytes shifted(stream.size() + 5);
  std::copy(stream.begin(), stream.end(), shifted.begin() + 5);
  std::vector<uint32_t> out(column.size());
  ASSERT_TRUE(decode_bitpack<uint32_t>(std::span<const std::byte>(shifted).subspan(5), out));
  EXPECT_EQ(out, column);
}

TEST(BitpackLayout, EveryValueHasOnePlace) {
  std::set<unsigned> seen;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(packed_lane(packed_lane(lane)), lane);
    for (unsigned row = 0; row < 32; ++row) seen.insert(value_index(lane, row));
  }
  EXPECT_EQ(seen.size(), kTileValues);
  EXPECT_EQ(*seen.rbegin(), kTileValues - 1);
}

// What a GPU thread does, run here for all threads of a warp.
template <int Width>
void check_lanes(std::mt19937_64& random) {
  std::vector<uint32_t> plane(Width * kLanes);
  for (uint32_t& word : plane) word = static_cast<uint32_t>(random());
  uint32_t expected[kTileValues];
  tile_kernels().unpack[Width](reinterpret_cast<const std::byte*>(plane.data()), 0, expected);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t rows[32];
    unpack_lane<Width>(plane.data(), lane, rows);
    for (unsigned row = 0; row < 32; ++row) {
      ASSERT_EQ(rows[row], expected[value_index(lane, row)]) << Width << ' ' << lane << ' ' << row;
    }
  }
}

template <int... Width>
void check_all_lanes(std::mt19937_64& random, std::integer_sequence<int, Width...>) {
  (check_lanes<Width>(random), ...);
}

TEST_F(Bitpack, LanesOfAThread) { check_all_lanes(random_, std::make_integer_sequence<int, 33>{}); }

}  // namespace
}  // namespace hoist::codec
