// The key-value pairs of GGUF and safetensors files as Python's values.
#pragma once

#include <nanobind/nanobind.h>

#include "container/source.h"
#include "tensors/model/model_source.h"

namespace hoist::python {

// [(key, value)] in the file's order: int, float, bool, str, and lists of them. Text that is no
// UTF-8 has lone surrogates, as os.fsdecode() makes them.
nanobind::list metadata_pairs(tensors::ModelFormat format, const container::Source& source);

}  // namespace hoist::python
