// Packed matrices on a GPU against those of the CPU.
#include "tensors/packed/gpu.h"

#include "tensors/packed/gpu_testing.h"

namespace hoist::tensors::packed {
namespace {

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
