#include "tensors/element_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/test_seed.h"

namespace hoist::tensors {
namespace {

// The slow obvious way: each element by its index, each component byte by byte.
std::vector<std::byte> standard_by_index(const ElementOrder& order, const ElementGrid& grid,
                                         std::span<const std::byte> from) {
  std::vector<std::byte> to(from.size());
  const size_t count = from.size() / grid.element;
  for (size_t i = 0; i < count; ++i) {
    size_t source = i;
    if (order.column_major) {
      size_t left = i;
      Shape index(grid.extents.size());
      for (size_t d = index.size(); d-- > 0; left /= grid.extents[d]) {
        index[d] = left % grid.extents[d];
      }
      source = 0;
      for (size_t d = index.size(); d-- > 0;) source = source * grid.extents[d] + index[d];
    }
    std::copy_n(from.begin() + source * grid.element, grid.element, to.begin() + i * grid.element);
  }
  if (order.big_endian && grid.component > 1) {
    for (size_t i = 0; i < to.size(); i += grid.component) {
      std::reverse(to.begin() + i, to.begin() + i + grid.component);
    }
  }
  return to;
}

TEST(ElementOrder, TurnsAndTurnsBackLikeTheObviousWay) {
  std::mt19937_64 random(test_seed());
  const Shape shapes[] = {
      {},        {0},          {7},         {3, 5},    {64, 33},      {1, 9},         {9, 1},
      {3, 0, 2}, {2, 3, 4, 5}, {33, 2, 65}, {1, 1, 1}, {2, 1, 31, 3}, {5, 4, 3, 2, 2}};
  for (const DType dtype :
       {DType::u8, DType::f16, DType::f32, DType::f64, DType::c64, DType::c128}) {
    for (const Shape& shape : shapes) {
      for (const bool opaque : {false, true}) {
        Shape extents = shape;
        if (opaque) extents.push_back(random() % 21);
        const DType held = opaque ? DType::u8 : dtype;
        std::vector<std::byte> bytes(byte_count(held, extents).value());
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
        const ElementGrid grid = element_grid(held, extents, opaque);
        for (int bits = 0; bits < 4; ++bits) {
          const ElementOrder order{(bits & 1) != 0 && !opaque, (bits & 2) != 0};
          std::vector<std::byte> turned(bytes.size());
          to_standard(order, grid, bytes, turned);
          if (grid.element > 0) {
            EXPECT_EQ(turned, standard_by_index(order, grid, bytes));
          }
          std::vector<std::byte> back(bytes.size());
          from_standard(order, grid, turned, back);
          EXPECT_EQ(back, bytes);
        }
      }
    }
  }
}

TEST(ElementOrder, ComplexIsTurnedNumberByNumber) {
  const ElementGrid grid = element_grid(DType::c64, Shape{1}, false);
  EXPECT_EQ(grid.element, 8u);
  EXPECT_EQ(grid.component, 4u);
  EXPECT_EQ(element_grid(DType::c128, Shape{1}, false).component, 8u);
}

}  // namespace
}  // namespace hoist::tensors
