// A stream of the first GPU, and matrices there, for tests of packed weights.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "device/cuda_memory.h"
#include "tensors/packed/gpu.h"
#include "tensors/packed/testing.h"

namespace hoist::tensors::packed {

using device::allocate_on_cuda;
using device::Buffer;
using device::copy_to_cuda;

inline constexpr size_t kGuard = 256;

template <typename T>
Buffer on_gpu(const std::vector<T>& values) {
  Result<Buffer> buffer = copy_to_cuda(std::as_bytes(std::span(values)));
  EXPECT_TRUE(buffer);
  return std::move(*buffer);
}

template <typename T>
T* data(const Buffer& buffer, size_t offset = 0) {
  return static_cast<T*>(buffer.data()) + offset;
}

class PackedGpu : public testing::Test {
 protected:
  void SetUp() override {
    Result<device::Stream> stream = device::stream_on_cuda();
    if (!stream && stream.error().code == ErrorCode::unavailable) {
      GTEST_SKIP() << stream.error().message;
    }
    ASSERT_TRUE(stream) << stream.error().message;
    stream_.emplace(std::move(*stream));
  }

  // What `launch` writes, `size` values of 16 bits, with nothing written behind them.
  std::vector<uint16_t> written(size_t size, const std::function<Status(uint16_t*)>& launch) {
    Result<Buffer> to = allocate_on_cuda(2 * size + kGuard);
    EXPECT_TRUE(to && to->fill(std::byte{0xa5}));
    Status status = launch(data<uint16_t>(*to));
    if (status) status = stream_->synchronize();
    EXPECT_TRUE(status) << status.error().message;
    std::vector<uint16_t> out(size + kGuard / 2);
    EXPECT_TRUE(to->download(std::as_writable_bytes(std::span(out))));
    EXPECT_EQ(std::vector<uint16_t>(out.begin() + static_cast<ptrdiff_t>(size), out.end()),
              std::vector<uint16_t>(kGuard / 2, 0xa5a5));
    out.resize(size);
    return out;
  }

  // The CPU's packed bytes, on the GPU.
  struct OnGpu {
    Shape shape;
    Buffer bytes;
    View view;
  };
  static OnGpu packed_on_gpu(const TestMatrix& matrix) {
    OnGpu made;
    made.bytes = on_gpu(packed_bytes(matrix, made.shape));
    made.view = *view_of(made.bytes.data(), made.shape.bytes(), made.shape);
    return made;
  }

  std::optional<device::Stream> stream_;
};

}  // namespace hoist::tensors::packed
