#include "codec/bitpack.h"

#include <fmt/core.h>

#include <cstring>
#include <type_traits>

namespace hoist::codec {
namespace {

// 8- and 16-bit values are computed in 32 bits and cut: sums modulo 2^32 are sums modulo 2^8.
template <typename T>
using Computed = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T>
struct Scratch {
  alignas(64) Computed<T> values[kTileValues];
  alignas(64) uint32_t planes[sizeof(T) == 8 ? 2 : 1][kTileValues];
};

Error corrupt_tile(uint64_t index, const char* what) {
  return fail(ErrorCode::corrupt, fmt::format("{} (bit-packed tile {})", what, index));
}

uint64_t count_tiles(uint64_t values) {
  return values / kTileValues + (values % kTileValues != 0 ? 1 : 0);
}

void unpack_planes(const std::byte* planes, const TileHeader& header, const TileKernels& kernels,
                   Scratch<uint32_t>&, uint32_t* out) {
  kernels.unpack[header.width](planes, static_cast<uint32_t>(header.reference), out);
}

void unpack_planes(const std::byte* planes, const TileHeader& header, const TileKernels& kernels,
                   Scratch<uint64_t>& scratch, uint64_t* out) {
  if (header.width <= 32) {
    kernels.unpack[header.width](planes, 0, scratch.planes[0]);
    kernels.widen(scratch.planes[0], header.reference, out);
    return;
  }
  kernels.unpack[32](planes, 0, scratch.planes[0]);
  kernels.unpack[header.width - 32](planes + 32 * kWordRowBytes, 0, scratch.planes[1]);
  kernels.join(scratch.planes[0], scratch.planes[1], header.reference, out);
}

void prefix_sum(const TileKernels& kernels, uint32_t* values, uint64_t start) {
  kernels.prefix_sum_32(values, static_cast<uint32_t>(start));
}

void prefix_sum(const TileKernels& kernels, uint64_t* values, uint64_t start) {
  kernels.prefix_sum_64(values, start);
}

// Adds the high parts of the patched values; false where a position is out of place.
template <typename Word>
bool apply_patches(std::span<const std::byte> tile, const TileHeader& header,
                   const TileParts& parts, Word* values) {
  const std::byte* const positions = tile.data() + parts.positions;
  const std::byte* const high_parts = tile.data() + parts.high_parts;
  int previous = -1;
  for (unsigned i = 0; i < header.patch_count; ++i) {
    uint16_t position;
    std::memcpy(&position, positions + 2 * i, sizeof position);
    if (position <= previous || position >= kTileValues) return false;
    previous = position;
    uint64_t high = 0;
    std::memcpy(&high, high_parts + i * header.patch_bytes, header.patch_bytes);
    values[position] +=
        header.width >= 8 * sizeof(Word) ? 0 : static_cast<Word>(high << header.width);
  }
  return true;
}

// Decodes a validated tile; false where its patches are out of place.
template <typename Word>
bool decode_words(std::span<const std::byte> tile, const TileHeader& header,
                  const TileKernels& kernels, Scratch<Word>& scratch, Word* out) {
  const auto mode = static_cast<TileMode>(header.mode);
  const TileParts parts = tile_parts(mode, header.width, header.patch_count, header.patch_bytes);
  unpack_planes(tile.data() + parts.planes, header, kernels, scratch, out);
  if (header.patch_count != 0 && !apply_patches(tile, header, parts, out)) return false;
  if (mode == TileMode::delta_of_delta) prefix_sum(kernels, out, header.slope);
  if (mode != TileMode::frame_of_reference) prefix_sum(kernels, out, header.start);
  return true;
}

void narrow(const TileKernels& kernels, const uint32_t* values, uint8_t* out) {
  kernels.narrow_8(values, out);
}

void narrow(const TileKernels& kernels, const uint32_t* values, uint16_t* out) {
  kernels.narrow_16(values, out);
}

}  // namespace

uint64_t max_bitpack_size(uint64_t count, unsigned value_bytes) {
  const uint64_t tiles = count_tiles(count);
  const uint64_t table = (tiles + 1) * sizeof(uint32_t);
  return sizeof(StreamHeader) + (table + kTileAlignment - 1) / kTileAlignment * kTileAlignment +
         tiles * (tile_header_size(TileMode::frame_of_reference) + kTileValues * value_bytes);
}

Result<BitpackView> BitpackView::open(std::span<const std::byte> stream) {
  const auto corrupt = [](const char* what) {
    return fail(ErrorCode::corrupt, fmt::format("{} (bit-packed stream)", what));
  };
  StreamHeader header;
  if (stream.size() < sizeof header) return corrupt("shorter than its header");
  std::memcpy(&header, stream.data(), sizeof header);
  if (header.magic[0] != 'B' || header.magic[1] != 'P') return corrupt("no such stream");
  if (header.version != 0) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("version {} (bit-packed stream): a newer Hoist reads it", header.version));
  }
  const unsigned bytes = header.value_bytes;
  if (bytes == 0 || bytes > 8 || (bytes & (bytes - 1)) != 0 || header.zero != 0) {
    return corrupt("damaged header");
  }
  const uint64_t tiles = count_tiles(header.count);
  const uint64_t units = stream.size() / kTileAlignment;
  // A tile takes a unit and a table entry at least: this bounds `tiles` before it is multiplied.
  if (stream.size() % kTileAlignment != 0 || tiles > units) return corrupt("wrong size");
  const uint64_t table_units =
      ((tiles + 1) * sizeof(uint32_t) + kTileAlignment - 1) / kTileAlignment;
  if (1 + table_units + tiles > units) return corrupt("wrong size");
  return BitpackView(stream, header, tiles);
}

Result<std::span<const std::byte>> BitpackView::tile(uint64_t index, TileHeader& header) const {
  uint32_t bounds[2];
  std::memcpy(bounds, stream_.data() + sizeof(StreamHeader) + index * sizeof(uint32_t),
              sizeof bounds);
  const uint64_t first = uint64_t{bounds[0]} * kTileAlignment;
  const uint64_t end = uint64_t{bounds[1]} * kTileAlignment;
  if (first >= end || end > stream_.size()) return corrupt_tile(index, "wrong offset");
  const std::span<const std::byte> bytes = stream_.subspan(first, end - first);
  header = {};
  std::memcpy(&header, bytes.data(), tile_header_size(TileMode::frame_of_reference));
  if (header.mode != static_cast<uint8_t>(TileMode::frame_of_reference)) {
    if (bytes.size() < sizeof header) return corrupt_tile(index, "damaged header");
    std::memcpy(&header, bytes.data(), sizeof header);
  }
  if (!valid_tile(header, header_.value_bytes, bytes.size())) {
    return corrupt_tile(index, "damaged header");
  }
  return bytes;
}

template <typename T>
Status BitpackView::decode(uint64_t first_tile, std::span<T> out,
                           const TileKernels& kernels) const {
  if (sizeof(T) != header_.value_bytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("values of {} bytes (bit-packed stream): not {}", header_.value_bytes,
                            sizeof(T)));
  }
  if (first_tile > tile_count_ ||
      out.size() > count() - std::min(count(), first_tile * kTileValues) ||
      (out.size() % kTileValues != 0 && first_tile * kTileValues + out.size() != count())) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} values from tile {} (bit-packed stream): it has {} values",
                            out.size(), first_tile, count()));
  }
  Scratch<Computed<T>> scratch;
  for (size_t done = 0; done < out.size(); done += kTileValues) {
    const uint64_t index = first_tile + done / kTileValues;
    TileHeader header;
    const Result<std::span<const std::byte>> bytes = tile(index, header);
    if (!bytes) return bytes.error();
    const size_t wanted = std::min<size_t>(kTileValues, out.size() - done);
    T* const to = out.data() + done;
    // A whole tile of 32 or 64 bits is decoded in place.
    Computed<T>* words = scratch.values;
    if constexpr (sizeof(T) >= 4) {
      if (wanted == kTileValues) words = to;
    }
    if (!decode_words(*bytes, header, kernels, scratch, words)) {
      return corrupt_tile(index, "patch out of place");
    }
    if constexpr (sizeof(T) >= 4) {
      if (wanted != kTileValues) std::memcpy(to, words, wanted * sizeof(T));
    } else if (wanted == kTileValues) {
      narrow(kernels, words, to);
    } else {
      for (size_t i = 0; i < wanted; ++i) to[i] = static_cast<T>(words[i]);
    }
  }
  return {};
}

template <typename T>
Status decode_bitpack(std::span<const std::byte> stream, std::span<T> out) {
  const Result<BitpackView> view = BitpackView::open(stream);
  if (!view) return view.error();
  if (view->count() != out.size()) {
    return fail(ErrorCode::corrupt, fmt::format("{} values where {} belong (bit-packed stream)",
                                                view->count(), out.size()));
  }
  return view->decode<T>(0, out);
}

template Status BitpackView::decode(uint64_t, std::span<uint8_t>, const TileKernels&) const;
template Status BitpackView::decode(uint64_t, std::span<uint16_t>, const TileKernels&) const;
template Status BitpackView::decode(uint64_t, std::span<uint32_t>, const TileKernels&) const;
template Status BitpackView::decode(uint64_t, std::span<uint64_t>, const TileKernels&) const;
template Status decode_bitpack(std::span<const std::byte>, std::span<uint8_t>);
template Status decode_bitpack(std::span<const std::byte>, std::span<uint16_t>);
template Status decode_bitpack(std::span<const std::byte>, std::span<uint32_t>);
template Status decode_bitpack(std::span<const std::byte>, std::span<uint64_t>);

}  // namespace hoist::codec
