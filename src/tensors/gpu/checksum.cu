// XXH3-64 with seed 0 (xxHash specification 0.8) of many pieces of device memory.
//
// The state of eight 64-bit sums is scrambled after each block of 1024 bytes; what a block adds to
// it does not depend on the state. So all blocks are summed up at once, a warp a block, and then a
// few threads a piece go from block to block through 64 bytes each. Pieces of up to 240 bytes have
// formulas of their own and are left to one thread.
#include <cuda_runtime.h>

#include <cstdint>

#include "device/on_device.h"
#include "tensors/gpu/checksum_job.h"

namespace hoist::tensors {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kLanes = 32;
constexpr unsigned kSums = 8;
constexpr unsigned kStripe = 64;
constexpr uint64_t kLongest = 240;  // that is not hashed in stripes

constexpr uint64_t kPrime32_1 = 0x9E3779B1;
constexpr uint64_t kPrime32_2 = 0x85EBCA77;
constexpr uint64_t kPrime32_3 = 0xC2B2AE3D;
constexpr uint64_t kPrime64_1 = 0x9E3779B185EBCA87;
constexpr uint64_t kPrime64_2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime64_3 = 0x165667B19E3779F9;
constexpr uint64_t kPrime64_4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime64_5 = 0x27D4EB2F165667C5;
constexpr uint64_t kPrimeMx1 = 0x165667919E3779F9;
constexpr uint64_t kPrimeMx2 = 0x9FB21C651E98DF25;

// The specification's default secret.
__device__ constexpr uint8_t kSecret[192] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e};

__device__ uint32_t read32(const uint8_t* at) {
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= uint32_t{at[i]} << 8 * i;
  return value;
}

__device__ uint64_t read64(const uint8_t* at) {
  return uint64_t{read32(at + 4)} << 32 | read32(at);
}

__device__ uint64_t load64(const uint8_t* at) {
  if (reinterpret_cast<uintptr_t>(at) % 8 == 0) {
    return __ldg(reinterpret_cast<const unsigned long long*>(at));
  }
  return read64(at);
}

__device__ uint64_t product(uint64_t key) { return (key & 0xffffffff) * (key >> 32); }

__device__ uint64_t fold(uint64_t a, uint64_t b) { return a * b ^ __umul64hi(a, b); }

__device__ uint64_t avalanche(uint64_t hash) {
  hash ^= hash >> 37;
  hash *= kPrimeMx1;
  return hash ^ hash >> 32;
}

// XXH64's mix, which ends the shortest inputs.
__device__ uint64_t avalanche64(uint64_t hash) {
  hash ^= hash >> 33;
  hash *= kPrime64_2;
  hash ^= hash >> 29;
  hash *= kPrime64_3;
  return hash ^ hash >> 32;
}

__device__ uint64_t rotate(uint64_t value, unsigned by) { return value << by | value >> (64 - by); }

__device__ uint64_t swap_bytes(uint64_t value) {
  const auto low = static_cast<uint32_t>(value);
  const auto high = static_cast<uint32_t>(value >> 32);
  return uint64_t{__byte_perm(low, 0, 0x0123)} << 32 | __byte_perm(high, 0, 0x0123);
}

__device__ uint64_t mix16(const uint8_t* at, const uint8_t* secret) {
  return fold(read64(at) ^ read64(secret), read64(at + 8) ^ read64(secret + 8));
}

__device__ uint64_t hash_up_to_16(const uint8_t* data, uint64_t size) {
  if (size > 8) {
    const uint64_t low = read64(data) ^ read64(kSecret + 24) ^ read64(kSecret + 32);
    const uint64_t high = read64(data + size - 8) ^ read64(kSecret + 40) ^ read64(kSecret + 48);
    return avalanche(size + swap_bytes(low) + high + fold(low, high));
  }
  if (size >= 4) {
    uint64_t hash = (uint64_t{read32(data)} << 32 | read32(data + size - 4)) ^
                    (read64(kSecret + 8) ^ read64(kSecret + 16));
    hash ^= rotate(hash, 49) ^ rotate(hash, 24);
    hash *= kPrimeMx2;
    hash ^= (hash >> 35) + size;
    hash *= kPrimeMx2;
    return hash ^ hash >> 28;
  }
  if (size > 0) {
    const uint32_t word = uint32_t{data[0]} << 16 | uint32_t{data[size / 2]} << 24 |
                          data[size - 1] | static_cast<uint32_t>(size) << 8;
    return avalanche64(word ^ uint64_t{read32(kSecret) ^ read32(kSecret + 4)});
  }
  return avalanche64(read64(kSecret + 56) ^ read64(kSecret + 64));
}

__device__ uint64_t hash_short(const uint8_t* data, uint64_t size) {
  if (size <= 16) return hash_up_to_16(data, size);
  uint64_t hash = size * kPrime64_1;
  if (size <= 128) {
    for (int i = static_cast<int>(size - 1) / 32; i >= 0; --i) {
      hash += mix16(data + 16 * i, kSecret + 32 * i);
      hash += mix16(data + size - 16 * (i + 1), kSecret + 32 * i + 16);
    }
    return avalanche(hash);
  }
  for (unsigned i = 0; i < 8; ++i) hash += mix16(data + 16 * i, kSecret + 16 * i);
  hash = avalanche(hash);
  for (unsigned i = 8; i < size / 16; ++i) {
    hash += mix16(data + 16 * i, kSecret + 16 * (i - 8) + 3);
  }
  return avalanche(hash + mix16(data + size - 16, kSecret + 136 - 17));
}

// The last job whose blocks begin at or before this one.
__device__ const ChecksumJob& job_of_block(const ChecksumJob* jobs, uint32_t count) {
  uint32_t low = 0;
  uint32_t high = count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (jobs[middle].first_block <= blockIdx.x ? low : high) = middle;
  }
  return jobs[low];
}

// What each block of 1024 bytes adds. A lane has one of the eight sums, of every fourth stripe.
__global__ void __launch_bounds__(kThreads) sum_blocks(const ChecksumJob* jobs, uint32_t count) {
  const ChecksumJob& job = job_of_block(jobs, count);
  const uint64_t blocks = xxh3_blocks(job.size);
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned index = lane % kSums;
  uint64_t key[4];
  for (unsigned i = 0; i < 4; ++i)
    key[i] = read64(kSecret + 8 * (lane / kSums + 4 * i) + 8 * index);
  const uint64_t first = uint64_t{blockIdx.x - job.first_block} * kXxh3BlocksOfCta;
  const uint64_t last = min(blocks, first + kXxh3BlocksOfCta);
  for (uint64_t block = first + threadIdx.x / kLanes; block < last; block += kThreads / kLanes) {
    const uint8_t* const at = job.data + block * kXxh3Block + 8 * lane;
    uint64_t data[4];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) data[i] = load64(at + 4 * kStripe * i);
    uint64_t own = 0;
    uint64_t neighbours = 0;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      own += product(data[i] ^ key[i]);
      neighbours += data[i];
    }
    own += __shfl_xor_sync(~0u, neighbours, 1);
    own += __shfl_xor_sync(~0u, own, 8);
    own += __shfl_xor_sync(~0u, own, 16);
    if (lane < kSums) job.sums[block * kSums + lane] = own;
  }
}

// One of the eight sums a lane; four pieces a warp, so all lanes of a warp take all turns.
struct State {
  uint64_t sum;
  unsigned index;

  __device__ void add_stripe(const uint8_t* at, const uint8_t* secret) {
    const uint64_t data = load64(at + 8 * index);
    add(product(data ^ read64(secret + 8 * index)) + __shfl_xor_sync(mask(), data, 1));
  }
  __device__ void add(uint64_t value) { sum += value; }
  __device__ void scramble(uint64_t key) { sum = (sum ^ sum >> 47 ^ key) * kPrime32_1; }

  __device__ static unsigned mask() { return 0xffu << (threadIdx.x % kLanes & ~(kSums - 1)); }
};

__device__ uint64_t initial_sum(unsigned index) {
  switch (index) {
    case 0:
      return kPrime32_3;
    case 1:
      return kPrime64_1;
    case 2:
      return kPrime64_2;
    case 3:
      return kPrime64_3;
    case 4:
      return kPrime64_4;
    case 5:
      return kPrime32_2;
    case 6:
      return kPrime64_5;
    default:
      return kPrime32_1;
  }
}

constexpr unsigned kAhead = 16;

__device__ __forceinline__ void load_blocks(uint64_t (&into)[kAhead], const uint64_t* sums,
                                            uint64_t block) {
#pragma unroll
  for (unsigned i = 0; i < kAhead; ++i) into[i] = __ldg(sums + (block + i) * kSums);
}

__device__ __forceinline__ void add_blocks(State& state, const uint64_t (&blocks)[kAhead],
                                           uint64_t key) {
#pragma unroll
  for (unsigned i = 0; i < kAhead; ++i) {
    state.add(blocks[i]);
    state.scramble(key);
  }
}

// Goes from block to block. A block's turn of the chain takes twenty cycles, a load some hundreds:
// so the next blocks are loaded, into registers of their own, while these are added.
__device__ void add_all_blocks(State& state, const uint64_t* sums, uint64_t blocks, uint64_t key) {
  uint64_t block = 0;
  if (blocks >= 2 * kAhead) {
    uint64_t even[kAhead];
    uint64_t odd[kAhead];
    load_blocks(even, sums, 0);
    for (; block + 2 * kAhead <= blocks; block += 2 * kAhead) {
      load_blocks(odd, sums, block + kAhead);
      add_blocks(state, even, key);
      // The last time there may be fewer: then any, which nobody looks at.
      const uint64_t next = block + 2 * kAhead;
      load_blocks(even, sums, next + kAhead <= blocks ? next : 0);
      add_blocks(state, odd, key);
    }
  }
  for (; block < blocks; ++block) {
    state.add(__ldg(sums + block * kSums));
    state.scramble(key);
  }
}

__device__ uint64_t hash_long(const ChecksumJob& job, unsigned index) {
  State state = {initial_sum(index), index};
  const uint64_t blocks = xxh3_blocks(job.size);
  add_all_blocks(state, job.sums + index, blocks, read64(kSecret + 128 + 8 * index));
  const uint8_t* const rest = job.data + blocks * kXxh3Block;
  const auto stripes = static_cast<unsigned>((job.size - 1 - blocks * kXxh3Block) / kStripe);
  for (unsigned i = 0; i < stripes; ++i) state.add_stripe(rest + kStripe * i, kSecret + 8 * i);
  state.add_stripe(job.data + job.size - kStripe, kSecret + 192 - kStripe - 7);

  const uint64_t mine = state.sum ^ read64(kSecret + 11 + 8 * index);
  const uint64_t other = __shfl_xor_sync(State::mask(), mine, 1);
  uint64_t folded = index % 2 == 0 ? fold(mine, other) : 0;
  for (unsigned distance = 1; distance < kSums; distance *= 2) {
    folded += __shfl_xor_sync(State::mask(), folded, distance);
  }
  return avalanche(job.size * kPrime64_1 + folded);
}

__global__ void __launch_bounds__(kThreads) compare(const ChecksumJob* jobs, uint32_t count) {
  const uint32_t index = (blockIdx.x * kThreads + threadIdx.x) / kSums;
  if (index >= count) return;
  const ChecksumJob& job = jobs[index];
  const unsigned lane = threadIdx.x % kSums;
  const uint64_t hash = job.size > kLongest ? hash_long(job, lane) : hash_short(job.data, job.size);
  if (lane == 0 && hash != job.expected) *job.mismatch = 1;
}

}  // namespace
}  // namespace hoist::tensors

// `jobs` (count of them, at least 1) lie on the device, `blocks` is the sum of their
// checksum_ctas().
extern "C" int hoist_cuda_tensors_check(int device, void* stream,
                                        const hoist::tensors::ChecksumJob* jobs, uint32_t count,
                                        uint32_t blocks) {
  using namespace hoist::tensors;
  return hoist::device::on_device(device, [&] {
    auto* const on = static_cast<cudaStream_t>(stream);
    if (blocks > 0) sum_blocks<<<blocks, kThreads, 0, on>>>(jobs, count);
    constexpr uint32_t kJobsOfBlock = kThreads / kSums;
    compare<<<(count + kJobsOfBlock - 1) / kJobsOfBlock, kThreads, 0, on>>>(jobs, count);
    return cudaGetLastError();
  });
}
