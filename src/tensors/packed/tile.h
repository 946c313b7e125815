// A tile on the CPU. Rows g and g + 8 lie together: their 64 columns are 32 words of two columns
// each, of which eight belong to a lane, so that whole vectors of words are encoded at a time.
#pragma once

#include <cstdint>

namespace hoist::tensors::packed {

// `lines`: 16 lines of 64 weights, `stride` weights from one to the next. `tile`: 768 half-words.
void encode_tile(const uint16_t* lines, uint64_t stride, uint32_t base, uint16_t* tile);
// Escapes become +0.
void decode_tile(const uint16_t* tile, uint32_t base, uint16_t* lines, uint64_t stride);

}  // namespace hoist::tensors::packed
