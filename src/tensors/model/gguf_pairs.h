// GGUF's key-value pairs, passed over or read.
#pragma once

#include <vector>

#include "tensors/model/gguf_cursor.h"
#include "tensors/model/metadata.h"

namespace hoist::tensors {

inline constexpr uint64_t kMaxGgufName = uint64_t{64} << 10;

// Passes over so many pairs and gives the alignment that they ask for, 32 without such a wish; into
// `pairs`, where it is not null, goes what they say.
uint64_t read_pairs(GgufCursor& in, uint64_t count, std::vector<MetadataPair>* pairs);

}  // namespace hoist::tensors
