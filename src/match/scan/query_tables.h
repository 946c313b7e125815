// What the tile kernels (tile_kernels.h) look up of a query: small tables by a hash of the 16-bit
// dense ids of a segment, made so that those of most queries stay in vector registers.
//
// hash(id) is the upper bits of the low 16 of id * multiplier. For queries of at most 64 symbols a
// multiplier is searched for with which no two symbols of the query share a value of as few bits as
// possible. A table then holds a symbol's key and mask at its hash, and a pattern's symbol is the
// query's exactly if the key is equal. Longer queries have the set of hashes only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hoist::match {

struct QueryTables {
  static constexpr uint32_t kHashBits = 10;
  static constexpr uint16_t kNoKey = 0xFFFF;  // what pads tiles: no symbol has it

  // By the upper slot_bits of the hash: a key, and the mask of its positions in the query, 16 to a
  // limb.
  alignas(64) uint16_t slot_keys[256];
  uint16_t slot_masks[4][256];
  // The hashes of all symbols of the query as a set of bits.
  uint16_t hashes[64];
  // The same set for bytes in AVX2 registers: symbols are dealt out to 8 buckets; bit b of
  // nibbles[k][x] says that one in bucket b has x as its k-th four bits. A symbol of the query has
  // a bucket in common in all four; others rarely have.
  uint8_t nibbles[4][16];
  // Queries of at most 64 symbols, by hash.
  uint32_t keys[1 << kHashBits];
  uint64_t masks[1 << kHashBits];

  uint16_t multiplier;
  uint8_t slot_bits;  // 6, 7 or 8 where slot_keys and slot_masks hold the query, else 0
  uint8_t limbs;      // of 16 symbols that the query has, where slot_bits is not 0
  bool is_one_word;   // keys and masks hold the query

  uint32_t hash(uint32_t id) const { return (id * multiplier & 0xFFFFu) >> (16 - kHashBits); }
  bool may_have(uint32_t id) const { return hashes[hash(id) >> 4] >> (hash(id) & 15) & 1; }
  uint64_t mask(uint32_t id) const {
    const uint32_t slot = hash(id);
    return keys[slot] == id ? masks[slot] : 0;
  }
};

// `ids` are the query's symbols as dense ids, kAbsentId for those that the segment does not have.
inline constexpr uint32_t kAbsentId = 0xFFFF'FFFF;
void fill_tables(std::span<const uint32_t> ids, QueryTables& tables);

// Only the sets, of the low 16 bits of ids of 32: a symbol of the query is in them, others may be.
void fill_wide_tables(std::span<const uint32_t> ids, QueryTables& tables);

}  // namespace hoist::match
