// Parts of a tensor of a model file: no more is read than they need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensors/model/model_source.h"

namespace hoist::tensors {

// Every `step`th of an axis, from `start` on.
struct AxisRange {
  uint64_t start = 0;
  uint64_t step = 1;
  uint64_t count = 0;
};

// The elements that one range for each axis takes, in the order of the tensor. `into` has their
// bytes. `invalid_argument`: a range beyond its axis, or elements that share bytes (F4).
Status read_slice(const ModelSource& model, const ModelTensor& tensor,
                  std::span<const AxisRange> axes, std::span<std::byte> into);

}  // namespace hoist::tensors
