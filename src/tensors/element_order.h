// Elements as foreign files hold them: big-endian, or column-major (NumPy's Fortran order). Tensors
// are row-major and little-endian everywhere else, so they are turned when they are read and turned
// back when their file is made again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensors/tensor.h"

namespace hoist::tensors {

struct ElementOrder {
  bool big_endian = false;
  bool column_major = false;

  bool is_standard() const { return !big_endian && !column_major; }
  friend bool operator==(const ElementOrder&, const ElementOrder&) = default;
};

// What is moved as one piece, and the grid of such pieces.
struct ElementGrid {
  Shape extents;
  size_t element = 1;    // bytes
  size_t component = 1;  // bytes whose order is big- or little-endian
};

// `is_opaque`: the last dimension counts the bytes of an element of a foreign type. Types whose
// elements share bytes have no grid: they are never turned.
ElementGrid element_grid(DType dtype, std::span<const uint64_t> shape, bool is_opaque);

// `from` and `to` hold exactly the grid's elements and do not overlap.
void to_standard(const ElementOrder& order, const ElementGrid& grid,
                 std::span<const std::byte> from, std::span<std::byte> to);
void from_standard(const ElementOrder& order, const ElementGrid& grid,
                   std::span<const std::byte> from, std::span<std::byte> to);

// Turns the bytes of each component around, in place; a multiple of them.
void swap_components(std::span<std::byte> bytes, size_t component);

}  // namespace hoist::tensors
