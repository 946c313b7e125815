#include "tensors/element_order.h"

#include <algorithm>
#include <cstring>

namespace hoist::tensors {
namespace {

// Distances in bytes from an element to the next along one dimension.
using Strides = std::vector<uint64_t>;

Strides row_major(const ElementGrid& grid) {
  Strides strides(grid.extents.size());
  uint64_t stride = grid.element;
  for (size_t i = strides.size(); i-- > 0; stride *= grid.extents[i]) strides[i] = stride;
  return strides;
}

Strides column_major(const ElementGrid& grid) {
  Strides strides(grid.extents.size());
  uint64_t stride = grid.element;
  for (size_t i = 0; i < strides.size(); stride *= grid.extents[i++]) strides[i] = stride;
  return strides;
}

// The first and the last dimension: one of them is contiguous in `from`, the other in `to`.
struct Plane {
  uint64_t rows, columns;
  uint64_t from_row, from_column;
  uint64_t to_row, to_column;
};

// Tile by tile, so that the lines of both sides stay in the cache while they are used.
template <typename Copy>
void copy_plane(const Plane& plane, const std::byte* from, std::byte* to, Copy copy) {
  constexpr uint64_t kTile = 32;
  for (uint64_t row = 0; row < plane.rows; row += kTile) {
    const uint64_t last_row = std::min(row + kTile, plane.rows);
    for (uint64_t column = 0; column < plane.columns; column += kTile) {
      const uint64_t last_column = std::min(column + kTile, plane.columns);
      for (uint64_t r = row; r < last_row; ++r) {
        for (uint64_t c = column; c < last_column; ++c) {
          copy(to + r * plane.to_row + c * plane.to_column,
               from + r * plane.from_row + c * plane.from_column);
        }
      }
    }
  }
}

// Copies of a size that is known while compiling are single instructions.
void copy_elements(const Plane& plane, size_t element, const std::byte* from, std::byte* to) {
  const auto copy = [&](auto size) {
    copy_plane(plane, from, to, [](std::byte* into, const std::byte* it) {
      std::memcpy(into, it, decltype(size)::value);
    });
  };
  switch (element) {
    case 1:
      return copy(std::integral_constant<size_t, 1>());
    case 2:
      return copy(std::integral_constant<size_t, 2>());
    case 4:
      return copy(std::integral_constant<size_t, 4>());
    case 8:
      return copy(std::integral_constant<size_t, 8>());
    case 16:
      return copy(std::integral_constant<size_t, 16>());
    default:
      copy_plane(plane, from, to, [element](std::byte* into, const std::byte* it) {
        std::memcpy(into, it, element);
      });
  }
}

void rearrange(const ElementGrid& grid, const Strides& from_strides, const Strides& to_strides,
               std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.empty()) return;  // an extent of 0
  const Shape& extents = grid.extents;
  const size_t last = extents.size() - 1;
  const Plane plane{extents[0],         extents[last], from_strides[0],
                    from_strides[last], to_strides[0], to_strides[last]};
  Shape middle(extents.size());  // its first and last stay 0: they are the plane's
  for (;;) {
    uint64_t from_begin = 0;
    uint64_t to_begin = 0;
    for (size_t i = 1; i < last; ++i) {
      from_begin += middle[i] * from_strides[i];
      to_begin += middle[i] * to_strides[i];
    }
    copy_elements(plane, grid.element, from.data() + from_begin, to.data() + to_begin);
    size_t i = 1;
    while (i < last && ++middle[i] == extents[i]) middle[i++] = 0;
    if (i >= last) return;
  }
}

template <typename T>
void swap_all(std::span<std::byte> bytes, T (*swap)(T)) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof value);
    value = swap(value);
    std::memcpy(bytes.data() + i, &value, sizeof value);
  }
}

bool moves(const ElementOrder& order, const ElementGrid& grid) {
  return order.column_major && grid.extents.size() > 1;
}

void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace

ElementGrid element_grid(DType dtype, std::span<const uint64_t> shape, bool is_opaque) {
  ElementGrid grid;
  grid.extents.assign(shape.begin(), shape.end());
  if (!is_opaque) {
    const DTypeProperties& type = properties(dtype);
    grid.element = type.bytes;
    grid.component = type.bytes / type.components;
  } else if (!grid.extents.empty()) {
    grid.element = grid.extents.back();
    grid.extents.pop_back();
  }
  return grid;
}

void to_standard(const ElementOrder& order, const ElementGrid& grid,
                 std::span<const std::byte> from, std::span<std::byte> to) {
  if (moves(order, grid)) {
    rearrange(grid, column_major(grid), row_major(grid), from, to);
  } else {
    copy_bytes(from, to);
  }
  if (order.big_endian) swap_components(to, grid.component);
}

void from_standard(const ElementOrder& order, const ElementGrid& grid,
                   std::span<const std::byte> from, std::span<std::byte> to) {
  if (moves(order, grid)) {
    rearrange(grid, row_major(grid), column_major(grid), from, to);
  } else {
    copy_bytes(from, to);
  }
  if (order.big_endian) swap_components(to, grid.component);
}

void swap_components(std::span<std::byte> bytes, size_t component) {
  if (component == 2) swap_all<uint16_t>(bytes, [](uint16_t it) { return __builtin_bswap16(it); });
  if (component == 4) swap_all<uint32_t>(bytes, [](uint32_t it) { return __builtin_bswap32(it); });
  if (component == 8) swap_all<uint64_t>(bytes, [](uint64_t it) { return __builtin_bswap64(it); });
}

}  // namespace hoist::tensors
