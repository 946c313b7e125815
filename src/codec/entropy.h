// Entropy coding of bytes whose distribution is uneven: exponents of weights, quantised values,
// text. Tiles of 8 to 64 Ki symbols decode independently of one another, on the CPU and on the GPU.
//
//   SymbolHistogram histogram;
//   histogram.add(exponents);
//   const EntropyTable table = EntropyTable::build(histogram).value();
//   const std::vector<std::byte> coded = entropy_encode(exponents, table).value();
//   …
//   Result<EntropyView> view = EntropyView::parse(coded);
//   std::vector<uint8_t> symbols(view->symbols());
//   Status status = entropy_decode(*view, table, symbols);
//
// Exponents of Gaussian bf16 weights take 0.8 % more than their entropy in tiles of 64 Ki symbols,
// 1.3 % in tiles of 32 Ki, 4.4 % in tiles of 8 Ki; a GPU wants some thousand tiles at a time. A
// tile that would not shrink is stored as it is. The table is stored apart
// (EntropyTable::serialise), because it serves many sections. The format is
// docs/reference/entropy.md.
//
// Everything here is thread-safe; with a pool, tiles are spread over it. Coded bytes are untrusted:
// whatever they are, decoding ends, stays inside both spans and gives `corrupt` where the tile does
// not end exactly as an encoder ends it. That is no checksum: a wrong table, or changed bytes, can
// also give other symbols without an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "codec/entropy_table.h"
#include "codec/rans_format.h"

namespace hoist::codec {

inline constexpr uint32_t kMinTileSymbols = 8 << 10;
inline constexpr uint32_t kMaxTileSymbols = 64 << 10;

// `tile_symbols`: a power of two from kMinTileSymbols to kMaxTileSymbols, else `invalid_argument`.
Result<std::vector<std::byte>> entropy_encode(std::span<const uint8_t> symbols,
                                              const EntropyTable& table,
                                              uint32_t tile_symbols = kMaxTileSymbols,
                                              ThreadPool* pool = nullptr);

// The same of `count` symbols that are never all in memory: `fill` writes those from `first` on, a
// tile at a time, on the pool's threads.
using FillSymbols = std::function<void(uint64_t first, std::span<uint8_t> symbols)>;
Result<std::vector<std::byte>> entropy_encode(uint64_t count, const FillSymbols& fill,
                                              const EntropyTable& table,
                                              uint32_t tile_symbols = kMaxTileSymbols,
                                              ThreadPool* pool = nullptr);

// A coded section: where its tiles are. Keeps no bytes, so the coded bytes must outlive it. Its own
// memory is at most six times the section's size.
class EntropyView {
 public:
  // `corrupt` where header and sizes do not fit the bytes exactly.
  static Result<EntropyView> parse(std::span<const std::byte> coded);

  uint64_t symbols() const { return symbols_; }
  std::span<const EntropyTile> tiles() const { return tiles_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<const std::byte> bytes(const EntropyTile& tile) const {
    return bytes_.subspan(tile.offset, tile.size);
  }

 private:
  std::span<const std::byte> bytes_;
  uint64_t symbols_ = 0;
  std::vector<EntropyTile> tiles_;
};

// Some tiles of a section without the bytes of the others: a section begins with the sizes of its
// tiles, which tell where each of them lies; and consecutive tiles behind a head of their own are a
// section, too.
uint64_t entropy_head_bytes(uint64_t symbols, uint32_t tile_symbols);
// `head` has what entropy_head_bytes() says. `corrupt` as for EntropyView::parse().
Result<std::vector<EntropyTile>> entropy_tiles(std::span<const std::byte> head,
                                               uint64_t section_bytes);
// Their bytes follow it as they lie in the section that they come from.
std::vector<std::byte> entropy_head(std::span<const EntropyTile> tiles, uint32_t tile_symbols);

// One tile; `symbols` has exactly tile.symbols bytes (else `invalid_argument`). Its content is
// unspecified where an error comes back.
Status entropy_decode_tile(const EntropyView& view, const EntropyTile& tile,
                           const EntropyTable& table, std::span<uint8_t> symbols);

// All tiles; `symbols` has exactly view.symbols() bytes. The error is that of the first bad tile.
Status entropy_decode(const EntropyView& view, const EntropyTable& table,
                      std::span<uint8_t> symbols, ThreadPool* pool = nullptr);

}  // namespace hoist::codec
