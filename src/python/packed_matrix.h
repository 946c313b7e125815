// A packed matrix whose bytes somebody else keeps, as hoist._packed is given it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "python/packed_arrays.h"
#include "python/released_gil.h"
#include "tensors/packed/gpu.h"

namespace hoist::python {

using StreamAddress = std::optional<uintptr_t>;

// InvalidArgument.
tensors::packed::Shape packed_shape(uint64_t rows, uint64_t columns, uint64_t escapes);

struct PackedMatrix {
  GivenArray bytes;
  tensors::packed::View view;

  PackedMatrix(nanobind::handle packed, const tensors::packed::Shape& shape,
               const StreamAddress& stream);
};

// As the CPU's functions take them.
std::vector<int64_t> numbers_of(const tensors::packed::RowNumbers& rows);

// What `work` answers, the interpreter's lock free meanwhile.
template <typename Work>
auto unlocked(const Work& work) {
  const ReleasedGil released;
  return work();
}

// hoist._packed.Matrix, whose calls take addresses.
void bind_packed_addresses(nanobind::module_& module);

}  // namespace hoist::python
