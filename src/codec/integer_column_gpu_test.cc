// Integer columns on the GPU against the CPU: all codings, sizes around a tile and a block, damage.
#include "codec/integer_column_gpu.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "base/test_seed.h"
#include "codec/bitpack_test_columns.h"
#include "device/cuda_memory.h"

namespace hoist::codec {
namespace {

using Bytes = std::vector<std::byte>;

class IntegerColumnGpu : public testing::Test {
 protected:
  IntegerColumnGpu() : seed_(test_seed()), random_(seed_) {}

  void SetUp() override {
    Result<device::Stream> stream = device::stream_on_cuda();
    if (!stream && stream.error().code == ErrorCode::unavailable) {
      GTEST_SKIP() << stream.error().message;
    }
    ASSERT_TRUE(stream) << stream.error().message;
    stream_.emplace(std::move(*stream));
  }

  template <typename T>
  Status decode(const Bytes& stream, std::vector<T>& out) {
    Result<DeviceIntegerColumn> column = DeviceIntegerColumn::upload(*stream_, stream);
    if (!column) return column.error();
    if (column->count() != out.size()) return fail(ErrorCode::corrupt, "another count");
    const size_t size = out.size() * sizeof(T);
    Result<device::Buffer> decoded = device::allocate_on_cuda(size + 16);
    EXPECT_TRUE(decoded && decoded->fill(std::byte{0xa5}));
    if (Status status = column->launch(*decoded); !status) return status;
    if (Status status = column->finish(); !status) return status;
    Bytes guard(16);
    EXPECT_TRUE(decoded->download(std::as_writable_bytes(std::span(out))));
    EXPECT_TRUE(decoded->download(guard, size));
    EXPECT_EQ(guard, Bytes(16, std::byte{0xa5}));
    return {};
  }

  template <typename T>
  void check(const std::vector<T>& column) {
    std::vector<T> decoded(column.size());
    const Status status = decode(*encode_integers<T>(column), decoded);
    ASSERT_TRUE(status) << status.error().message;
    ASSERT_EQ(decoded, column) << "seed " << seed_ << ", " << column.size() << " values";
  }

  template <typename T>
  void check_all() {
    for (const size_t count : {0, 1, 2, 1023, 1025, 8191, 8192, 8193, 100001}) {
      check(std::vector<T>(count, static_cast<T>(random_())));
      check(make_column<T>(Shape::sorted, 9, count, random_));
      for (const size_t spread : {2, 30, 3000}) {
        check(few_values<T>(spread, count, random_));
        check(long_runs<T>(spread, count, random_));
      }
    }
  }

  const uint64_t seed_;
  std::mt19937_64 random_;
  std::optional<device::Stream> stream_;
};

TEST_F(IntegerColumnGpu, EqualsTheCpu32) { check_all<uint32_t>(); }

TEST_F(IntegerColumnGpu, EqualsTheCpu64) { check_all<uint64_t>(); }

// Both must agree about what is damaged, and about every value of what is not seen as such.
TEST_F(IntegerColumnGpu, DamagedStreams) {
  for (int round = 0; round < 500; ++round) {
    const size_t count = 2 + random_() % 3000;
    Bytes stream = *encode_integers<uint32_t>(round % 2 ? few_values<uint32_t>(9, count, random_)
                                                        : long_runs<uint32_t>(80, count, random_));
    stream[random_() % stream.size()] ^= static_cast<std::byte>(1u << random_() % 8);
    std::vector<uint32_t> expected(count), decoded(count);
    const Status on_cpu = decode_integers<uint32_t>(stream, expected);
    const Status on_gpu = decode(stream, decoded);
    ASSERT_EQ(on_cpu.has_value(), on_gpu.has_value()) << "seed " << seed_ << ", round " << round;
    if (on_cpu) {
      ASSERT_EQ(decoded, expected) << "seed " << seed_ << ", round " << round;
    }
  }
}

// Entries whose tile is damaged are not decoded; what their memory held before must not be looked
// up by codes that are in order.
TEST_F(IntegerColumnGpu, DamagedEntriesShowNoOldMemory) {
  const std::vector<uint32_t> column = few_values<uint32_t>(500, 20000, random_);
  Bytes stream = *encode_integers<uint32_t>(column);
  ASSERT_EQ(inspect_integers(stream)->coding, IntegerCoding::dictionary);
  // Behind the column's and the dictionary's headers, the entries' header and table: a tile's mode.
  stream[16 + 32 + 16 + 16] = std::byte{3};
  // What the column allocates lies where these were: one of them keeps the driver from returning
  // them.
  std::vector<device::Buffer> old(64);
  for (device::Buffer& buffer : old) {
    Result<device::Buffer> filled = device::allocate_on_cuda(500 * sizeof(uint32_t));
    ASSERT_TRUE(filled && filled->fill(std::byte{0xa5}));
    buffer = std::move(*filled);
  }
  old.resize(1);
  Result<DeviceIntegerColumn> packed = DeviceIntegerColumn::upload(*stream_, stream);
  ASSERT_TRUE(packed) << packed.error().message;
  Result<device::Buffer> out = device::allocate_on_cuda(column.size() * sizeof(uint32_t));
  ASSERT_TRUE(out && out->fill(std::byte{0}) && packed->launch(*out));
  EXPECT_EQ(packed->finish().error().code, ErrorCode::corrupt);
  std::vector<uint32_t> decoded(column.size());
  ASSERT_TRUE(out->download(std::as_writable_bytes(std::span(decoded))));
  EXPECT_EQ(decoded, std::vector<uint32_t>(column.size()));
}

TEST_F(IntegerColumnGpu, OutputMustHoldTheColumn) {
  Result<DeviceIntegerColumn> column = DeviceIntegerColumn::upload(
      *stream_, *encode_integers<uint32_t>(std::vector<uint32_t>(1000, 7)));
  Result<device::Buffer> small = device::allocate_on_cuda(3999);
  ASSERT_TRUE(column && small);
  EXPECT_EQ(column->launch(*small).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(
      DeviceIntegerColumn::upload(*stream_, *encode_integers<uint16_t>(std::vector<uint16_t>(9)))
          .error()
          .code,
      ErrorCode::unsupported);
}

}  // namespace
}  // namespace hoist::codec
