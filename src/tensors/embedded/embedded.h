// The Embedded encoding of one tensor: layer 0 is sign and exponent, entropy-coded, each further
// layer a mantissa bit (format.h). Every prefix of layers gives every element; all of them give the
// tensor bit for bit, NaNs and zeros of either sign included.
#pragma once

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

}  // namespace hoist::tensors
