// Packed matrices on a GPU against those of the CPU.
#include "tensors/packed/gpu.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "device/captured_work.h"
#include "device/cuda_memory.h"
#include "tensors/packed/matmul_testing.h"

namespace hoist::tensors::packed {
namespace {

using device::allocate_on_cuda;
using device::Buffer;
using device::copy_to_cuda;

constexpr size_t kGuard = 256;

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

TEST_F(PackedGpu, PacksAsTheCpuDoes) {
  for (const TestMatrix& matrix : test_matrices()) {
    for (const size_t offset : {0, 1}) {  // rows that begin anywhere
      SCOPED_TRACE(matrix.name + ", offset " + std::to_string(offset));
      Shape shape;
      const std::vector<std::byte> wanted = packed_bytes(matrix, shape);
      std::vector<uint16_t> shifted(offset);
      shifted.insert(shifted.end(), matrix.weights.begin(), matrix.weights.end());
      const Buffer weights = on_gpu(shifted);
      const PlainMatrix plain = {data<uint16_t>(weights, offset), matrix.rows, matrix.columns,
                                 matrix.columns};
      const Result<GpuPlan> plan = plan_on_gpu(*stream_, plain);
      ASSERT_TRUE(plan) << plan.error().message;
      ASSERT_EQ(plan->shape.escapes, shape.escapes);
      ASSERT_EQ(plan->most_in_row, plan_packing(matrix.plain())->most_in_row);
      const std::vector<uint16_t> got = written(shape.bytes() / 2, [&](uint16_t* out) {
        return pack_on_gpu(*stream_, plain, *plan, out);
      });
      ASSERT_EQ(std::memcmp(got.data(), wanted.data(), wanted.size()), 0);
    }
  }
}

TEST_F(PackedGpu, ManyRowsArePlanned) {
  std::mt19937_64 random(test_seed());
  TestMatrix matrix = {"many rows", 5000, 40, gaussian(5000 * 40, random)};
  for (size_t i = 0; i < matrix.weights.size(); i += 7) matrix.weights[i] = 0x7fc0;
  Shape shape;
  const std::vector<std::byte> wanted = packed_bytes(matrix, shape);
  const Buffer weights = on_gpu(matrix.weights);
  const PlainMatrix plain = {data<uint16_t>(weights), 5000, 40, 40};
  const Result<GpuPlan> plan = plan_on_gpu(*stream_, plain);
  ASSERT_TRUE(plan);
  const std::vector<uint16_t> got = written(
      shape.bytes() / 2, [&](uint16_t* out) { return pack_on_gpu(*stream_, plain, *plan, out); });
  EXPECT_EQ(std::memcmp(got.data(), wanted.data(), wanted.size()), 0);
}

TEST_F(PackedGpu, UnpacksWhatTheCpuPacked) {
  for (const TestMatrix& matrix : test_matrices()) {
    SCOPED_TRACE(matrix.name);
    const OnGpu packed = packed_on_gpu(matrix);
    ASSERT_TRUE(check_contents_on_gpu(*stream_, packed.view));
    for (const size_t offset : {0, 1}) {
      std::vector<uint16_t> got = written(matrix.weights.size() + offset, [&](uint16_t* out) {
        return unpack_on_gpu(*stream_, packed.view, out + offset);
      });
      got.erase(got.begin(), got.begin() + static_cast<ptrdiff_t>(offset));
      ASSERT_EQ(got, matrix.weights);
    }
  }
}

TEST_F(PackedGpu, RowsAreThoseOfTheMatrix) {
  std::mt19937_64 random(test_seed());
  for (const TestMatrix& matrix : test_matrices()) {
    SCOPED_TRACE(matrix.name);
    const OnGpu packed = packed_on_gpu(matrix);
    std::vector<int64_t> wide;
    std::vector<int32_t> narrow;
    std::vector<uint16_t> wanted;
    for (size_t i = 0; i < 100; ++i) {
      const auto row = static_cast<int64_t>(random() % (matrix.rows + 2)) - 1;
      wide.push_back(row);
      narrow.push_back(static_cast<int32_t>(row));
      if (row < 0 || row >= matrix.rows) {
        wanted.insert(wanted.end(), matrix.columns, 0x7fff);
      } else {
        const auto begin = matrix.weights.begin() + row * matrix.columns;
        wanted.insert(wanted.end(), begin, begin + matrix.columns);
      }
    }
    const Buffer wide_numbers = on_gpu(wide);
    const Buffer narrow_numbers = on_gpu(narrow);
    for (const RowNumbers& rows : {RowNumbers{wide_numbers.data(), true, 100},
                                   RowNumbers{narrow_numbers.data(), false, 100}}) {
      ASSERT_EQ(written(wanted.size(),
                        [&](uint16_t* out) {
                          return unpack_rows_on_gpu(*stream_, packed.view, rows, out);
                        }),
                wanted);
    }
  }
}

TEST_F(PackedGpu, ProductsAreThoseOfThePlainWeights) {
  std::mt19937_64 random(test_seed());
  for (const TestMatrix& matrix : test_matrices()) {
    const OnGpu packed = packed_on_gpu(matrix);
    for (const uint64_t count : {1, 3, 8, 9, 16, 17, 25, 32}) {
      const TestProduct product(matrix, count, static_cast<uint32_t>(random() % kActivations),
                                random);
      SCOPED_TRACE(product.name());
      const Buffer x = on_gpu(product.x());
      const Buffer bias = on_gpu(product.bias());
      const std::vector<uint16_t> y = written(count * matrix.rows, [&](uint16_t* out) {
        return matmul_on_gpu(
            *stream_, packed.view,
            {data<uint16_t>(x), count, matrix.columns, out, matrix.rows,
             product.has_bias() ? data<uint16_t>(bias) : nullptr, product.activation()});
      });
      product.check(y);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(PackedGpu, RowsOfXMayLieAnywhere) {
  std::mt19937_64 random(test_seed());
  const TestMatrix matrix = {"gaussian", 100, 264, gaussian(100 * 264, random)};
  const OnGpu packed = packed_on_gpu(matrix);
  for (const uint64_t count : {1, 8, 16, 32}) {
    const std::vector<uint16_t> x = gaussian(count * 264, random, 1);
    std::vector<std::vector<uint16_t>> results;
    for (const auto& [offset, stride] :
         {std::pair<size_t, size_t>{0, 264}, {8, 280}, {3, 264}, {0, 265}, {5, 301}}) {
      std::vector<uint16_t> spread(offset + count * stride, 0x7fc0);  // gaps that would be seen
      for (uint64_t i = 0; i < count; ++i) {
        std::copy_n(x.begin() + static_cast<ptrdiff_t>(i * 264), 264,
                    spread.begin() + static_cast<ptrdiff_t>(offset + i * stride));
      }
      const Buffer from = on_gpu(spread);
      const std::vector<uint16_t> y = written(count * 110, [&](uint16_t* out) {
        return matmul_on_gpu(*stream_, packed.view,
                             {data<uint16_t>(from, offset), count, stride, out, 110});
      });
      results.push_back(y);
      EXPECT_EQ(results.back(), results.front()) << offset << ", " << stride << ", " << count;
    }
    for (size_t i = 0; i < count * 110; ++i) {
      if (i % 110 >= 100) {
        EXPECT_EQ(results.front()[i], 0xa5a5);
      }
    }
  }
}

TEST_F(PackedGpu, ARepeatedProductIsTheSame) {
  std::mt19937_64 random(test_seed());
  const TestMatrix matrix = {"gaussian", 512, 2048, gaussian(512 * 2048, random)};
  const OnGpu packed = packed_on_gpu(matrix);
  const Buffer x = on_gpu(gaussian(8 * 2048, random, 1));
  const auto multiply = [&](const device::Stream& stream, uint16_t* out) {
    return matmul_on_gpu(stream, packed.view, {data<uint16_t>(x), 8, 2048, out, 512});
  };
  const std::vector<uint16_t> first =
      written(8 * 512, [&](uint16_t* out) { return multiply(*stream_, out); });
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(written(8 * 512, [&](uint16_t* out) { return multiply(*stream_, out); }), first);
  }
  // Recorded, one product after another's result.
  ASSERT_EQ(written(8 * 512,
                    [&](uint16_t* out) -> Status {
                      const Result<device::CapturedWork> work = device::CapturedWork::capture(
                          stream_->device(), [&](const device::Stream& stream) -> Status {
                            for (int i = 0; i < 5; ++i) {
                              if (Status done = multiply(stream, out); !done) return done;
                            }
                            return {};
                          });
                      if (!work) return work.error();
                      if (Status launched = work->launch(*stream_); !launched) return launched;
                      return stream_->synchronize();
                    }),
            first);
}

// Products that feed one another start before the one before has ended, and wait for its result.
TEST_F(PackedGpu, ProductsWaitForOneAnother) {
  std::mt19937_64 random(test_seed());
  const TestMatrix matrix = {"square", 1024, 1024, gaussian(1024 * 1024, random, 0.03F)};
  const OnGpu packed = packed_on_gpu(matrix);
  const std::vector<uint16_t> x = gaussian(1024, random, 1);
  const auto chain = [&](bool waits) {
    std::vector<Buffer> states;
    states.push_back(on_gpu(x));
    for (int i = 0; i < 12; ++i) states.push_back(on_gpu(std::vector<uint16_t>(1024, 0x7fc0)));
    for (size_t i = 0; i + 1 < states.size(); ++i) {
      EXPECT_TRUE(
          matmul_on_gpu(*stream_, packed.view,
                        {data<uint16_t>(states[i]), 1, 1024, data<uint16_t>(states[i + 1]), 1024}));
      if (waits) {
        EXPECT_TRUE(stream_->synchronize());
      }
    }
    EXPECT_TRUE(stream_->synchronize());
    std::vector<uint16_t> end(1024);
    EXPECT_TRUE(states.back().download(std::as_writable_bytes(std::span(end))));
    return end;
  };
  const std::vector<uint16_t> wanted = chain(true);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(chain(false), wanted);
}

TEST_F(PackedGpu, ManyRowsOfXGoToTheLibrary) {
  std::mt19937_64 random(test_seed());
  for (const TestMatrix& matrix : test_matrices()) {
    const OnGpu packed = packed_on_gpu(matrix);
    for (const uint64_t count : {33, 100}) {
      const TestProduct product(matrix, count, static_cast<uint32_t>(random() % kActivations),
                                random);
      SCOPED_TRACE(product.name());
      const Buffer x = on_gpu(product.x());
      const Buffer bias = on_gpu(product.bias());
      Status status;
      const std::vector<uint16_t> y = written(count * matrix.rows, [&](uint16_t* out) -> Status {
        status = matmul_on_gpu(
            *stream_, packed.view,
            {data<uint16_t>(x), count, matrix.columns, out, matrix.rows,
             product.has_bias() ? data<uint16_t>(bias) : nullptr, product.activation()});
        if (!status && status.error().code == ErrorCode::unavailable) return {};
        return status;
      });
      if (!status) GTEST_SKIP() << status.error().message;
      product.check(y, 2e-2);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(PackedGpu, DamageIsFound) {
  TestMatrix matrix = {"escapes", 40, 64, std::vector<uint16_t>(40 * 64, 0x3f80)};
  for (const size_t i : {3, 5, 70, 2000}) matrix.weights[i] = 0x7fc0;
  Shape shape;
  const std::vector<std::byte> whole = packed_bytes(matrix, shape);
  const auto is_sound = [&](uint64_t at, uint32_t value) {
    std::vector<std::byte> bytes = whole;
    std::memcpy(bytes.data() + at, &value, sizeof value);
    const Buffer buffer = on_gpu(bytes);
    const Result<View> view = view_of(buffer.data(), shape.bytes(), shape);
    const Status checked = check_contents_on_gpu(*stream_, *view);
    EXPECT_TRUE(checked || checked.error().code == ErrorCode::corrupt);
    const Result<View> on_cpu = view_of(bytes.data(), bytes.size(), shape);
    EXPECT_EQ(checked.has_value(), check_contents(*on_cpu).has_value());
    return checked.has_value();
  };
  EXPECT_TRUE(is_sound(0, 0x12345678));  // any tile is one
  EXPECT_FALSE(is_sound(shape.factors_at() + 4, 0));
  EXPECT_FALSE(is_sound(shape.row_escapes_at(), 1));
  EXPECT_FALSE(is_sound(shape.row_escapes_at() + 4, 5));
  EXPECT_FALSE(is_sound(shape.row_escapes_at() + 4, 0xffffffff));
  EXPECT_FALSE(is_sound(shape.row_escapes_at() + 40 * 4, 3));
  EXPECT_FALSE(is_sound(shape.escapes_at(), 64));
  EXPECT_FALSE(is_sound(shape.escapes_at() + 8, 3));  // a column twice
  EXPECT_FALSE(is_sound(shape.escapes_at() + 4, 0x10000));
  EXPECT_TRUE(is_sound(shape.escapes_at() + 4, 0xffff));
}

}  // namespace
}  // namespace hoist::tensors::packed
