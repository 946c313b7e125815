#include "match/scan/query_tables.h"

#include <algorithm>
#include <bitset>

namespace hoist::match {
namespace {

constexpr uint32_t kMultipliers = 1 << 15;  // odd ones of 16 bits

// More symbols than this have no chance of a perfect hash in so many bits; what is just below may
// take all multipliers to find one.
struct SlotBits {
  uint8_t bits;
  size_t symbols;
};
constexpr SlotBits kSlotBits[] = {{6, 28}, {7, 42}, {8, 64}};

bool is_perfect(std::span<const uint32_t> symbols, uint32_t multiplier, uint32_t bits) {
  std::bitset<size_t{1} << QueryTables::kHashBits> taken;
  for (const uint32_t symbol : symbols) {
    const uint32_t hash = (symbol * multiplier & 0xFFFFu) >> (16 - bits);
    if (taken[hash]) return false;
    taken.set(hash);
  }
  return true;
}

// Odd multipliers, spread over the range by the golden ratio.
uint16_t multiplier_of_try(uint32_t attempt) {
  return static_cast<uint16_t>((attempt + 1) * 40'503u << 1 | 1u);
}

bool find_multiplier(std::span<const uint32_t> symbols, uint32_t bits, uint16_t& multiplier) {
  for (uint32_t attempt = 0; attempt < kMultipliers; ++attempt) {
    multiplier = multiplier_of_try(attempt);
    if (is_perfect(symbols, multiplier, bits)) return true;
  }
  return false;
}

// The multiplier, and what it is good for.
void choose_hash(std::span<const uint32_t> symbols, size_t length, QueryTables& tables) {
  tables.multiplier = multiplier_of_try(0);
  if (length > 64) return;
  for (const SlotBits& slots : kSlotBits) {
    if (symbols.size() > slots.symbols) continue;
    if (!find_multiplier(symbols, slots.bits, tables.multiplier)) continue;
    tables.slot_bits = slots.bits;
    tables.limbs = static_cast<uint8_t>(std::max<size_t>(1, (length + 15) / 16));
    tables.is_one_word = true;
    return;
  }
  tables.is_one_word = find_multiplier(symbols, QueryTables::kHashBits, tables.multiplier);
}

std::vector<uint32_t> distinct_symbols(std::span<const uint32_t> ids) {
  std::vector<uint32_t> symbols;
  for (const uint32_t id : ids) {
    if (id != kAbsentId) symbols.push_back(id);
  }
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return symbols;
}

void fill_sets(std::span<const uint32_t> symbols, QueryTables& tables) {
  for (size_t i = 0; i < symbols.size(); ++i) {
    const uint32_t hash = tables.hash(symbols[i]);
    tables.hashes[hash >> 4] |= static_cast<uint16_t>(1u << (hash & 15));
    // Neighbours share a bucket: they often share their upper nibbles.
    const auto bucket = static_cast<uint8_t>(1u << (i * 8 / symbols.size()));
    for (uint32_t k = 0; k < 4; ++k) tables.nibbles[k][symbols[i] >> 4 * k & 15] |= bucket;
  }
}

}  // namespace

void fill_tables(std::span<const uint32_t> ids, QueryTables& tables) {
  const std::vector<uint32_t> symbols = distinct_symbols(ids);
  tables = {};
  choose_hash(symbols, ids.size(), tables);
  std::fill(std::begin(tables.slot_keys), std::end(tables.slot_keys), QueryTables::kNoKey);
  std::fill(std::begin(tables.keys), std::end(tables.keys), kAbsentId);
  fill_sets(symbols, tables);
  if (!tables.is_one_word) return;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == kAbsentId) continue;
    const uint32_t hash = tables.hash(ids[i]);
    tables.keys[hash] = ids[i];
    tables.masks[hash] |= uint64_t{1} << i;
    if (tables.slot_bits == 0) continue;
    const uint32_t slot = hash >> (QueryTables::kHashBits - tables.slot_bits);
    tables.slot_keys[slot] = static_cast<uint16_t>(ids[i]);
    tables.slot_masks[i / 16][slot] |= static_cast<uint16_t>(1u << (i % 16));
  }
}

void fill_wide_tables(std::span<const uint32_t> ids, QueryTables& tables) {
  std::vector<uint32_t> low;
  for (const uint32_t id : ids) {
    if (id != kAbsentId) low.push_back(id & 0xFFFF);
  }
  tables = {};
  tables.multiplier = multiplier_of_try(0);
  fill_sets(distinct_symbols(low), tables);
}

}  // namespace hoist::match
