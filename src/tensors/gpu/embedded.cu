// Decodes embedded tensors (tensors/embedded/format.h): a warp a tile. Exponents never leave the
// registers: a lane decodes four elements' symbols straight into their bases, takes their mantissa
// and sign bits from shared memory, where the warp has turned the planes' bits into bytes, 1024
// elements at a time, and writes the finished elements. So each input byte is read once and each
// output byte written once.
#include <cuda_runtime.h>

#include <cstdint>

#include "device/on_device.h"
#include "tensors/gpu/bit_transpose.cuh"
#include "tensors/gpu/embedded_job.h"
#include "tensors/gpu/rans_lane.cuh"

namespace hoist::tensors {
namespace {

using codec::kRansGroupSymbols;
using codec::kRansLanes;
using codec::kRansSlots;
using codec::RansDecodeTable;

constexpr unsigned kThreads = kEmbeddedWarps * kRansLanes;

template <unsigned kBytes>
struct Uint;
template <>
struct Uint<1> {
  using Type = uint8_t;
};
template <>
struct Uint<2> {
  using Type = uint16_t;
};
template <>
struct Uint<4> {
  using Type = uint32_t;
};
template <>
struct Uint<8> {
  using Type = uint64_t;
};

// One kernel: elements of kWidth bytes, the lowest kPlaneBytes of which hold bits of planes.
template <unsigned kWidth, unsigned kPlaneBytes, unsigned kSymbols>
struct Format {
  using Element = typename Uint<kWidth>::Type;

  // Two bases fit an answer where elements are narrow; elsewhere an answer is the symbols.
  static constexpr bool kAnswersAreBases = kWidth <= 2;

  struct Shared {
    RansSlot slots[kRansSlots];
    Element bases[256];
    alignas(16) const uint8_t* planes[8 * kPlaneBytes];
    bool complete[kPlaneBytes];  // whether all planes of the byte are there
    struct Warp {
      alignas(RansWords::kRingBytes) uint8_t ring[RansWords::kRingBytes];
      uint8_t bits[kPlaneBytes][kEmbeddedSpan];  // of each element
    } warps[kEmbeddedWarps];
  };

  // What kSymbols symbols stand for, the first in the low byte.
  static __device__ __forceinline__ uint32_t answer(const Element* bases, uint32_t symbols) {
    if constexpr (!kAnswersAreBases) {
      return symbols;
    } else {
      uint32_t answer = 0;
#pragma unroll
      for (unsigned i = 0; i < kSymbols; ++i) {
        answer |= uint32_t{bases[symbols >> 8 * i & 0xff]} << 8 * kWidth * i;
      }
      return answer;
    }
  }
};

// Four elements as 32-bit words.
template <unsigned kWidth>
struct Quad {
  uint32_t words[kWidth];
};

// Where the sign is above the bytes of planes it moves up by a byte: the masks of the 32-bit word
// that it moves in, or of its half.
template <unsigned kWidth, unsigned kPlaneBytes>
__device__ __forceinline__ Quad<kWidth> spread(const uint32_t (&bits)[kPlaneBytes]) {
  Quad<kWidth> quad;
  if constexpr (kWidth == 1) {
    quad.words[0] = bits[0];
  } else if constexpr (kWidth == 2 && kPlaneBytes == 1) {
    quad.words[0] = __byte_perm(bits[0], 0, 0x1100) & 0x807f807f;
    quad.words[1] = __byte_perm(bits[0], 0, 0x3322) & 0x807f807f;
  } else if constexpr (kWidth == 2) {
    quad.words[0] = __byte_perm(bits[0], bits[1], 0x5140);
    quad.words[1] = __byte_perm(bits[0], bits[1], 0x7362);
  } else {
    const uint32_t low01 = __byte_perm(bits[0], bits[1], 0x5140);
    const uint32_t low23 = __byte_perm(bits[0], bits[1], 0x7362);
    if constexpr (kWidth == 4) {
      quad.words[0] = __byte_perm(low01, bits[2], 0x4410) & 0x807fffff;
      quad.words[1] = __byte_perm(low01, bits[2], 0x5532) & 0x807fffff;
      quad.words[2] = __byte_perm(low23, bits[2], 0x6610) & 0x807fffff;
      quad.words[3] = __byte_perm(low23, bits[2], 0x7732) & 0x807fffff;
    } else {
      const uint32_t mid01 = __byte_perm(bits[2], bits[3], 0x5140);
      const uint32_t mid23 = __byte_perm(bits[2], bits[3], 0x7362);
      const uint32_t high01 = __byte_perm(bits[4], bits[5], 0x5140);
      const uint32_t high23 = __byte_perm(bits[4], bits[5], 0x7362);
      quad.words[0] = __byte_perm(low01, mid01, 0x5410);
      quad.words[2] = __byte_perm(low01, mid01, 0x7632);
      quad.words[4] = __byte_perm(low23, mid23, 0x5410);
      quad.words[6] = __byte_perm(low23, mid23, 0x7632);
      quad.words[1] = __byte_perm(high01, bits[6], 0x4410) & 0x807fffff;
      quad.words[3] = __byte_perm(high01, bits[6], 0x5532) & 0x807fffff;
      quad.words[5] = __byte_perm(high23, bits[6], 0x6610) & 0x807fffff;
      quad.words[7] = __byte_perm(high23, bits[6], 0x7732) & 0x807fffff;
    }
  }
  return quad;
}

template <typename F, unsigned kWidth, unsigned kSymbols>
__device__ __forceinline__ void add_bases(Quad<kWidth>& quad, const typename F::Element* bases,
                                          const uint32_t (&answers)[4 / kSymbols]) {
  if constexpr (kWidth <= 2) {
    constexpr unsigned kBits = 8 * kWidth * kSymbols;  // of an answer
#pragma unroll
    for (unsigned i = 0; i < 4 / kSymbols; ++i) {
      quad.words[i * kBits / 32] |= answers[i] << i * kBits % 32;
    }
  } else {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const uint64_t base = bases[answers[i / kSymbols] >> 8 * (i % kSymbols) & 0xff];
      quad.words[i * kWidth / 4] |= static_cast<uint32_t>(base);
      if constexpr (kWidth == 8) quad.words[2 * i + 1] |= static_cast<uint32_t>(base >> 32);
    }
  }
}

// Written once and not read again here.
template <unsigned kWidth>
__device__ __forceinline__ void store(uint8_t* to, const Quad<kWidth>& quad) {
  const uint32_t(&words)[kWidth] = quad.words;
  if constexpr (kWidth == 1) {
    __stcs(reinterpret_cast<uint32_t*>(to), words[0]);
  } else if constexpr (kWidth == 2) {
    __stcs(reinterpret_cast<uint2*>(to), make_uint2(words[0], words[1]));
  } else {
#pragma unroll
    for (unsigned i = 0; i < kWidth; i += 4) {
      __stcs(reinterpret_cast<uint4*>(to) + i / 4,
             make_uint4(words[i], words[i + 1], words[i + 2], words[i + 3]));
    }
  }
}

// The first `elements` of the four.
template <unsigned kWidth>
__device__ void store_some(uint8_t* to, const Quad<kWidth>& quad, uint32_t elements) {
#pragma unroll
  for (unsigned i = 0; i < 4 * kWidth; ++i) {
    if (i < elements * kWidth) to[i] = static_cast<uint8_t>(quad.words[i / 4] >> 8 * (i % 4));
  }
}

// The planes' bits of elements [first, first + kEmbeddedSpan), as bytes, into shared memory at
// `bits`.
template <unsigned kPlaneBytes>
__device__ __forceinline__ void gather_planes(const uint8_t* const* planes, const bool* complete,
                                              uint64_t first, unsigned lane, uint32_t bits) {
  const uint64_t at = first / 8 + 4 * lane;
  __syncwarp();
#pragma unroll 1
  for (unsigned byte = 0; byte < kPlaneBytes; ++byte) {
    uint32_t rows[8];
    const uint8_t* const* const of_byte = planes + 8 * byte;
    if (complete[byte]) {
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) {
        rows[i] = __ldg(reinterpret_cast<const uint32_t*>(of_byte[i] + at));
      }
    } else {
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) {
        const uint8_t* const plane = of_byte[i];
        rows[i] = plane == nullptr ? 0 : __ldg(reinterpret_cast<const uint32_t*>(plane + at));
      }
    }
    planes_to_bytes(rows);
    const uint32_t to = bits + byte * kEmbeddedSpan + 32 * lane;
    store_shared(to, make_uint4(rows[0], rows[1], rows[2], rows[3]));
    store_shared(to + 16, make_uint4(rows[4], rows[5], rows[6], rows[7]));
  }
  __syncwarp();
}

// A tile whose symbols are stored as they are.
struct StoredLane {
  const uint8_t* symbols;
  uint32_t size;

  // The four symbols from `at` on.
  __device__ uint32_t quad(uint32_t at) const {
    if (at + 4 <= size) return *reinterpret_cast<const uint32_t*>(symbols + at);
    uint32_t quad = 0;
    for (unsigned i = 0; at + i < size; ++i) quad |= uint32_t{symbols[at + i]} << 8 * i;
    return quad;
  }
};

// A tile of `count` elements, the first of which is `first`: next(at, answers) gives the answers of
// this lane's four elements of the group that begins at element `at` of the tile.
template <unsigned kWidth, unsigned kPlaneBytes, unsigned kSymbols, typename Next>
__device__ __forceinline__ void merge_tile(
    const typename Format<kWidth, kPlaneBytes, kSymbols>::Shared& shared, uint64_t first,
    uint32_t count, uint8_t* out, uint32_t bits, Next next) {
  using F = Format<kWidth, kPlaneBytes, kSymbols>;
  constexpr unsigned kGroups = kEmbeddedSpan / kRansGroupSymbols;
  const unsigned lane = threadIdx.x % kRansLanes;
  const uint32_t mine = keep(bits + 4 * lane);
  uint8_t* to = out + (first + 4 * lane) * kWidth;
  const auto quad_of = [&](uint32_t span, unsigned group) {
    uint32_t answers[4 / kSymbols];
    next(span + group * kRansGroupSymbols, answers);
    uint32_t bytes[kPlaneBytes];
#pragma unroll
    for (unsigned i = 0; i < kPlaneBytes; ++i) {
      bytes[i] = load_shared(mine + i * kEmbeddedSpan + group * kRansGroupSymbols);
    }
    Quad<kWidth> quad = spread<kWidth, kPlaneBytes>(bytes);
    add_bases<F, kWidth, kSymbols>(quad, shared.bases, answers);
    return quad;
  };
  for (uint32_t span = 0; span < count; span += kEmbeddedSpan) {
    gather_planes<kPlaneBytes>(shared.planes, shared.complete, first + span, lane, bits);
    if (count - span >= kEmbeddedSpan) {
#pragma unroll(kPlaneBytes <= 2 ? 4 : 1)
      for (unsigned group = 0; group < kGroups; ++group) {
        store<kWidth>(to + group * kRansGroupSymbols * kWidth, quad_of(span, group));
      }
    } else {
#pragma unroll 1
      for (uint32_t at = 0; at < count - span; at += kRansGroupSymbols) {
        const Quad<kWidth> quad = quad_of(span, at / kRansGroupSymbols);
        if (at + 4 * lane < count - span) {
          store_some<kWidth>(to + at * kWidth, quad, count - span - at - 4 * lane);
        }
        __syncwarp();
      }
    }
    to += kEmbeddedSpan * kWidth;
  }
}

// The job that a block works for, and its first tile.
struct BlockWork {
  const EmbeddedJob& job;
  uint32_t first_tile;
};

__device__ BlockWork block_work(const EmbeddedJob* jobs, uint32_t count) {
  uint32_t low = 0;
  uint32_t high = count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (jobs[middle].first_block <= blockIdx.x ? low : high) = middle;
  }
  return {jobs[low], (blockIdx.x - jobs[low].first_block) * kEmbeddedWarps};
}

__device__ uint32_t tile_symbols(const EmbeddedJob& job, uint32_t tile) {
  const uint64_t first = uint64_t{tile} * job.tile_elements;
  return static_cast<uint32_t>(min(uint64_t{job.tile_elements}, job.elements - first));
}

// Before the sizes of a section's tiles (docs/reference/entropy.md).
struct SectionHeader {
  uint64_t symbols;
  uint32_t tile_symbols;
  uint32_t reserved;
};

__device__ uint32_t pieces(uint32_t bytes) {
  return (bytes + codec::kEntropyTileAlignment - 1) / codec::kEntropyTileAlignment;
}

// Adds up `value` over the block: those of the threads before this one, and the sum of all.
__device__ uint64_t scan(uint64_t value, uint64_t* sum) {
  constexpr unsigned kWarpSize = 32;
  __shared__ uint64_t of_warps[kThreads / kWarpSize];
  const unsigned lane = threadIdx.x % kWarpSize;
  uint64_t total = value;
#pragma unroll
  for (unsigned distance = 1; distance < kWarpSize; distance *= 2) {
    const uint64_t other = __shfl_up_sync(kAllLanes, total, distance);
    if (lane >= distance) total += other;
  }
  __syncthreads();
  if (lane == kWarpSize - 1) of_warps[threadIdx.x / kWarpSize] = total;
  __syncthreads();
  uint64_t before = 0;
  *sum = 0;
  for (unsigned warp = 0; warp < kThreads / kWarpSize; ++warp) {
    if (warp < threadIdx.x / kWarpSize) before += of_warps[warp];
    *sum += of_warps[warp];
  }
  return before + total - value;
}

// Finds each tile of a job, a block a job, and checks that all lie inside the section: what
// decode_tiles() relies on.
__global__ void __launch_bounds__(kThreads) find_tiles(const EmbeddedJob* jobs) {
  const EmbeddedJob& job = jobs[blockIdx.x];
  const auto* const header = reinterpret_cast<const SectionHeader*>(job.section);
  const auto* const sizes = reinterpret_cast<const uint32_t*>(header + 1);
  // The sizes themselves lie inside: the host has seen to that.
  uint64_t at = pieces(static_cast<uint32_t>(sizeof *header) + 4 * job.tiles);
  bool good = header->symbols == job.elements && header->tile_symbols == job.tile_elements &&
              header->reserved == 0;
  for (uint32_t first = 0; first < job.tiles; first += kThreads) {
    const uint32_t tile = first + threadIdx.x;
    uint32_t size = 0;
    if (tile < job.tiles) {
      size = sizes[tile];
      const uint32_t symbols = tile_symbols(job, tile);
      const bool coded = size >= codec::kRansHeaderBytes && size < symbols && size % 2 == 0;
      good = good && (size == symbols || coded);
    }
    uint64_t sum;
    const uint64_t before = scan(pieces(size), &sum);
    if (tile < job.tiles) job.tile_at[tile] = static_cast<uint32_t>(at + before);
    at += sum;
  }
  good = __syncthreads_and(good) != 0 && at * codec::kEntropyTileAlignment == job.section_bytes;
  if (threadIdx.x == 0) *job.status = good ? kTilesGood : kSectionBad;
}

template <unsigned kWidth, unsigned kPlaneBytes, unsigned kSymbols>
__global__ void __launch_bounds__(kThreads, 2)
    decode_tiles(const EmbeddedJob* jobs, uint32_t count) {
  using F = Format<kWidth, kPlaneBytes, kSymbols>;
  extern __shared__ __align__(RansWords::kRingBytes) uint8_t memory[];
  auto& shared = *reinterpret_cast<typename F::Shared*>(memory);
  const BlockWork work = block_work(jobs, count);
  const EmbeddedJob& job = work.job;
  if (*job.status == kSectionBad) return;

  const auto* const bases = static_cast<const typename F::Element*>(job.bases);
  const uint32_t escape_tag = job.table->escape;
  for (unsigned i = threadIdx.x; i < kRansSlots; i += kThreads) {
    const uint32_t entry = job.table->slots[i];
    const uint32_t tag = codec::rans_tag(entry);
    const uint32_t symbols = kSymbols == 1 ? tag : job.table->pairs[tag];
    shared.slots[i] = make_uint2(codec::rans_frequency(entry) << 16 | codec::rans_offset(entry),
                                 tag == escape_tag ? kEscaped : F::answer(bases, symbols));
  }
  if (threadIdx.x < 256) shared.bases[threadIdx.x] = bases[threadIdx.x];
  if (threadIdx.x < 8 * kPlaneBytes) shared.planes[threadIdx.x] = job.planes[threadIdx.x];
  if (threadIdx.x < kPlaneBytes) {
    bool complete = true;
    for (unsigned i = 0; i < 8; ++i) {
      complete = complete && job.planes[8 * threadIdx.x + i] != nullptr;
    }
    shared.complete[threadIdx.x] = complete;
  }
  __syncthreads();

  // The same in all lanes, and known to be: votes then need no check that all are there.
  const auto uniform = [](uint32_t value) { return __shfl_sync(kAllLanes, value, 0); };
  const unsigned warp = uniform(threadIdx.x / kRansLanes);
  const unsigned lane = threadIdx.x % kRansLanes;
  const uint32_t tile = work.first_tile + warp;
  if (tile >= job.tiles) return;
  const uint64_t first = uint64_t{tile} * job.tile_elements;
  const uint32_t symbols = uniform(tile_symbols(job, tile));
  const uint32_t size =
      uniform(reinterpret_cast<const uint32_t*>(job.section + sizeof(SectionHeader))[tile]);
  const uint8_t* const from =
      job.section + uint64_t{job.tile_at[tile]} * codec::kEntropyTileAlignment;
  auto* const out = static_cast<uint8_t*>(job.out);
  const uint32_t bits = keep(shared_address(shared.warps[warp].bits));
  constexpr uint32_t kSymbolsMask = kSymbols == 1 ? 0xff : 0xffff;
  if (size == symbols) {
    const StoredLane stored = {from, size};
    merge_tile<kWidth, kPlaneBytes, kSymbols>(
        shared, first, symbols, out, bits, [&](uint32_t at, uint32_t(&answers)[4 / kSymbols]) {
          const uint32_t quad = stored.quad(at + 4 * lane);
          for (unsigned i = 0; i < 4 / kSymbols; ++i) {
            answers[i] = F::answer(shared.bases, quad >> 8 * kSymbols * i & kSymbolsMask);
          }
        });
    return;
  }
  RansLane rans(keep(shared_address(shared.slots)), from, size,
                keep(shared_address(shared.warps[warp].ring)), lane);
  const auto literal = [&](uint32_t value) {
    return F::answer(shared.bases, value & kSymbolsMask);
  };
  merge_tile<kWidth, kPlaneBytes, kSymbols>(shared, first, symbols, out, bits,
                                            [&](uint32_t, uint32_t(&answers)[4 / kSymbols]) {
                                              rans.words.prepare(rans.at);
#pragma unroll
                                              for (uint32_t& answer : answers)
                                                answer = rans.step(literal);
                                            });
  if (!rans.finished(size) && lane == 0) atomicMin(job.status, tile);
}

template <unsigned kWidth, unsigned kPlaneBytes, unsigned kSymbols>
cudaError_t launch(cudaStream_t stream, const EmbeddedJob* jobs, uint32_t count, uint32_t blocks) {
  constexpr size_t kShared = sizeof(typename Format<kWidth, kPlaneBytes, kSymbols>::Shared);
  const auto kernel = decode_tiles<kWidth, kPlaneBytes, kSymbols>;
  const cudaError_t allowed = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kShared));
  if (allowed != cudaSuccess) return allowed;
  kernel<<<blocks, kThreads, kShared, stream>>>(jobs, count);
  return cudaGetLastError();
}

template <unsigned kWidth, unsigned kPlaneBytes>
cudaError_t launch(unsigned symbols, cudaStream_t stream, const EmbeddedJob* jobs, uint32_t count,
                   uint32_t blocks) {
  return symbols == 1 ? launch<kWidth, kPlaneBytes, 1>(stream, jobs, count, blocks)
                      : launch<kWidth, kPlaneBytes, 2>(stream, jobs, count, blocks);
}

cudaError_t launch(const EmbeddedKernel& kernel, cudaStream_t stream, const EmbeddedJob* jobs,
                   uint32_t count, uint32_t blocks) {
  switch (kernel.width << 4 | kernel.plane_bytes) {
    case 0x11:
      return launch<1, 1>(kernel.symbols_per_code, stream, jobs, count, blocks);
    case 0x21:
      return launch<2, 1>(kernel.symbols_per_code, stream, jobs, count, blocks);
    case 0x22:
      return launch<2, 2>(kernel.symbols_per_code, stream, jobs, count, blocks);
    case 0x43:
      return launch<4, 3>(kernel.symbols_per_code, stream, jobs, count, blocks);
    case 0x87:
      return launch<8, 7>(kernel.symbols_per_code, stream, jobs, count, blocks);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace
}  // namespace hoist::tensors

// `jobs` (count of them, at least 1) lie on the device; `blocks` is what they take together.
extern "C" int hoist_cuda_tensors_decode_embedded(int device, void* stream,
                                                  hoist::tensors::EmbeddedKernel kernel,
                                                  const hoist::tensors::EmbeddedJob* jobs,
                                                  uint32_t count, uint32_t blocks) {
  using namespace hoist::tensors;
  return hoist::device::on_device(device, [&] {
    auto* const on = static_cast<cudaStream_t>(stream);
    find_tiles<<<count, kThreads, 0, on>>>(jobs);
    const cudaError_t error = cudaGetLastError();
    return error != cudaSuccess ? error : launch(kernel, on, jobs, count, blocks);
  });
}
