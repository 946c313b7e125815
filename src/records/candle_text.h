// Candles as JSON Lines, for measurements: a stream like the one of bench/records/candles.py, with
// ties, gaps in time and between prices, and volumes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hoist::records {

inline constexpr size_t kMostCandleSymbols = 10;

// Rows first to end - 1 of `symbols` symbols in turn, at most kMostCandleSymbols. The same for the
// same numbers. Prices begin anew in each piece.
std::string candle_text(uint64_t first, uint64_t end, size_t symbols);

}  // namespace hoist::records
