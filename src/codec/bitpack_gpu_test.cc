// The GPU's decoder against the CPU's: all widths, modes, patches and ends, and damaged streams.
#include "codec/bitpack_gpu.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <random>

#include "base/test_seed.h"
#include "codec/bitpack.h"
#include "codec/bitpack_test_columns.h"
#include "device/cuda_memory.h"

namespace hoist::codec {
namespace {

using Bytes = std::vector<std::byte>;

class BitpackGpu : public testing::Test {
 protected:
  BitpackGpu() : seed_(test_seed()), random_(seed_) {}

  void SetUp() override {
    Result<device::Stream> stream = device::stream_on_cuda();
    if (!stream && stream.error().code == ErrorCode::unavailable) {
      GTEST_SKIP() << stream.error().message;
    }
    ASSERT_TRUE(stream) << stream.error().message;
    stream_.emplace(std::move(*stream));
    Result<BitpackGpuDecoder> decoder = BitpackGpuDecoder::create(*stream_);
    ASSERT_TRUE(decoder) << decoder.error().message;
    decoder_.emplace(std::move(*decoder));
  }

  // Decodes on the GPU; what lies behind the output must stay as it is.
  template <typename T>
  Status decode(const Bytes& stream, std::vector<T>& out) {
    constexpr size_t kGuard = 4096;
    const size_t size = out.size() * sizeof(T);
    Result<device::Buffer> packed = device::copy_to_cuda(stream);
    Result<device::Buffer> unpacked = device::allocate_on_cuda(size + kGuard);
    EXPECT_TRUE(packed && unpacked);
    EXPECT_TRUE(unpacked->fill(std::byte{0xa5}));
    Status status =
        decoder_->launch({packed->data(), stream.size(), sizeof(T), out.size()}, unpacked->data());
    if (status) status = decoder_->finish();
    Bytes received(size + kGuard);
    EXPECT_TRUE(unpacked->download(received));
    if (size != 0) std::memcpy(out.data(), received.data(), size);
    EXPECT_EQ(Bytes(received.begin() + size, received.end()), Bytes(kGuard, std::byte{0xa5}));
    return status;
  }

  template <typename T>
  void check(Shape shape, unsigned width, size_t count) {
    const std::vector<T> column = make_column<T>(shape, width, count, random_);
    std::vector<T> decoded(count);
    const Status status = decode(*encode_bitpack<T>(column), decoded);
    ASSERT_TRUE(status) << status.error().message;
    ASSERT_EQ(decoded, column) << "seed " << seed_ << ", " << 8 * sizeof(T) << " bits, shape "
                               << static_cast<int>(shape) << ", width " << width << ", " << count
                               << " values";
  }

  template <typename T>
  void check_all() {
    for (const Shape shape : kShapes) {
      for (unsigned width = 0; width <= 8 * sizeof(T); ++width) check<T>(shape, width, 3000);
      for (const size_t count : {0, 1, 3, 127, 128, 1023, 1024, 1025, 4095, 4096, 100000}) {
        check<T>(shape, 11, count);
      }
    }
  }

  const uint64_t seed_;
  std::mt19937_64 random_;
  std::optional<device::Stream> stream_;
  std::optional<BitpackGpuDecoder> decoder_;
};

TEST_F(BitpackGpu, EqualsTheCpu32) { check_all<uint32_t>(); }

TEST_F(BitpackGpu, EqualsTheCpu64) { check_all<uint64_t>(); }

// Both decoders must agree about what is damaged, and about every value of what is not seen as
// such.
TEST_F(BitpackGpu, DamagedStreams) {
  for (int round = 0; round < 500; ++round) {
    const size_t count = 1 + random_() % 3000;
    Bytes stream = *encode_bitpack<uint32_t>(make_column<uint32_t>(
        kShapes[random_() % std::size(kShapes)], random_() % 33, count, random_));
    // Not the stream's header, which only the CPU reads.
    const size_t end = random_() % 2 ? stream.size() : std::min<size_t>(stream.size(), 96);
    stream[16 + random_() % (end - 16)] ^= static_cast<std::byte>(1u << random_() % 8);
    std::vector<uint32_t> expected(count), decoded(count);
    const Status on_cpu = decode_bitpack<uint32_t>(stream, expected);
    const Status on_gpu = decode(stream, decoded);
    ASSERT_EQ(on_cpu.has_value(), on_gpu.has_value()) << "seed " << seed_ << ", round " << round;
    if (on_cpu) {
      ASSERT_EQ(decoded, expected) << "seed " << seed_ << ", round " << round;
    } else {
      ASSERT_EQ(on_gpu.error().code, ErrorCode::corrupt);
    }
  }
}

TEST_F(BitpackGpu, ArgumentsAreChecked) {
  std::vector<uint32_t> out(1024);
  Bytes stream = *encode_bitpack<uint32_t>(out);
  stream.resize(stream.size() - 16);
  EXPECT_EQ(decode(stream, out).error().code, ErrorCode::corrupt);
  EXPECT_EQ(decoder_->launch({nullptr, 1000, 2, 1}, nullptr).error().code, ErrorCode::unsupported);
  EXPECT_EQ(decoder_->launch({nullptr, 1000, 4, UINT64_MAX}, nullptr).error().code,
            ErrorCode::corrupt);
  const auto* const odd = reinterpret_cast<const void*>(uintptr_t{8});
  EXPECT_EQ(decoder_->launch({odd, 1000, 4, 1}, nullptr).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hoist::codec
