#include "python/packed_matrix.h"

#include <algorithm>

#include "python/errors.h"

namespace hoist::python {

namespace packed = tensors::packed;

packed::Shape packed_shape(uint64_t rows, uint64_t columns, uint64_t escapes) {
  check(packed::check_extents(rows, columns));
  if (escapes > UINT32_MAX) refuse("a packed matrix has less than 2^32 escapes");
  return {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns),
          static_cast<uint32_t>(escapes)};
}

PackedMatrix::PackedMatrix(nanobind::handle packed, const packed::Shape& shape,
                           const StreamAddress& stream)
    : bytes(given_array(packed, "packed", stream)) {
  if (!bytes.is_byte() || !bytes.is_dense() || bytes.shape.size() != 1) {
    refuse("packed must be contiguous uint8 of one axis");
  }
  view = value(packed::view_of(bytes.data, static_cast<uint64_t>(bytes.shape[0]), shape));
}

std::vector<int64_t> numbers_of(const packed::RowNumbers& rows) {
  std::vector<int64_t> numbers(rows.count);
  if (rows.are_wide) {
    std::copy_n(static_cast<const int64_t*>(rows.numbers), rows.count, numbers.data());
  } else {
    std::copy_n(static_cast<const int32_t*>(rows.numbers), rows.count, numbers.data());
  }
  return numbers;
}

}  // namespace hoist::python
