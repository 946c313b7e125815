// The encoder: for every tile the cheapest of three modes, of a few references each, and of all
// widths, by exact size. A histogram of the residuals' bit lengths gives the number of patches at
// every width at once (patching: Zukowski, Héman, Nes & Boncz, "Super-Scalar RAM-CPU Cache
// Compression", ICDE 2006).
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "codec/bitpack.h"

namespace hoist::codec {
namespace {

// A tile's choice; `size` is what it takes in the stream.
struct Choice {
  TileHeader header{};
  uint32_t size = UINT32_MAX;
};

// The values of a tile, or their differences, from `first` to `count`; all arithmetic is modulo
// 2^kBits and kept in a word of 32 or 64 bits.
template <typename T>
struct Tile {
  using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  static constexpr unsigned kBits = 8 * sizeof(T);
  static constexpr Word kMask = static_cast<Word>(low_bits(kBits));
  static constexpr Word kHalf = Word{1} << (kBits - 1);

  TileMode mode = TileMode::frame_of_reference;
  unsigned first = 0;
  unsigned count = 0;
  alignas(64) Word words[kTileValues];

  explicit Tile(std::span<const T> values) : count(static_cast<unsigned>(values.size())) {
    std::copy(values.begin(), values.end(), words);
  }

  // The next mode's sequence: differences of neighbours.
  void difference() {
    mode = static_cast<TileMode>(static_cast<uint8_t>(mode) + 1);
    ++first;
    // From a copy, so that it becomes vector code.
    Word before[kTileValues];
    std::copy(words, words + count, before);
    for (unsigned i = first; i < count; ++i) words[i] = (before[i] - before[i - 1]) & kMask;
  }
};

template <typename T>
using WordOf = typename Tile<T>::Word;

// The least residual of each of 32 pieces of a tile, in the order that `bias` gives: 0 orders them
// as unsigned, half the range as signed.
template <typename T>
struct PieceMinima {
  using Word = WordOf<T>;
  static constexpr unsigned kPieces = 32;

  std::array<Word, kPieces> minima;
  unsigned count = 0;

  PieceMinima(const Tile<T>& tile, Word bias) {
    constexpr unsigned kStep = kTileValues / kPieces;
    for (unsigned begin = tile.first; begin < tile.count; begin += kStep) {
      Word least = Tile<T>::kMask;
      for (unsigned i = begin; i < std::min(begin + kStep, tile.count); ++i) {
        least = std::min(least, static_cast<Word>((tile.words[i] + bias) & Tile<T>::kMask));
      }
      minima[count++] = least;
    }
  }

  Word least() const { return *std::min_element(minima.begin(), minima.begin() + count); }

  // The least one above a gap that is wider than all that lies above it, with at least half of the
  // pieces there; `least` where there is no such gap.
  Word least_above_gap(Word least) {
    const Word greatest = *std::max_element(minima.begin(), minima.begin() + count);
    // What lies above such a gap lies in the upper half of the range: mostly, not enough does.
    const Word middle = least + (greatest - least) / 2;
    unsigned above = 0;
    for (unsigned i = 0; i < count; ++i) above += minima[i] > middle ? 1 : 0;
    if (above < count - count / 2) return least;
    std::sort(minima.begin(), minima.begin() + count);
    for (unsigned i = count / 2; i > 0; --i) {
      if (minima[i] - minima[i - 1] > greatest - minima[i]) return minima[i];
    }
    return least;
  }
};

// The reference candidates in one order of the residuals. The least residual leaves no negative
// one. Where few residuals lie far below the others, the least one above the gap is better, and
// those few wrap around and become patches.
template <typename T>
void add_references(const Tile<T>& tile, WordOf<T> bias, std::vector<WordOf<T>>& references) {
  using Word = WordOf<T>;
  PieceMinima<T> pieces(tile, bias);
  if (pieces.count == 0) return references.push_back(0);
  const Word least = pieces.least();
  for (const Word candidate : {least, pieces.least_above_gap(least)}) {
    const Word reference = (candidate - bias) & Tile<T>::kMask;
    if (std::find(references.begin(), references.end(), reference) == references.end()) {
      references.push_back(reference);
    }
  }
}

// Residuals of more than `width` bits.
template <typename T>
unsigned count_longer(const Tile<T>& tile, WordOf<T> reference, unsigned width) {
  const auto limit = static_cast<WordOf<T>>(low_bits(width));
  unsigned longer = 0;
  for (unsigned i = tile.first; i < tile.count; ++i) {
    longer += ((tile.words[i] - reference) & Tile<T>::kMask) > limit ? 1 : 0;
  }
  return longer;
}

// Whether no width can make a tile smaller than `size`: one that could is at most `widest`, all the
// residuals longer than that are patches at every such width, and a patch takes 3 bytes or more.
// Far cheaper than a histogram, and true of most candidates after the first good one.
template <typename T>
bool hopeless(const Tile<T>& tile, WordOf<T> reference, uint32_t size) {
  const uint32_t header = tile_header_size(tile.mode);
  if (size <= header) return true;
  const uint32_t widest = (size - header - 1) / kWordRowBytes;
  if (widest >= Tile<T>::kBits) return false;
  return tile_parts(tile.mode, 0, count_longer(tile, reference, widest), 1).size >= size;
}

unsigned bit_length(uint32_t residual) {
  // The bit below makes 0 no special case, which would be a branch in every step.
  return 63 - std::countl_zero(uint64_t{residual} << 1 | 1);
}

unsigned bit_length(uint64_t residual) { return std::bit_width(residual); }

// counts[b] = residuals of exactly b bits. Four histograms, so that equal neighbours do not wait
// for each other's increment.
template <typename T>
std::array<unsigned, 65> bit_lengths(const Tile<T>& tile, WordOf<T> reference) {
  unsigned counts[4][65] = {};
  const auto length = [&](unsigned i) {
    return bit_length(static_cast<WordOf<T>>((tile.words[i] - reference) & Tile<T>::kMask));
  };
  unsigned i = tile.first;
  for (; i + 4 <= tile.count; i += 4) {
    ++counts[0][length(i)];
    ++counts[1][length(i + 1)];
    ++counts[2][length(i + 2)];
    ++counts[3][length(i + 3)];
  }
  for (; i < tile.count; ++i) ++counts[0][length(i)];
  std::array<unsigned, 65> sums;
  for (unsigned b = 0; b < sums.size(); ++b) {
    sums[b] = counts[0][b] + counts[1][b] + counts[2][b] + counts[3][b];
  }
  return sums;
}

template <typename T>
void consider(const Tile<T>& tile, WordOf<T> reference, Choice& best) {
  if (hopeless(tile, reference, best.size)) return;
  const std::array<unsigned, 65> counts = bit_lengths(tile, reference);
  unsigned longest = 64;
  while (longest > 0 && counts[longest] == 0) --longest;
  unsigned patches = 0;
  for (unsigned width = longest;; --width) {
    const unsigned patch_bytes = patches == 0 ? 0 : std::bit_ceil((longest - width + 7) / 8);
    const uint32_t size = tile_parts(tile.mode, width, patches, patch_bytes).size;
    if (size < best.size) {
      best.size = size;
      best.header = {};
      best.header.mode = static_cast<uint8_t>(tile.mode);
      best.header.width = static_cast<uint8_t>(width);
      best.header.patch_count = static_cast<uint16_t>(patches);
      best.header.patch_bytes = static_cast<uint8_t>(patch_bytes);
      best.header.reference = reference;
    }
    if (width == 0) break;
    patches += counts[width];
  }
}

template <typename T>
Choice choose(std::span<const T> values) {
  using Word = WordOf<T>;
  Tile<T> tile(values);
  Choice best;
  std::vector<Word> references;
  for (const TileMode mode :
       {TileMode::frame_of_reference, TileMode::delta, TileMode::delta_of_delta}) {
    if (mode != TileMode::frame_of_reference) {
      if (best.size <= tile_header_size(mode)) break;  // cannot become smaller
      tile.difference();
    }
    references.clear();
    if (mode == TileMode::frame_of_reference) add_references<T>(tile, 0, references);
    add_references<T>(tile, Tile<T>::kHalf, references);
    for (const Word reference : references) consider(tile, reference, best);
  }
  return best;
}

// One plane of residuals of `width` <= 32 bits, given as rows of lanes.
void pack_plane(const uint32_t (&rows)[32][kLanes], unsigned width, std::byte* out) {
  uint32_t words[33][kLanes] = {};
  for (unsigned row = 0; row < 32; ++row) {
    const unsigned word = row * width / 32;
    const unsigned shift = row * width % 32;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint64_t bits = uint64_t{rows[row][lane]} << shift;
      words[word][lane] |= static_cast<uint32_t>(bits);
      words[word + 1][lane] |= static_cast<uint32_t>(bits >> 32);
    }
  }
  std::memcpy(out, words, width * kWordRowBytes);
}

// The bits [shift, shift + width) of all residuals.
template <typename Word>
void pack_residuals(const Word* residuals, unsigned shift, unsigned width, std::byte* out) {
  uint32_t rows[32][kLanes];
  const auto mask = static_cast<uint32_t>(low_bits(width));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned row = 0; row < 32; ++row) {
      rows[row][lane] = static_cast<uint32_t>(residuals[value_index(lane, row)] >> shift) & mask;
    }
  }
  pack_plane(rows, width, out);
}

// Writes a tile; its bytes are zero before.
template <typename T>
void write_tile(std::span<const T> values, Choice choice, std::byte* out) {
  using Word = WordOf<T>;
  TileHeader& header = choice.header;
  const auto mode = static_cast<TileMode>(header.mode);
  const auto reference = static_cast<Word>(header.reference);
  Tile<T> tile(values);
  while (tile.mode != mode) tile.difference();
  // The residuals before tile.first are zero; what the modes start from makes up for it.
  if (mode == TileMode::delta) {
    header.start = (values[0] - reference) & Tile<T>::kMask;
  } else if (mode == TileMode::delta_of_delta) {
    const Word difference = values.size() > 1 ? static_cast<Word>(values[1]) - values[0] : 0;
    header.slope = (difference - 2 * reference) & Tile<T>::kMask;
    header.start = (values[0] - static_cast<Word>(header.slope) - reference) & Tile<T>::kMask;
  }
  std::memcpy(out, &header, tile_header_size(mode));
  Word residuals[kTileValues] = {};
  for (unsigned i = tile.first; i < tile.count; ++i) {
    residuals[i] = (tile.words[i] - reference) & Tile<T>::kMask;
  }
  const TileParts parts = tile_parts(mode, header.width, header.patch_count, header.patch_bytes);
  const unsigned low_width = std::min<unsigned>(header.width, 32);
  pack_residuals(residuals, 0, low_width, out + parts.planes);
  if (header.width > 32) {
    pack_residuals(residuals, 32, header.width - 32, out + parts.planes + 32 * kWordRowBytes);
  }
  if (header.patch_count == 0) return;
  std::byte* position = out + parts.positions;
  std::byte* high_part = out + parts.high_parts;
  for (unsigned i = 0; i < kTileValues; ++i) {
    const uint64_t high = static_cast<uint64_t>(residuals[i]) >> header.width;
    if (high == 0) continue;
    const auto index = static_cast<uint16_t>(i);
    std::memcpy(position, &index, sizeof index);
    std::memcpy(high_part, &high, header.patch_bytes);
    position += sizeof index;
    high_part += header.patch_bytes;
  }
}

template <typename T>
std::span<const T> tile_of(std::span<const T> values, size_t index) {
  const size_t begin = index * kTileValues;
  return values.subspan(begin, std::min<size_t>(kTileValues, values.size() - begin));
}

size_t tiles_in(size_t values) { return (values + kTileValues - 1) / kTileValues; }

uint64_t first_tile_offset(size_t tiles) {
  const uint64_t end = sizeof(StreamHeader) + (uint64_t{tiles} + 1) * sizeof(uint32_t);
  return (end + kTileAlignment - 1) / kTileAlignment * kTileAlignment;
}

}  // namespace

template <typename T>
uint64_t bitpack_size(std::span<const T> values) {
  const size_t tiles = tiles_in(values.size());
  uint64_t size = first_tile_offset(tiles);
  for (size_t i = 0; i < tiles; ++i) size += choose(tile_of(values, i)).size;
  return size;
}

template <typename T>
Result<std::vector<std::byte>> encode_bitpack(std::span<const T> values) {
  const size_t tiles = tiles_in(values.size());
  std::vector<Choice> choices(tiles);
  std::vector<uint32_t> offsets(tiles + 1);
  uint64_t offset = first_tile_offset(tiles);
  for (size_t i = 0; i < tiles; ++i) {
    choices[i] = choose(tile_of(values, i));
    offsets[i] = static_cast<uint32_t>(offset / kTileAlignment);
    offset += choices[i].size;
    if (offset / kTileAlignment > UINT32_MAX) {
      return fail(ErrorCode::exhausted, "more than 64 GiB (bit-packed stream): split the column");
    }
  }
  offsets[tiles] = static_cast<uint32_t>(offset / kTileAlignment);
  std::vector<std::byte> stream(offset);
  const StreamHeader header{{'B', 'P'}, 0, sizeof(T), 0, values.size()};
  std::memcpy(stream.data(), &header, sizeof header);
  std::memcpy(stream.data() + sizeof header, offsets.data(), offsets.size() * sizeof(uint32_t));
  for (size_t i = 0; i < tiles; ++i) {
    write_tile(tile_of(values, i), choices[i],
               stream.data() + uint64_t{offsets[i]} * kTileAlignment);
  }
  return stream;
}

template uint64_t bitpack_size(std::span<const uint8_t>);
template uint64_t bitpack_size(std::span<const uint16_t>);
template uint64_t bitpack_size(std::span<const uint32_t>);
template uint64_t bitpack_size(std::span<const uint64_t>);
template Result<std::vector<std::byte>> encode_bitpack(std::span<const uint8_t>);
template Result<std::vector<std::byte>> encode_bitpack(std::span<const uint16_t>);
template Result<std::vector<std::byte>> encode_bitpack(std::span<const uint32_t>);
template Result<std::vector<std::byte>> encode_bitpack(std::span<const uint64_t>);

}  // namespace hoist::codec
