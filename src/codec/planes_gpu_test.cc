// The GPU's planes against the CPU's, for lengths around every border, and back.
#include "codec/planes_gpu.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "codec/planes.h"
#include "device/cuda_memory.h"

namespace hoist::codec {
namespace {

using Bytes = std::vector<std::byte>;
using device::allocate_on_cuda;
using device::Buffer;
using device::copy_to_cuda;

constexpr size_t kGuard = 256;
const size_t kLengths[] = {0,    1,    2,    3,    5,    7,    8,     9,      15,      16,
                           31,   32,   33,   63,   64,   65,   255,   256,    257,     1023,
                           1024, 1025, 4096, 8191, 8192, 8193, 65537, 100000, 1 << 20, 3000001};

class PlanesGpu : public testing::Test {
 protected:
  void SetUp() override {
    Result<device::Stream> stream = device::stream_on_cuda();
    if (!stream && stream.error().code == ErrorCode::unavailable) {
      GTEST_SKIP() << stream.error().message;
    }
    ASSERT_TRUE(stream) << stream.error().message;
    stream_.emplace(std::move(*stream));
  }

  Bytes random_bytes(size_t size) {
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
    return bytes;
  }

  // What `launch` makes of `in`, with nothing written behind the output.
  Bytes transformed(const Bytes& in, size_t out_size,
                    const std::function<Status(const void*, void*)>& launch) {
    Result<Buffer> from = copy_to_cuda(in);
    Result<Buffer> to = allocate_on_cuda(out_size + kGuard);
    EXPECT_TRUE(from && to && to->fill(std::byte{0xa5}));
    Status status = launch(from->data(), to->data());
    if (status) status = stream_->synchronize();
    EXPECT_TRUE(status) << status.error().message;
    Bytes out(out_size + kGuard);
    EXPECT_TRUE(to->download(out));
    EXPECT_EQ(Bytes(out.begin() + static_cast<ptrdiff_t>(out_size), out.end()),
              Bytes(kGuard, std::byte{0xa5}));
    out.resize(out_size);
    return out;
  }

  std::mt19937_64 random_{11};
  std::optional<device::Stream> stream_;
};

TEST_F(PlanesGpu, BytesAreTheCpus) {
  for (const unsigned width : {2u, 4u, 8u}) {
    for (const size_t size : kLengths) {
      const Bytes elements = random_bytes(size);
      Bytes planes(size);
      ASSERT_TRUE(split_bytes(elements, width, planes));
      ASSERT_EQ(transformed(elements, size,
                            [&](const void* in, void* out) {
                              return split_bytes_gpu(*stream_, in, size, width, out);
                            }),
                planes)
          << size << " bytes, width " << width;
      ASSERT_EQ(transformed(planes, size,
                            [&](const void* in, void* out) {
                              return merge_bytes_gpu(*stream_, in, size, width, out);
                            }),
                elements)
          << size << " bytes, width " << width;
    }
  }
}

TEST_F(PlanesGpu, BitsAreTheCpus) {
  for (const unsigned width : {1u, 2u, 4u}) {
    for (const size_t count : kLengths) {
      const Bytes elements = random_bytes(count * width);
      Bytes planes(8 * width * bit_plane_bytes(count));
      ASSERT_TRUE(split_bits(elements, width, planes));
      ASSERT_EQ(transformed(elements, planes.size(),
                            [&](const void* in, void* out) {
                              return split_bits_gpu(*stream_, in, count, width, out);
                            }),
                planes)
          << count << " elements, width " << width;
      ASSERT_EQ(transformed(planes, elements.size(),
                            [&](const void* in, void* out) {
                              return merge_bits_gpu(*stream_, in, count, width, out);
                            }),
                elements)
          << count << " elements, width " << width;
    }
  }
}

TEST_F(PlanesGpu, Bf16PartsAreTheCpus) {
  for (const size_t count : kLengths) {
    const Bytes values = random_bytes(2 * count);
    Bytes exponents(count);
    Bytes rest(count);
    ASSERT_TRUE(split_bf16(values, exponents, rest));
    Result<Buffer> other = allocate_on_cuda(count + kGuard);
    ASSERT_TRUE(other);
    ASSERT_EQ(transformed(values, count,
                          [&](const void* in, void* out) {
                            return split_bf16_gpu(*stream_, in, count, out, other->data());
                          }),
              exponents)
        << count;
    Bytes received(count);
    ASSERT_TRUE(other->download(received));
    ASSERT_EQ(received, rest) << count;
    ASSERT_EQ(transformed(exponents, 2 * count,
                          [&](const void* in, void* out) {
                            return merge_bf16_gpu(*stream_, in, other->data(), count, out);
                          }),
              values)
        << count;
  }
}

TEST_F(PlanesGpu, RefusesWhatDoesNotFit) {
  Result<Buffer> buffer = allocate_on_cuda(4096);
  ASSERT_TRUE(buffer);
  auto* const at = static_cast<std::byte*>(buffer->data());
  EXPECT_EQ(split_bytes_gpu(*stream_, at, 64, 3, at + 1024).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(merge_bits_gpu(*stream_, at, 64, 8, at + 1024).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(split_bytes_gpu(*stream_, at + 1, 64, 2, at + 1024).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(merge_bf16_gpu(*stream_, at, at + 1030, 64, at + 2048).error().code,
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hoist::codec
