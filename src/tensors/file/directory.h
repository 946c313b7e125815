// Loading all models of a folder into memory, .holo and .safetensors side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tensors/file/quality_policy.h"
#include "tensors/file/reader.h"

namespace hoist::tensors {

struct LoadedDirectory {
  std::vector<LoadedTensor> tensors;  // file by file, by name of the file
  size_t holographic_count = 0;       // tensors from .holo files
  size_t standard_count = 0;          // from .safetensors
};

// Tensors of .holo files with the fewest parts whose measured quality reaches `min_quality`, or
// where a policy is given what it says of their names; those of .safetensors whole. Other files are
// not looked at, except that files of haagenti (.hct) are refused by name (`unsupported`): leaving
// their tensors out would not be noticed. `invalid_argument` where two tensors have one name,
// `not_found` where the folder has neither kind.
Result<LoadedDirectory> load_directory_progressive(const std::string& folder, double min_quality,
                                                   const QualityPolicy* policy = nullptr,
                                                   ThreadPool* pool = nullptr);

}  // namespace hoist::tensors
