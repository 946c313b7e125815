// Plain files for Python: many tensors of a model read together, and files written whole.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "python/tensors_arrays.h"
#include "python/tensors_path.h"
#include "tensors/model/model_source.h"

namespace hoist::python {

// [(bytes, offsets)] of these tensors, in their order: each array of bytes has the tensors at its
// offsets, multiples of 64. Neighbours share an array of at most `most` bytes; a tensor that is
// larger has its own. Raises what ModelSource::read() fails with.
nanobind::list read_groups(const tensors::ModelSource& source, const std::vector<size_t>& indices,
                           uint64_t most);

// The pieces one after another. What is at `path` is replaced once the file is whole.
void write_file(const FilePath& path, const std::vector<InputBytes>& pieces);

}  // namespace hoist::python
