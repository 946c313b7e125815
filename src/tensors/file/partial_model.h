// Heads of model files that hold only some of the tensors that were packed.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tensors/file/header.h"

namespace hoist::tensors {

struct PartialModel {
  std::string head;
  std::vector<uint64_t> offsets;  // of each tensor from the file's beginning; zeros between them
};

// Why a .safetensors that comes from another format, or from a lost header, cannot hold the tensor:
// `unsupported`.
Status check_for_safetensors(const HoloTensor& tensor);

// A .safetensors with nothing but these tensors. `unsupported` where it cannot hold one, or where
// their names take more than its header may.
Result<PartialModel> bare_safetensors(std::span<const HoloTensor* const> tensors);

// A file of that format with the tensors that are `kept` (by offset) and all that its skeleton says
// of the model; what is kept stays of its type, be it known or not, and goes in as the packed file
// had it (GGUF may be big-endian). `unsupported` for .npz, whose directory would have to be made
// anew; `name` is for messages.
Result<PartialModel> partial_model(ModelFormat format, std::span<const std::byte> skeleton,
                                   std::span<const HoloTensor* const> kept,
                                   const std::string& name);

// A model.safetensors.index.json without the tensors of these names.
Result<std::string> partial_index(std::span<const std::byte> skeleton,
                                  const std::set<std::string>& left_out, const std::string& name);

}  // namespace hoist::tensors
