// The coders of one tile's words, one implementation an instruction set; entropy.cc drives them.
// All of them write and read exactly the same words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/rans_format.h"

namespace hoist::codec {

struct RansProgress {
  size_t words = 0;   // taken
  size_t groups = 0;  // done
};

// Decodes up to `groups` groups from `words`, into 128 bytes each, as long as it has taken at most
// `limit` words at the start of a group: kRansMaxGroupWords words beyond the limit must be there.
// `words` needs no alignment.
using RansDecode = RansProgress(const RansDecodeTable& table, const std::byte* words, size_t limit,
                                uint32_t (&states)[kRansLanes], size_t groups, uint8_t* symbols);

// Encodes whole groups, last one first, downwards from `end`. Gives where the words begin, or
// nullptr where they would not fit: kRansMaxGroupWords words must be free above `floor` before each
// group.
using RansEncode = uint16_t*(std::span<const uint32_t> encode_table, const RansDecodeTable& table,
                             const uint8_t* symbols, size_t groups, uint32_t (&states)[kRansLanes],
                             uint16_t* floor, uint16_t* end);

struct RansImplementation {
  const char* name;
  bool (*supported)();

  // By the table's symbols per code, less one.
  RansDecode* decoders[2];
  RansEncode* encoders[2];

  RansDecode* decoder(const RansDecodeTable& table) const {
    return decoders[table.symbols_per_code - 1];
  }
  RansEncode* encoder(const RansDecodeTable& table) const {
    return encoders[table.symbols_per_code - 1];
  }
};

// Plain C++: the definition of the format.
extern const RansImplementation kRansPortable;
// AVX2 (Haswell, Zen): 8 lanes a vector.
extern const RansImplementation kRansAvx2;
// AVX-512 with VBMI2 (Ice Lake, Zen 4): 16 lanes a vector.
extern const RansImplementation kRansAvx512;

// All of them, and the fastest that this CPU has.
std::span<const RansImplementation* const> rans_implementations();
const RansImplementation& best_rans();

}  // namespace hoist::codec
