// One lane of a warp that decodes a tile of interleaved rANS (codec/rans_format.h): a warp a tile,
// a thread a lane.
//
// The decode table lies in shared memory. A step is one lookup, one multiply-add, and for the lanes
// whose state ran low one word each: a ballot says which they are, and counting its bits below a
// lane says which word is whose. The words of a warp's step lie side by side, and so do its 128
// symbols of a group, so global memory is read and written in whole lines.
#pragma once

#include <cuda_runtime.h>

#include "codec/rans_format.h"

namespace hoist::codec {
namespace {

constexpr unsigned kAllLanes = 0xffffffff;

struct SharedTable {
  uint32_t slots[kRansSlots];
  uint16_t pairs[256];
};

// A ring in shared memory, filled in halves of 256 words; the half after the ring is on its way in
// registers. So a group, which takes at most 256 words, finds them all there.
struct RingWords {
  static constexpr unsigned kHalf = kRansMaxGroupWords;
  static constexpr unsigned kWords = 2 * kHalf;

  const uint4* from;
  uint32_t left;  // 16-byte pieces of the tile from `from` on
  uint16_t* ring;
  uint32_t filled = 0;  // words before the half that goes next
  uint4 ahead;

  __device__ RingWords(const uint8_t* bytes, uint32_t size, uint16_t* ring_)
      : from(reinterpret_cast<const uint4*>(bytes)), left((size + 15) / 16), ring(ring_) {
    fetch();
    store();
    fetch();
    store();
    fetch();
    filled = 0;
  }

  __device__ void fetch() {
    const unsigned lane = threadIdx.x % kRansLanes;
    ahead = lane < left ? __ldg(from + lane) : make_uint4(0, 0, 0, 0);
    from += kRansLanes;
    left -= min(left, kRansLanes);
  }
  __device__ void store() {
    const unsigned lane = threadIdx.x % kRansLanes;
    reinterpret_cast<uint4*>(ring + filled % kWords)[lane] = ahead;
    filled += kHalf;
    __syncwarp();
  }
  // Words [filled, filled + 512) are in the ring.
  __device__ void prepare(uint32_t at) {
    if (at - filled < kHalf) return;
    __syncwarp();
    store();
    fetch();
  }
  __device__ uint32_t word(uint32_t index) const { return ring[index % kWords]; }
};

// What a lane knows while it decodes; `at`, words taken, is the same in all lanes.
struct Lane {
  const SharedTable& table;
  uint32_t escape;
  unsigned below;  // mask of the lanes before this one
  uint32_t state;
  uint32_t at;
  RingWords words;

  __device__ uint32_t take(bool wanted) {
    const unsigned takers = __ballot_sync(kAllLanes, wanted);
    const uint32_t mine = at + __popc(takers & below);
    at += __popc(takers);
    return wanted ? words.word(mine) : 0;
  }

  // One step: this lane's symbol, or its two.
  template <unsigned kSymbolsPerCode>
  __device__ uint32_t step() {
    const uint32_t entry = table.slots[rans_slot(state)];
    state = rans_advance(state, entry);
    const bool wanted = rans_wants_word(state);
    const uint32_t word = take(wanted);
    if (wanted) state = rans_push_word(state, word);
    const uint32_t tag = rans_tag(entry);
    uint32_t value = kSymbolsPerCode == 1 ? tag : table.pairs[tag];
    const bool escaped = tag == escape;
    if (__any_sync(kAllLanes, escaped)) {
      const uint32_t next = take(escaped);
      if (escaped) {
        value = kSymbolsPerCode == 1 ? rans_literal(state) & 0xff : rans_literal(state);
        state = rans_replace_literal(state, next);
      }
    }
    return value;
  }

  // This lane's four symbols of the next group.
  template <unsigned kSymbolsPerCode>
  __device__ uint32_t group() {
    words.prepare(at);
    uint32_t symbols = 0;
#pragma unroll
    for (unsigned i = 0; i < 4; i += kSymbolsPerCode) symbols |= step<kSymbolsPerCode>() << 8 * i;
    return symbols;
  }
};

__device__ void copy_tile(const uint8_t* from, uint32_t size, unsigned lane, uint8_t* to) {
  for (uint32_t i = lane; i < size / 4; i += kRansLanes) {
    reinterpret_cast<uint32_t*>(to)[i] = reinterpret_cast<const uint32_t*>(from)[i];
  }
  if (lane < size % 4) to[size / 4 * 4 + lane] = from[size / 4 * 4 + lane];
}

// Whether the tile ended as an encoder ends it.
template <unsigned kSymbolsPerCode>
__device__ bool decode_tile(const SharedTable& table, uint32_t escape, const uint8_t* bytes,
                            const EntropyTile& tile, uint16_t* ring, uint8_t* symbols) {
  const unsigned index = threadIdx.x % kRansLanes;
  const uint32_t size = tile.size - kRansHeaderBytes;
  Lane lane = {table,
               escape,
               (1u << index) - 1,
               reinterpret_cast<const uint32_t*>(bytes)[index],
               0,
               RingWords(bytes + kRansHeaderBytes, size, ring)};
  const uint32_t groups = tile.symbols / kRansGroupSymbols;
  uint32_t* to = reinterpret_cast<uint32_t*>(symbols) + index;
  for (uint32_t done = 0; done < groups; ++done, to += kRansLanes) {
    *to = lane.group<kSymbolsPerCode>();
  }
  if (const uint32_t rest = tile.symbols % kRansGroupSymbols; rest != 0) {
    uint32_t quad = lane.group<kSymbolsPerCode>();
    for (uint32_t i = 4 * index; i < 4 * index + 4 && i < rest; ++i, quad >>= 8) {
      symbols[groups * kRansGroupSymbols + i] = static_cast<uint8_t>(quad);
    }
  }
  return __all_sync(kAllLanes, lane.state == kRansLowerBound) && lane.at == size / 2;
}

}  // namespace
}  // namespace hoist::codec
