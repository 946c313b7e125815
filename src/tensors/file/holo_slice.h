// Parts of a tensor of a .holo file: no more is read and decoded than lies between their first and
// their last byte, where the encoding allows that (HoloTensorReader::decode_range).
#pragma once

#include "tensors/file/reader.h"
#include "tensors/model/model_slice.h"

namespace hoist::tensors {

// The elements that one range for each axis takes, in the order of the tensor, as decode() gives
// them of all parts. `into` has their bytes. `invalid_argument` as for SliceRuns, `not_found` where
// there is no such tensor. Memory: what decode_range() takes, and what lies between, at most the
// tensor, unless that is all that is taken.
Status read_slice(const HoloTensorReader& reader, size_t tensor, std::span<const AxisRange> axes,
                  std::span<std::byte> into, ThreadPool* pool = nullptr);

}  // namespace hoist::tensors
