// The Embedded encoding of one tensor: layer 0 is sign and exponent, entropy-coded, each further
// layer a mantissa bit (format.h). Every prefix of layers gives every element; all of them give the
// tensor bit for bit, NaNs and zeros of either sign included.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "base/threads.h"
#include "tensors/encoded_tensor.h"

namespace hoist::tensors {

// Nothing where the encoding does not serve: another type, more than 256 symbols (f64 can have
// them), or a tensor that would not shrink. Memory besides the parts: a byte an element.
Result<std::optional<EncodedTensor>> embedded_encode(const TensorView& tensor,
                                                     ThreadPool* pool = nullptr);

// Reconstruction takes layer 0 and the layers after it as far as they are there without a gap.
// Memory besides what add() is given: the description's.
Result<std::unique_ptr<TensorDecoder>> embedded_decoder(const TensorDescription& description);

// Bytes of a part from `offset` on; called on the pool's threads.
using ReadPart = std::function<Status(size_t part, uint64_t offset, std::span<std::byte> into)>;

// Some elements of the tensor, of all its layers, from element `first` on: what a decoder makes of
// them. Reads where the tiles lie, and of each layer what the tiles take that hold the elements.
// `invalid_argument`: no whole elements, or not within the tensor. Memory: twice these tiles.
Status embedded_decode_range(const TensorDescription& description, uint64_t first,
                             std::span<std::byte> out, const ReadPart& read,
                             ThreadPool* pool = nullptr);

}  // namespace hoist::tensors
