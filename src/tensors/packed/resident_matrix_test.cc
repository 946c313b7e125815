#include "tensors/packed/resident_matrix.h"

#include <gtest/gtest.h>

#include "device/test_devices.h"
#include "tensors/packed/matmul_testing.h"

namespace hoist::tensors::packed {
namespace {

class Resident : public device::OnDevices {
 protected:
  template <typename T>
  device::Buffer there(const std::vector<T>& values) {
    Result<device::Buffer> buffer =
        device::Buffer::copy_of(device(), std::as_bytes(std::span(values)));
    EXPECT_TRUE(buffer) << buffer.error().message;
    return *std::move(buffer);
  }
  template <typename T>
  // Behind the default stream's work.
  std::vector<T> back(const device::Buffer& buffer) {
    std::vector<T> values(buffer.size() / sizeof(T));
    EXPECT_TRUE(buffer.download(std::as_writable_bytes(std::span(values))));
    return values;
  }
  ResidentMatrix packed(const TestMatrix& matrix) {
    const device::Buffer weights = there(matrix.weights);
    Result<ResidentMatrix> made = ResidentMatrix::pack(device(), plain(matrix, weights));
    EXPECT_TRUE(made) << matrix.name << ": " << made.error().message;
    return *std::move(made);
  }
  static PlainMatrix plain(const TestMatrix& matrix, const device::Buffer& weights) {
    return {static_cast<const uint16_t*>(weights.data()), matrix.rows, matrix.columns,
            matrix.columns};
  }
};
INSTANTIATE_TEST_SUITE_P(Packed, Resident, device::kTestDevices, device::device_name);

TEST_P(Resident, BitsComeBackAndBytesAreTheSameOnAllDevices) {
  for (const TestMatrix& matrix : test_matrices()) {
    const ResidentMatrix made = packed(matrix);
    Shape shape;
    const std::vector<std::byte> wanted = packed_bytes(matrix, shape);
    ASSERT_EQ(made.shape().bytes(), shape.bytes()) << matrix.name;
    std::vector<std::byte> bytes(shape.bytes());
    ASSERT_TRUE(device().copy(bytes.data(), made.data(), bytes.size(), {}));
    EXPECT_EQ(bytes, wanted) << matrix.name;
    const device::Buffer weights = there(std::vector<uint16_t>(matrix.weights.size()));
    ASSERT_TRUE(made.unpack(static_cast<uint16_t*>(weights.data())));
    EXPECT_EQ(back<uint16_t>(weights), matrix.weights) << matrix.name;
  }
}

TEST_P(Resident, PredictionIsWhatPackingGives) {
  for (const TestMatrix& matrix : test_matrices()) {
    const device::Buffer weights = there(matrix.weights);
    const Result<Prediction> predicted = predict_packing(device(), plain(matrix, weights));
    ASSERT_TRUE(predicted) << predicted.error().message;
    const ResidentMatrix made = packed(matrix);
    EXPECT_EQ(predicted->shape.bytes(), made.shape().bytes()) << matrix.name;
    EXPECT_EQ(predicted->shape.escapes, made.shape().escapes) << matrix.name;
    EXPECT_EQ(predicted->most_in_row, made.most_in_row()) << matrix.name;
    EXPECT_EQ(plainness(predicted->shape, predicted->most_in_row), made.plainness());
  }
}

TEST_P(Resident, ProductsAndRows) {
  std::mt19937_64 random(test_seed());
  const TestMatrix matrix = {"gaussian", 33, 129, gaussian(size_t{33} * 129, random)};
  const ResidentMatrix made = packed(matrix);
  const TestProduct product(matrix, 5, static_cast<uint32_t>(Activation::relu), random);
  std::vector<uint16_t> y = product.result();
  const device::Buffer x = there(product.x());
  const device::Buffer bias = there(product.bias());
  const device::Buffer out = there(y);
  Operands operands = product.operands(y);
  operands.x = static_cast<const uint16_t*>(x.data());
  operands.y = static_cast<uint16_t*>(out.data());
  if (operands.bias != nullptr) operands.bias = static_cast<const uint16_t*>(bias.data());
  ASSERT_TRUE(made.multiply(operands));
  product.check(back<uint16_t>(out));

  const std::vector<int64_t> numbers = {32, 0, 7, 7};
  const device::Buffer rows = there(numbers);
  const device::Buffer found = there(std::vector<uint16_t>(numbers.size() * 129));
  ASSERT_TRUE(made.unpack_rows(static_cast<const int64_t*>(rows.data()), numbers.size(),
                               static_cast<uint16_t*>(found.data())));
  std::vector<uint16_t> wanted;
  for (const int64_t row : numbers) {
    const auto begin = matrix.weights.begin() + row * 129;
    wanted.insert(wanted.end(), begin, begin + 129);
  }
  EXPECT_EQ(back<uint16_t>(found), wanted);
}

TEST_P(Resident, ImportsWhatIsRightAndNothingElse) {
  for (const TestMatrix& matrix : test_matrices()) {
    Shape shape;
    std::vector<std::byte> bytes = packed_bytes(matrix, shape);
    const Result<ResidentMatrix> made = ResidentMatrix::import(device(), bytes, shape);
    ASSERT_TRUE(made) << matrix.name << ": " << made.error().message;
    const device::Buffer weights = there(std::vector<uint16_t>(matrix.weights.size()));
    ASSERT_TRUE(made->unpack(static_cast<uint16_t*>(weights.data())));
    EXPECT_EQ(back<uint16_t>(weights), matrix.weights) << matrix.name;
    if (shape.rows == 0) continue;
    bytes[shape.row_escapes_at()] = std::byte{1};  // the first row begins behind an escape
    const Result<ResidentMatrix> refused = ResidentMatrix::import(device(), bytes, shape);
    ASSERT_FALSE(refused) << matrix.name;
    EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
    bytes.pop_back();
    EXPECT_EQ(ResidentMatrix::import(device(), bytes, shape).error().code,
              ErrorCode::invalid_argument);
  }
}

TEST_P(Resident, RefusesExtentsThatAreTooLarge) {
  const PlainMatrix matrix = {nullptr, kMostRows + 1, 1, 1};
  EXPECT_EQ(ResidentMatrix::pack(device(), matrix).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(predict_packing(device(), matrix).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hoist::tensors::packed
