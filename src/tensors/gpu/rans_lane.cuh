// One lane of a warp that decodes a tile of interleaved rANS (codec/rans_format.h) into what its
// symbols stand for, rather than into the symbols: the decode table holds the answer beside the
// code, so a step is one lookup of 64 bits.
//
// The loop is bound by the issue of instructions, and written so that few are issued: addresses are
// those of shared memory, 32 bits wide, and words are counted in bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "codec/rans_format.h"

namespace hoist::tensors {

inline constexpr unsigned kAllLanes = 0xffffffff;

// x: frequency << 16 | slot minus the code's first slot. y: the answer; kEscaped for the escape.
using RansSlot = uint2;
inline constexpr uint32_t kEscaped = 0x80000000;  // no answer has its highest bit set

// The compiler would rather compute what it has from threadIdx again and again.
__device__ __forceinline__ uint32_t keep(uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

__device__ __forceinline__ uint32_t shared_address(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}

__device__ __forceinline__ uint32_t load_shared(uint32_t address) {
  uint32_t word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
  return word;
}

__device__ __forceinline__ void store_shared(uint32_t address, uint4 words) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(words.x),
               "r"(words.y), "r"(words.z), "r"(words.w)
               : "memory");
}

// The tile's words, in a ring in shared memory that is filled in halves of 256 words; the half
// after the ring is on its way in registers. So a group, which takes at most 256 words, finds all
// of its words there.
class RansWords {
 public:
  static constexpr uint32_t kHalfBytes = 2 * codec::kRansMaxGroupWords;
  static constexpr uint32_t kRingBytes = 2 * kHalfBytes;

  // `ring`: the shared address of kRingBytes of the warp's own, aligned to kRingBytes.
  __device__ __forceinline__ RansWords(const uint8_t* words, uint32_t size, uint32_t ring,
                                       unsigned lane)
      : from_(reinterpret_cast<const uint4*>(words) + lane),
        left_(static_cast<int>((size + 15) / 16) - static_cast<int>(lane)),
        ring_(ring),
        mine_(keep(ring + 16 * lane)) {
    fetch();
    store(0);
    fetch();
    store(kHalfBytes);
    fetch();
  }

  __device__ __forceinline__ uint32_t ring() const { return ring_; }

  // Bytes [at, at + 512) of the tile are in the ring afterwards; `at` does not fall, and rises by
  // at most 512 from call to call.
  __device__ __forceinline__ void prepare(uint32_t at) {
    if (at < next_) return;
    __syncwarp();
    store(next_ - kHalfBytes & kHalfBytes);
    fetch();
    next_ += kHalfBytes;
  }

 private:
  // Past the tile's end words are zero.
  __device__ __forceinline__ void fetch() {
    ahead_ = left_ > 0 ? __ldg(from_) : make_uint4(0, 0, 0, 0);
    from_ += codec::kRansLanes;
    left_ -= static_cast<int>(codec::kRansLanes);
  }
  __device__ __forceinline__ void store(uint32_t half) {
    store_shared(mine_ + half, ahead_);
    __syncwarp();
  }

  const uint4* from_;
  int left_;  // pieces of this lane's from `from_` on, if above 0
  uint32_t ring_;
  uint32_t mine_;
  uint32_t next_ = kHalfBytes;  // the first half is over from here on
  uint4 ahead_;
};

// `at`, bytes of words taken, is the same in all lanes.
struct RansLane {
  uint32_t slots;  // shared address of a RansSlot for each slot
  unsigned below;  // mask of the lanes before this one
  uint32_t state;
  uint32_t at;
  RansWords words;

  __device__ __forceinline__ RansLane(uint32_t slots_, const uint8_t* tile, uint32_t size,
                                      uint32_t ring, unsigned lane)
      : slots(slots_),
        below(keep((1u << lane) - 1)),
        state(__ldg(reinterpret_cast<const uint32_t*>(tile) + lane)),
        at(0),
        words(tile + codec::kRansHeaderBytes, size - codec::kRansHeaderBytes, ring, lane) {}

  // The answer of one code; `literal` gives that of an escaped value.
  template <typename Literal>
  __device__ __forceinline__ uint32_t step(Literal literal) {
    RansSlot slot;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(slot.x), "=r"(slot.y)
                 : "r"(slots + codec::rans_slot(state) * uint32_t{sizeof(RansSlot)}));
    state = (slot.x >> 16) * (state >> codec::kRansSlotBits) + (slot.x & 0xffff);
    // Lanes whose state ran low take a word each, in lane order (codec::rans_push_word()).
    asm volatile(
        "{\n\t"
        ".reg .pred wanted;\n\t"
        ".reg .b32 takers, before, all, address, word;\n\t"
        "setp.lt.u32 wanted, %0, 0x10000;\n\t"
        "vote.sync.ballot.b32 takers, wanted, 0xffffffff;\n\t"
        "and.b32 before, takers, %2;\n\t"
        "popc.b32 before, before;\n\t"
        "popc.b32 all, takers;\n\t"
        "mad.lo.u32 address, before, 2, %1;\n\t"
        "mad.lo.u32 %1, all, 2, %1;\n\t"
        "lop3.b32 address, address, %4, %3, 0xea;\n\t"  // (address & mask) | ring
        "@wanted ld.shared.u16 word, [address];\n\t"
        "@wanted prmt.b32 %0, word, %0, 0x5410;\n\t"
        "}"
        : "+r"(state), "+r"(at)
        : "r"(below), "r"(words.ring()), "n"(RansWords::kRingBytes - 1));
    uint32_t answer = slot.y;
    const bool escaped = answer == kEscaped;
    if (__any_sync(kAllLanes, escaped)) {
      const unsigned takers = __ballot_sync(kAllLanes, escaped);
      const uint32_t mine = at + 2 * __popc(takers & below);
      at += 2 * __popc(takers);
      if (escaped) {
        answer = literal(codec::rans_literal(state));
        uint16_t word;
        asm volatile("ld.shared.u16 %0, [%1];"
                     : "=h"(word)
                     : "r"(words.ring() | (mine & (RansWords::kRingBytes - 1))));
        state = codec::rans_replace_literal(state, word);
      }
      __syncwarp();
    }
    return answer;
  }

  // Whether the tile ended as an encoder ends it.
  __device__ __forceinline__ bool finished(uint32_t size) const {
    return __all_sync(kAllLanes, state == codec::kRansLowerBound) &&
           at == size - codec::kRansHeaderBytes;
  }
};

}  // namespace hoist::tensors
