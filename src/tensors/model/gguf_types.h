// ggml's element types: their numbers in GGUF files, names, and blocks (ggml's ggml.h and
// ggml-common.h; gguf-py's GGML_QUANT_SIZES).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tensors/tensor.h"

namespace hoist::tensors {

struct GgmlType {
  uint32_t number;
  std::string_view name;
  uint32_t block_elements;
  uint32_t block_bytes;
  std::optional<DType> dtype;  // nothing: quantised
  // Where writers differ (Q8_1 has 36 bytes in ggml, 40 in gguf-py): the file tells which it is.
  uint32_t other_block_bytes = 0;
};

std::span<const GgmlType> ggml_types();
// nullptr: none has this number.
const GgmlType* find_ggml_type(uint32_t number);

}  // namespace hoist::tensors
