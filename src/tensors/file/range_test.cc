// Ranges and slices of .holo tensors are those of the whole, and take no more than they need.
#include "container/reader.h"
#include "tensors/file/file_testing.h"
#include "tensors/file/holo_slice.h"
#include "tensors/file/packing.h"

namespace hoist::tensors {
namespace {

using container::as_bytes;
using container::memory_source;

// Several tiles, frames, shards and groups of them; and what shares a shard.
std::vector<TestTensor> large_model(std::mt19937_64& random) {
  std::vector<TestTensor> tensors = mixed_model(random);
  tensors.push_back(gaussian_tensor(random, "bf16", DType::bf16, {700, 1031}));
  tensors.push_back(gaussian_tensor(random, "f32", DType::f32, {7, 301, 67}));
  tensors.push_back(gaussian_tensor(random, "f8", DType::f8_e4m3, {200'001}));
  tensors.push_back(random_tensor(random, "noise", DType::u16, {300, 999}));
  TestTensor packed{"packed", DType::i64, {1'200'000}, {}};
  for (int64_t i = 0; i < 1'200'000; ++i) {
    const int64_t value = i / 7 % 1000;
    packed.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  tensors.push_back(std::move(packed));
  return tensors;
}

class Range : public ::testing::TestWithParam<HolographicEncoding> {
 protected:
  void write(uint32_t parity = 0) {
    HoloWriteOptions options;
    options.encode.encoding = GetParam();
    options.encode.fragments = static_cast<uint32_t>(1 + random_() % 8);
    options.parity = parity;
    options.order = random_() % 2 == 0 ? FileOrder::layer : FileOrder::tensor;
    options.durable = false;
    write_model(path(), large_model(random_), options);
  }
  std::string path() const { return scratch_.file("m.holo"); }
  ThreadPool* pool() { return random_() % 2 == 0 ? &pool_ : nullptr; }

  // Some bytes, some whole elements, some of many.
  void expect_ranges(const HoloTensorReader& reader, size_t number, int rounds) {
    const LoadedTensor whole = reader.decode(number).value();
    const uint64_t bytes = whole.bytes.size();
    for (int round = 0; round < rounds; ++round) {
      const uint64_t begin = random_() % (bytes + 1);
      const uint64_t most = round % 3 == 0 ? 64 : bytes;
      const uint64_t size = random_() % (std::min(most, bytes - begin) + 1);
      std::vector<std::byte> part(size);
      const Status done = reader.decode_range(number, begin, part, pool());
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.bytes.data() + begin))
          << whole.name << " from " << begin << ", " << size << " bytes";
    }
  }

  std::mt19937_64 random_{test_seed()};
  ThreadPool pool_{3};
  Scratch scratch_;
};

TEST_P(Range, IsThatOfTheWholeTensor) {
  write();
  const HoloTensorReader reader = open_holotensor(path()).value();
  const bool is_slow = is_any_subset(GetParam());
  for (size_t i = 0; i < reader.header().tensors.size(); ++i) {
    expect_ranges(reader, i, is_slow ? 2 : 60);
    std::vector<std::byte> one(1);
    const uint64_t bytes = reader.header().tensors[i].bytes();
    EXPECT_EQ(reader.decode_range(i, bytes, one).error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(reader.decode_range(i, bytes, {}));
  }
  EXPECT_EQ(reader.decode_range(99, 0, {}).error().code, ErrorCode::not_found);
}

TEST_P(Range, SlicesAreThoseOfTheWholeTensor) {
  write();
  const HoloTensorReader reader = open_holotensor(path()).value();
  for (int round = 0; round < (is_any_subset(GetParam()) ? 10 : 300); ++round) {
    const size_t number = random_() % reader.header().tensors.size();
    const LoadedTensor whole = reader.decode(number).value();
    std::vector<AxisRange> axes;
    std::vector<uint64_t> taken = {0};  // elements
    for (const uint64_t extent : whole.shape) {
      AxisRange axis{random_() % extent, 1 + random_() % 3, 0};
      axis.count = 1 + random_() % ((extent - 1 - axis.start) / axis.step + 1);
      if (random_() % 3 == 0) axis = {0, 1, extent};
      std::vector<uint64_t> next;
      for (const uint64_t at : taken) {
        for (uint64_t i = 0; i < axis.count; ++i) {
          next.push_back(at * extent + axis.start + i * axis.step);
        }
      }
      taken = std::move(next);
      axes.push_back(axis);
    }
    const size_t width = properties(whole.dtype).bytes;
    std::vector<std::byte> part(taken.size() * width);
    const Status done = read_slice(reader, number, axes, part, pool());
    ASSERT_TRUE(done) << done.error().message;
    for (size_t i = 0; i < taken.size(); ++i) {
      ASSERT_EQ(0, std::memcmp(&part[i * width], whole.bytes.data() + taken[i] * width, width));
    }
    part.push_back({});
    EXPECT_EQ(read_slice(reader, number, axes, part).error().code, ErrorCode::invalid_argument);
  }
}

TEST_P(Range, DamageIsMendedOrSaid) {
  for (const uint32_t parity : {1, 0}) {
    write(parity);
    std::string bad = bytes_of_file(path());
    const HoloTensorReader good = open_holotensor(path()).value();
    const size_t number = *good.header().find("bf16");
    const size_t stream = good.layout().part_stream(number, 0);
    const StreamPiece& piece = good.layout().pieces(stream)[0];
    bad[good.container().find(piece.shard)->payload_offset() + piece.shard_offset + 60] ^= 4;
    const HoloTensorReader reader = HoloTensorReader::open(memory_source(as_bytes(bad))).value();
    std::vector<std::byte> part(100);
    const Status done = reader.decode_range(number, 10, part, pool());
    if (parity == 1) {
      ASSERT_TRUE(done) << done.error().message;
      expect_ranges(reader, number, 5);
      continue;
    }
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::corrupt);
    EXPECT_TRUE(done.error().message.starts_with("tensor 'bf16': shard"));
  }
}

INSTANTIATE_TEST_SUITE_P(Encodings, Range,
                         ::testing::Values(HolographicEncoding::embedded,
                                           HolographicEncoding::lossless,
                                           HolographicEncoding::spectral));

// One or two of the eight shards of each part hold a row.
TEST(RangeReads, NoMoreShardsThanARowNeeds) {
  std::mt19937_64 random(test_seed());
  for (const HolographicEncoding encoding :
       {HolographicEncoding::embedded, HolographicEncoding::lossless}) {
    const Scratch scratch;
    HoloWriteOptions options;
    options.encode.encoding = encoding;
    const std::vector<TestTensor> tensors = {
        gaussian_tensor(random, "w", DType::bf16, {4096, 1536})};
    write_model(scratch.file("m.holo"), tensors, options);
    const HoloTensorReader reader = open_holotensor(scratch.file("m.holo")).value();
    std::vector<std::byte> row(2 * 1536);
    ASSERT_TRUE(reader.decode_range(0, 1000 * row.size(), row));
    EXPECT_EQ(0, std::memcmp(row.data(), &tensors[0].bytes[1000 * row.size()], row.size()));
    const size_t parts = reader.header().tensors[0].parts.size();
    EXPECT_LE(reader.fetcher().statistics().valid, 2 * parts + 3);
    EXPECT_GE(reader.layout().shards().size(), 8 * parts);
  }
}

TEST(UnpackRange, DamagedSizesAreRefused) {
  std::mt19937_64 random(test_seed());
  std::vector<std::byte> raw(2 * kPackedFrame + 1000);
  const std::vector<std::byte> packed = pack(raw).value();
  const auto part = [&](const std::vector<std::byte>& bytes, uint64_t offset, uint64_t size) {
    std::vector<std::byte> into(size, std::byte{1});
    const Status done = unpack_range(
        bytes.size(), raw.size(),
        [&](uint64_t from, std::span<std::byte> some) -> Status {
          if (from > bytes.size() || some.size() > bytes.size() - from) {
            ADD_FAILURE() << "beyond the end";
            return fail(ErrorCode::corrupt, "beyond the end");
          }
          std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(from), some.size(), some.begin());
          return {};
        },
        offset, into);
    return done && into == std::vector<std::byte>(size);
  };
  EXPECT_TRUE(part(packed, 0, raw.size()));
  EXPECT_TRUE(part(packed, kPackedFrame - 1, 2));
  EXPECT_TRUE(part(packed, raw.size() - 1, 1));
  for (size_t size = 0; size < packed.size(); ++size) {
    EXPECT_FALSE(part({packed.begin(), packed.begin() + static_cast<ptrdiff_t>(size)}, 0, 9));
  }
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> bad = packed;
    bad[random() % 12] = static_cast<std::byte>(random());
    if (bad != packed) {
      EXPECT_FALSE(part(bad, random() % raw.size(), 1));
    }
  }
}

}  // namespace
}  // namespace hoist::tensors
