// The inner loops of a scan, one set for each instruction set, chosen once at run time. All work on
// one tile (segment_view.h): `rows` rows of 32 16-bit symbols, one pattern a lane. Any value may
// lie in a tile. Thread-safe: they have no state.
#pragma once

#include <cstdint>
#include <span>

#include "match/scan/query_tables.h"

namespace hoist::match {

struct TileKernels {
  const char* name;  // "portable", "avx2", "avx512"

  // Lanes whose LCS is at least `least`, and every lane's LCS. For tables with slot_bits; null
  // where this instruction set has nothing better than the other two.
  uint32_t (*slot_lcs)(const QueryTables& query, const uint16_t* tile, uint32_t rows,
                       uint32_t least, uint16_t* lcs);

  // All lanes that have at least `least` symbols of the query, and so all whose LCS may be that;
  // a few others too, as the tables' sets are not exact.
  uint32_t (*members)(const QueryTables& query, const uint16_t* tile, uint32_t rows,
                      uint32_t least);
  // The same for tiles of 32-bit symbols; the tables are of their low 16 bits.
  uint32_t (*wide_members)(const QueryTables& query, const uint32_t* tile, uint32_t rows,
                           uint32_t least);

  // The LCS of the given lanes; those of others are undefined. For tables with is_one_word.
  void (*word_lcs)(const QueryTables& query, const uint16_t* tile, uint32_t rows, uint32_t lanes,
                   uint16_t* lcs);
};

// The fastest set that this processor runs.
const TileKernels& tile_kernels();

// All sets that this processor runs, the portable one first: tests and benchmarks compare them.
std::span<const TileKernels* const> all_tile_kernels();

// One lane at a time, for all of them.
void word_lcs_of_lanes(const QueryTables& query, const uint16_t* tile, uint32_t rows,
                       uint32_t lanes, uint16_t* lcs);

}  // namespace hoist::match
