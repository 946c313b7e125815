// One tile of an entropy-coded section: 32 states, then the words; or the symbols as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/entropy_table.h"
#include "codec/rans.h"

namespace hoist::codec {

// Whether tile.size is possible for tile.symbols: stored, or shorter, with its 32 states and whole
// words. What the GPU relies on.
bool valid_tile(const EntropyTile& tile);

std::vector<std::byte> encode_tile(std::span<const uint8_t> symbols, const EntropyTable& table,
                                   const RansImplementation& rans = best_rans());

// False where the tile is corrupt: its words run out or are left over, or a state does not end at
// the value that every encoder starts from.
bool decode_tile(std::span<const std::byte> tile, const EntropyTable& table,
                 std::span<uint8_t> symbols, const RansImplementation& rans = best_rans());

}  // namespace hoist::codec
