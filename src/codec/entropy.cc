#include "codec/entropy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>

#include "base/bytes.h"
#include "codec/entropy_tile.h"

namespace hoist::codec {
namespace {

constexpr size_t kHeaderBytes = 16;

size_t aligned(size_t size) {
  return (size + kEntropyTileAlignment - 1) & ~size_t{kEntropyTileAlignment - 1};
}

size_t header_size(size_t tiles) { return aligned(kHeaderBytes + 4 * tiles); }

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

void for_each(size_t count, ThreadPool* pool, const std::function<void(size_t)>& body) {
  if (pool != nullptr) return pool->parallel_for(count, body);
  for (size_t i = 0; i < count; ++i) body(i);
}

bool valid_tile_symbols(uint32_t count) {
  return std::has_single_bit(count) && count >= kMinTileSymbols && count <= kMaxTileSymbols;
}

auto corrupt(std::string_view what) {
  return fail(ErrorCode::corrupt, fmt::format("entropy-coded section: {}", what));
}

// `encode` makes the tile of `size` symbols from `first` on.
using EncodeTile = std::function<std::vector<std::byte>(uint64_t first, size_t size)>;

Result<std::vector<std::byte>> encode_section(uint64_t count, uint32_t tile_symbols,
                                              const EncodeTile& encode, ThreadPool* pool) {
  if (!valid_tile_symbols(tile_symbols)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("entropy coder (tiles of {} symbols): a power of two from {} to {}",
                            tile_symbols, kMinTileSymbols, kMaxTileSymbols));
  }
  const size_t tiles = (count + tile_symbols - 1) / tile_symbols;
  std::vector<std::vector<std::byte>> coded(tiles);
  for_each(tiles, pool, [&](size_t i) {
    const uint64_t begin = i * tile_symbols;
    coded[i] = encode(begin, std::min<uint64_t>(tile_symbols, count - begin));
  });

  size_t size = header_size(tiles);
  for (const std::vector<std::byte>& tile : coded) size += aligned(tile.size());
  std::vector<std::byte> section(size);
  std::memcpy(section.data(), &count, 8);
  std::memcpy(section.data() + 8, &tile_symbols, 4);
  std::byte* at = section.data() + header_size(tiles);
  for (size_t i = 0; i < tiles; ++i) {
    const uint32_t tile_size = static_cast<uint32_t>(coded[i].size());
    std::memcpy(section.data() + kHeaderBytes + 4 * i, &tile_size, 4);
    std::memcpy(at, coded[i].data(), tile_size);
    at += aligned(tile_size);
  }
  return section;
}

}  // namespace

Result<std::vector<std::byte>> entropy_encode(std::span<const uint8_t> symbols,
                                              const EntropyTable& table, uint32_t tile_symbols,
                                              ThreadPool* pool) {
  const auto encode = [&](uint64_t first, size_t size) {
    return encode_tile(symbols.subspan(first, size), table);
  };
  return encode_section(symbols.size(), tile_symbols, encode, pool);
}

Result<std::vector<std::byte>> entropy_encode(uint64_t count, const FillSymbols& fill,
                                              const EntropyTable& table, uint32_t tile_symbols,
                                              ThreadPool* pool) {
  const auto encode = [&](uint64_t first, size_t size) {
    std::vector<uint8_t> symbols(size);
    fill(first, symbols);
    return encode_tile(symbols, table);
  };
  return encode_section(count, tile_symbols, encode, pool);
}

uint64_t entropy_head_bytes(uint64_t symbols, uint32_t tile_symbols) {
  return header_size(symbols / tile_symbols + (symbols % tile_symbols != 0));
}

Result<std::vector<EntropyTile>> entropy_tiles(std::span<const std::byte> head,
                                               uint64_t section_bytes) {
  ByteReader in(head);
  const auto symbols = in.read<uint64_t>();
  const auto tile_symbols = in.read<uint32_t>();
  const auto reserved = in.read<uint32_t>();
  if (!in.ok() || reserved != 0 || !valid_tile_symbols(tile_symbols)) return corrupt("bad header");
  const uint64_t count = symbols / tile_symbols + (symbols % tile_symbols != 0);
  if (count > in.remaining() / 4) return corrupt("more tiles than bytes");
  ByteReader sizes(in.take(4 * count));
  if (!all_zero(in.take(header_size(count) - in.position()))) return corrupt("padding is not zero");
  if (!in.ok()) return corrupt("more tiles than bytes");
  std::vector<EntropyTile> tiles;
  tiles.reserve(count);
  uint64_t offset = in.position();
  for (uint64_t i = 0; i < count; ++i) {
    EntropyTile tile;
    tile.offset = offset;
    tile.first_symbol = i * tile_symbols;
    tile.symbols =
        static_cast<uint32_t>(std::min<uint64_t>(tile_symbols, symbols - tile.first_symbol));
    tile.size = sizes.read<uint32_t>();
    if (!valid_tile(tile)) return corrupt("bad tile size");
    offset += aligned(tile.size);
    if (offset > section_bytes) return corrupt("truncated tile");
    tiles.push_back(tile);
  }
  if (offset != section_bytes) return corrupt("bytes after the last tile");
  return tiles;
}

std::vector<std::byte> entropy_head(std::span<const EntropyTile> tiles, uint32_t tile_symbols) {
  uint64_t symbols = 0;
  for (const EntropyTile& tile : tiles) symbols += tile.symbols;
  std::vector<std::byte> head(header_size(tiles.size()));
  std::memcpy(head.data(), &symbols, sizeof symbols);
  std::memcpy(head.data() + sizeof symbols, &tile_symbols, sizeof tile_symbols);
  for (size_t i = 0; i < tiles.size(); ++i) {
    std::memcpy(head.data() + kHeaderBytes + 4 * i, &tiles[i].size, sizeof tiles[i].size);
  }
  return head;
}

Result<EntropyView> EntropyView::parse(std::span<const std::byte> coded) {
  Result<std::vector<EntropyTile>> tiles = entropy_tiles(coded, coded.size());
  if (!tiles) return tiles.error();
  EntropyView view;
  view.bytes_ = coded;
  view.tiles_ = *std::move(tiles);
  for (const EntropyTile& tile : view.tiles_) {
    const auto padding = coded.subspan(tile.offset, aligned(tile.size)).subspan(tile.size);
    if (!all_zero(padding)) return corrupt("padding is not zero");
    view.symbols_ += tile.symbols;
  }
  return view;
}

Status entropy_decode_tile(const EntropyView& view, const EntropyTile& tile,
                           const EntropyTable& table, std::span<uint8_t> symbols) {
  if (symbols.size() != tile.symbols) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("entropy decoder (room for {} symbols): the tile has {}",
                            symbols.size(), tile.symbols));
  }
  if (decode_tile(view.bytes(tile), table, symbols)) return {};
  return corrupt(fmt::format("tile at byte {} does not decode", tile.offset));
}

Status entropy_decode(const EntropyView& view, const EntropyTable& table,
                      std::span<uint8_t> symbols, ThreadPool* pool) {
  if (symbols.size() != view.symbols()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("entropy decoder (room for {} symbols): the section has {}",
                            symbols.size(), view.symbols()));
  }
  const std::span<const EntropyTile> tiles = view.tiles();
  std::vector<uint8_t> good(tiles.size());
  for_each(tiles.size(), pool, [&](size_t i) {
    good[i] = decode_tile(view.bytes(tiles[i]), table,
                          symbols.subspan(tiles[i].first_symbol, tiles[i].symbols));
  });
  const auto bad = std::find(good.begin(), good.end(), 0);
  if (bad == good.end()) return {};
  const EntropyTile& tile = tiles[static_cast<size_t>(bad - good.begin())];
  return corrupt(fmt::format("tile at byte {} does not decode", tile.offset));
}

}  // namespace hoist::codec
