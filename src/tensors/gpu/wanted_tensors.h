// Which tensors of a file a load is asked for.
#pragma once

#include <string>
#include <vector>

#include "tensors/gpu/model_loader.h"

namespace hoist::tensors {

// Numbers of tensors, of which the file has `count`: those of `only` in their order, or all.
// `invalid_argument`: one that is not there, or is there twice.
Result<std::vector<size_t>> wanted_tensors(const std::vector<TensorTarget>& only, size_t count,
                                           const std::string& file);

}  // namespace hoist::tensors
