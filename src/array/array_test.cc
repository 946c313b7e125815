#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <set>
#include <vector>

#include "array/dtype.h"
#include "array/view.h"

namespace hoist::array {
namespace {

TEST(DType, NamesAndNumbersFindTheSame) {
  for (int number = 0; number < 23; ++number) {
    const DTypeProperties* const type = find_dtype(static_cast<uint8_t>(number));
    ASSERT_NE(type, nullptr);
    EXPECT_EQ(static_cast<int>(type->dtype), number);
    EXPECT_EQ(find_dtype(type->name), type);
    EXPECT_EQ(&properties(type->dtype), type);
  }
  EXPECT_EQ(find_dtype(uint8_t{23}), nullptr);
  EXPECT_EQ(find_dtype(uint8_t{255}), nullptr);
  EXPECT_EQ(find_dtype("bf16"), nullptr);
  EXPECT_EQ(find_dtype("BF16")->bytes, 2u);
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(element_count({}).value(), 1u);
  EXPECT_EQ(element_count(Shape{3, 5, 7}).value(), 105u);
  EXPECT_EQ(element_count(Shape{uint64_t{1} << 40, 0, uint64_t{1} << 40}).value(), 0u);
  EXPECT_EQ(element_count(Shape{(uint64_t{1} << 60) - 1}).value(), (uint64_t{1} << 60) - 1);
  EXPECT_FALSE(element_count(Shape{uint64_t{1} << 60}));
  EXPECT_FALSE(element_count(Shape{uint64_t{1} << 32, uint64_t{1} << 32}));
  EXPECT_FALSE(element_count(Shape{~uint64_t{0}, ~uint64_t{0}}));
}

TEST(Shape, CountsBytes) {
  EXPECT_EQ(byte_count(DType::f64, {}).value(), 8u);
  EXPECT_EQ(byte_count(DType::bf16, Shape{3, 5, 7}).value(), 210u);
  EXPECT_EQ(byte_count(DType::f8_e8m0, Shape{7}).value(), 7u);
  EXPECT_EQ(byte_count(DType::f4, Shape{3, 6}).value(), 9u);
  EXPECT_EQ(byte_count(DType::f6_e2m3, Shape{2, 2}).value(), 3u);
  EXPECT_EQ(byte_count(DType::f6_e3m2, Shape{5, 0}).value(), 0u);
  EXPECT_EQ(byte_count(DType::c64, Shape{(uint64_t{1} << 60) - 1}).value(),
            ((uint64_t{1} << 60) - 1) * 8);
  for (const uint64_t count : {1, 2, 3, 5, 6, 7}) {
    EXPECT_FALSE(byte_count(DType::f6_e2m3, Shape{count}));
    EXPECT_FALSE(byte_count(DType::f6_e3m2, Shape{count}));
    EXPECT_EQ(byte_count(DType::f4, Shape{count}).has_value(), count % 2 == 0);
  }
  EXPECT_FALSE(byte_count(DType::u8, Shape{uint64_t{1} << 60}));
}

TEST(DType, NoTwoHaveTheSameNameOrDlpackType) {
  std::set<std::string_view> names;
  std::set<std::string_view> frameworks;
  for (const DTypeProperties& type : all_dtypes()) {
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_EQ(type.framework.empty(), type.holder == Holder::none);
    EXPECT_TRUE(type.framework.empty() || frameworks.insert(type.framework).second) << type.name;
    EXPECT_EQ(find_dtype(type.dlpack), &type) << type.name;
    EXPECT_EQ(type.dlpack.bits * type.packed, type.bytes * 8 * 1) << type.name;
  }
  EXPECT_EQ(find_dtype(DlpackType{2, 24}), nullptr);
}

TEST(View, CoversAnArrayAndItsParts) {
  std::array<int32_t, 24> numbers;
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<uint64_t> shape = {2, 3, 4};
  const View view = View::of(numbers.data(), DType::i32, shape).value();
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_EQ(view.elements(), 24u);
  EXPECT_EQ(view.bytes(), 96u);
  const auto at = [](const View& of, int64_t i, int64_t j, int64_t k) {
    const int64_t offset = i * of.strides[0] + j * of.strides[1] + k * of.strides[2];
    return reinterpret_cast<const int32_t*>(of.data)[offset];
  };
  EXPECT_EQ(at(view, 1, 2, 3), 23);
  const View part = view.slice(1, 1, 3).value();
  EXPECT_EQ(at(part, 1, 0, 0), 16);
  EXPECT_FALSE(part.is_contiguous());
  EXPECT_TRUE(view.slice(0, 1, 2)->is_contiguous());
  const View turned = view.transposed(0, 2).value();
  EXPECT_EQ(at(turned, 3, 2, 1), 23);
  EXPECT_FALSE(turned.is_contiguous());
  EXPECT_TRUE(turned.transposed(0, 2)->is_contiguous());
  EXPECT_EQ(view.slice(2, 4, 4)->elements(), 0u);
  EXPECT_EQ(view.slice(2, 4, 4)->data, view.data);
}

TEST(View, RefusesWhatItCannotHold) {
  std::byte byte{};
  EXPECT_EQ(View::of(&byte, DType::u8, {})->bytes(), 1u);
  const std::vector<uint64_t> nine(9, 1);
  EXPECT_EQ(View::of(&byte, DType::u8, nine).error().code, ErrorCode::unsupported);
  const std::vector<uint64_t> huge = {uint64_t{1} << 40, uint64_t{1} << 40};
  EXPECT_EQ(View::of(&byte, DType::u8, huge).error().code, ErrorCode::invalid_argument);
  const std::vector<uint64_t> two = {2};
  const View view = View::of(&byte, DType::u8, two).value();
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{-1, 1}, {2, 1}, {0, 3}}) {
    EXPECT_EQ(view.slice(0, begin, end).error().code, ErrorCode::invalid_argument);
  }
  EXPECT_FALSE(view.slice(1, 0, 1));
  EXPECT_FALSE(view.transposed(0, 1));
  EXPECT_EQ(View::of(&byte, DType::f4, two)->bytes(), 1u);
  EXPECT_EQ(View::of(&byte, DType::f4, two)->slice(0, 0, 1).error().code, ErrorCode::unsupported);
  // Without elements everything is contiguous.
  const std::vector<uint64_t> wide = {uint64_t{1} << 40, 0, uint64_t{1} << 40, uint64_t{1} << 40};
  EXPECT_TRUE(View::of(&byte, DType::u8, wide)->is_contiguous());
  EXPECT_EQ(View::of(&byte, DType::u8, wide)->bytes(), 0u);
  EXPECT_EQ(View::of(&byte, DType::u8, wide)->slice(0, 5, 9)->data, &byte);
  const std::vector<uint64_t> beyond = {~uint64_t{0}, 0};
  EXPECT_FALSE(View::of(&byte, DType::u8, beyond));
  const std::vector<uint64_t> empty = {0, uint64_t{1} << 59};
  EXPECT_TRUE(View::of(&byte, DType::u8, empty)->is_contiguous());
}

}  // namespace
}  // namespace hoist::array
