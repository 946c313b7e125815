// Products against sums in double precision.
#include "tensors/packed/matmul.h"

#include "array/convert.h"
#include "tensors/packed/matmul_testing.h"

namespace hoist::tensors::packed {
namespace {

TEST(PackedMatmul, IsTheProductOfThePlainWeights) {
  std::mt19937_64 random(test_seed());
  for (const TestMatrix& matrix : test_matrices()) {
    Shape shape;
    const std::vector<std::byte> bytes = packed_bytes(matrix, shape);
    const Result<View> view = view_of(bytes.data(), bytes.size(), shape);
    for (const uint64_t count : {0, 1, 3, 16, 20}) {
      for (uint32_t activation = 0; activation < kActivations; ++activation) {
        const TestProduct product(matrix, count, activation, random);
        SCOPED_TRACE(product.name());
        std::vector<uint16_t> y = product.result();
        ASSERT_TRUE(matmul(*view, product.operands(y)));
        product.check(y);
      }
    }
  }
}

TEST(PackedMatmul, NothingIsWrittenBetweenRows) {
  std::mt19937_64 random(test_seed());
  const TestMatrix matrix = {"gaussian", 20, 100, gaussian(2000, random)};
  Shape shape;
  const std::vector<std::byte> bytes = packed_bytes(matrix, shape);
  const Result<View> view = view_of(bytes.data(), bytes.size(), shape);
  const std::vector<uint16_t> x = gaussian(2 * 130, random, 1);
  std::vector<uint16_t> y(2 * 30, 0xa5a5);
  ASSERT_TRUE(matmul(*view, {x.data(), 2, 130, y.data(), 30}));
  for (size_t i = 20; i < 30; ++i) EXPECT_EQ(y[i], 0xa5a5);
  std::vector<uint16_t> second(20);
  ASSERT_TRUE(matmul(*view, {x.data() + 130, 1, 0, second.data(), 0}));
  EXPECT_TRUE(std::equal(second.begin(), second.end(), y.begin() + 30));
}

TEST(PackedMatmul, WrongOperandsAreRefused) {
  std::mt19937_64 random(test_seed());
  const TestMatrix matrix = {"gaussian", 20, 100, gaussian(2000, random)};
  Shape shape;
  const std::vector<std::byte> bytes = packed_bytes(matrix, shape);
  const Result<View> view = view_of(bytes.data(), bytes.size(), shape);
  const std::vector<uint16_t> x(200);
  std::vector<uint16_t> y(40);
  EXPECT_FALSE(matmul(*view, {x.data(), 2, 99, y.data(), 20}));
  EXPECT_FALSE(matmul(*view, {x.data(), 2, 100, y.data(), 19}));
  EXPECT_FALSE(matmul(
      *view, {x.data(), 2, 100, y.data(), 20, nullptr, static_cast<Activation>(kActivations)}));
}

}  // namespace
}  // namespace hoist::tensors::packed
