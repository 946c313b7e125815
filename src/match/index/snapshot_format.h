// What load_snapshot() and SnapshotFile share: the file's numbers.
#pragma once

#include <cstdint>

#include "container/format.h"

namespace hoist::match::snapshot {

inline constexpr uint32_t kFileKind = container::four_letters("MTCH");
inline constexpr uint64_t kFormat = 0;
inline constexpr uint32_t kSymbols = container::four_letters("SYMB");
inline constexpr uint32_t kSegment = container::four_letters("SEGM");
inline constexpr uint32_t kManifest = container::four_letters("MANI");
inline constexpr uint64_t kPieceBytes = uint64_t{32} << 20;
// Ids of the three kinds do not meet.
inline constexpr uint64_t kSymbolsId = uint64_t{1} << 62;
inline constexpr uint64_t kManifestId = uint64_t{1} << 63;
inline constexpr uint64_t kMaxSegment = (uint64_t{1} << 38) - 1;

// Columns of a segment, in the order of their parts.
enum class Part : uint64_t {
  buckets,
  dense_symbols,
  symbols16,
  symbols32,
  name_ranks,
  name_slots,
  own_names,
  name_pool,
  serials,
  shapes,
  shape_pool,
  frequencies,
  patterns_with,
  occurrences,
  emotives,
};

inline uint64_t piece_id(uint64_t segment, Part part, uint64_t piece) {
  return segment << 24 | static_cast<uint64_t>(part) << 16 | piece;
}

}  // namespace hoist::match::snapshot
