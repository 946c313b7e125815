// Products on a GPU against sums in double precision.
#include "device/captured_work.h"
#include "tensors/packed/gpu_testing.h"
#include "tensors/packed/matmul_testing.h"

namespace hoist::tensors::packed {
namespace {

class PackedGpuProducts : public PackedGpu {
 protected:
  void check(const TestMatrix& matrix, uint64_t count, std::mt19937_64& random) {
    const OnGpu packed = packed_on_gpu(matrix);
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
  }
};

TEST_F(PackedGpuProducts, ProductsAreThoseOfThePlainWeights) {
  std::mt19937_64 random(test_seed());
  for (const TestMatrix& matrix : test_matrices()) {
    for (const uint64_t count : {1, 3, 8, 9, 16, 17, 25, 32}) {
      check(matrix, count, random);
      if (HasFatalFailure()) return;
    }
  }
}

// Where there are many row blocks, two are made together; here one is left over.
TEST_F(PackedGpuProducts, TallMatrices) {
  std::mt19937_64 random(test_seed());
  for (const uint32_t rows : {4260, 12680}) {
    TestMatrix matrix = {"tall", rows, 200, gaussian(size_t{rows} * 200, random)};
    for (size_t i = 0; i < matrix.weights.size(); i += 501) matrix.weights[i] = 0x1234;
    for (const uint64_t count : {2, 9, 16, 20, 32}) {
      check(matrix, count, random);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(PackedGpuProducts, RowsOfXMayLieAnywhere) {
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
      Operands operands = {data<uint16_t>(from, offset), count, stride, nullptr, 110};
      const std::vector<uint16_t> y = written(count * 110, [&](uint16_t* out) {
        operands.y = out;
        return matmul_on_gpu(*stream_, packed.view, operands);
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

TEST_F(PackedGpuProducts, ARepeatedProductIsTheSame) {
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
TEST_F(PackedGpuProducts, ProductsWaitForOneAnother) {
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

// Products of many rows, by whatever the GPU has for them.
class PackedGpuManyRows : public PackedGpu {
 protected:
  void check(const TestMatrix& matrix, uint64_t count, std::mt19937_64& random) {
    for (const Way way : {Way::wide, Way::fastest}) {
      check(matrix, count, way, random);
      if (HasFatalFailure() || IsSkipped()) return;
    }
  }

  void check(const TestMatrix& matrix, uint64_t count, Way way, std::mt19937_64& random) {
    const OnGpu packed = packed_on_gpu(matrix);
    const TestProduct product(matrix, count, static_cast<uint32_t>(random() % kActivations),
                              random);
    SCOPED_TRACE(product.name());
    const Buffer x = on_gpu(product.x());
    const Buffer bias = on_gpu(product.bias());
    Status status;
    const std::vector<uint16_t> y = written(count * matrix.rows, [&](uint16_t* out) -> Status {
      status =
          matmul_on_gpu(*stream_, packed.view,
                        {data<uint16_t>(x), count, matrix.columns, out, matrix.rows,
                         product.has_bias() ? data<uint16_t>(bias) : nullptr, product.activation()},
                        way);
      if (!status && status.error().code == ErrorCode::unavailable) return {};
      return status;
    });
    if (!status) GTEST_SKIP() << status.error().message;
    product.check(y, 2e-2);
  }
};

TEST_F(PackedGpuManyRows, ProductsAreThoseOfThePlainWeights) {
  std::mt19937_64 random(test_seed());
  for (const TestMatrix& matrix : test_matrices()) {
    for (const uint64_t count : {33, 64, 65, 100, 129, 193, 256, 300}) {
      check(matrix, count, random);
      if (HasFatalFailure() || IsSkipped()) return;
    }
  }
}

// Blocks of threads have whole sums, and parts of others; rows of an even and an odd number of
// tiles.
TEST_F(PackedGpuManyRows, LargeProducts) {
  std::mt19937_64 random(test_seed());
  for (const uint32_t columns : {1100, 1050}) {
    const size_t weights = size_t{2500} * columns;
    TestMatrix matrix = {"gaussian", 2500, columns, gaussian(weights, random)};
    for (size_t i = 0; i < weights; i += 501) matrix.weights[i] = 0x1234;
    for (const uint64_t count : {40, 64, 100, 128, 160, 200}) {
      check(matrix, count, random);
      if (HasFatalFailure() || IsSkipped()) return;
    }
  }
}

TEST_F(PackedGpuManyRows, ARepeatedProductIsTheSame) {
  std::mt19937_64 random(test_seed());
  const TestMatrix matrix = {"gaussian", 2500, 1100, gaussian(size_t{2500} * 1100, random)};
  const OnGpu packed = packed_on_gpu(matrix);
  const Buffer x = on_gpu(gaussian(size_t{100} * 1100, random, 1));
  const auto multiply = [&](uint16_t* out) {
    return matmul_on_gpu(*stream_, packed.view, {data<uint16_t>(x), 100, 1100, out, 2500},
                         Way::wide);
  };
  const std::vector<uint16_t> first = written(250000, multiply);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(written(250000, multiply), first);
}

}  // namespace
}  // namespace hoist::tensors::packed
