// Bit packing of integer columns with patches: frame of reference, delta and delta of delta, chosen
// tile by tile (1024 values) by exact size. Tiles decode independently, on the CPU and on the GPU
// (bitpack_gpu.h); the format is docs/reference/bitpacking.md.
//
//   const Result<std::vector<std::byte>> stream = encode_bitpack<uint32_t>(column);
//   Result<BitpackView> view = BitpackView::open(*stream);
//   std::vector<uint32_t> values(view->count());
//   if (Status status = view->decode<uint32_t>(0, values); !status) …
//
// Types: uint8_t, uint16_t, uint32_t, uint64_t. Signed columns: pass them as unsigned of the same
// size; the encoder finds the better of both orders, nothing is lost, no zigzag is needed.
//
// Size: at most max_bitpack_size() — for a whole tile 20 bytes more than its values, plus 16 to 28
// bytes a stream. A tile of equal values takes 20 bytes, so a decoded column can be 410 times its
// stream: the caller allocates, and should compare count() with what it expects first.
//
// Decoding trusts no byte: every tile is validated before it is written, a damaged stream answers
// `corrupt` (what has been decoded until then is in `out`), never reads or writes elsewhere. Damage
// is not always detectable; where it matters a checksum belongs around the stream (container blocks
// have one).
//
// Thread-safe: a view is immutable, and tiles may be decoded by several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "codec/bitpack_kernels.h"
#include "codec/bitpack_layout.h"

namespace hoist::codec {

// Upper bound of a stream of `count` values.
uint64_t max_bitpack_size(uint64_t count, unsigned value_bytes);

// Exactly the size that encode_bitpack would give; costs about as much as encoding.
template <typename T>
uint64_t bitpack_size(std::span<const T> values);

// `exhausted` where the stream would pass the format's limit of 64 GiB.
template <typename T>
Result<std::vector<std::byte>> encode_bitpack(std::span<const T> values);

class BitpackView {
 public:
  // The stream must outlive the view; it may lie at any address. `corrupt` where the header or the
  // sizes are wrong.
  static Result<BitpackView> open(std::span<const std::byte> stream);

  uint64_t count() const { return header_.count; }
  unsigned value_bytes() const { return header_.value_bytes; }
  uint64_t tile_count() const { return tile_count_; }

  // Decodes the values that begin with tile `first_tile` into `out`, which must end at a tile's end
  // or at the column's: `invalid_argument` otherwise, and where T has another size than the values.
  template <typename T>
  Status decode(uint64_t first_tile, std::span<T> out) const {
    return decode(first_tile, out, tile_kernels());
  }

  // The same by given kernels, for tests and benchmarks.
  template <typename T>
  Status decode(uint64_t first_tile, std::span<T> out, const TileKernels& kernels) const;

 private:
  BitpackView(std::span<const std::byte> stream, const StreamHeader& header, uint64_t tile_count)
      : stream_(stream), header_(header), tile_count_(tile_count) {}

  // The validated bytes of a tile.
  Result<std::span<const std::byte>> tile(uint64_t index, TileHeader& header) const;

  std::span<const std::byte> stream_;
  StreamHeader header_;
  uint64_t tile_count_;
};

// A whole stream into `out`; `corrupt` where the stream has another count of values.
template <typename T>
Status decode_bitpack(std::span<const std::byte> stream, std::span<T> out);

}  // namespace hoist::codec
