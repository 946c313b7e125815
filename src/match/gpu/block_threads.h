// Runs kernels on threads of the host, a block at a time, one thread each: where there is no GPU,
// tests so find out whether blocks, warps and barriers do what they should. Include it before the
// kernels. Warps must be whole where they exchange values.
#pragma once

#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace hoist::match::block_threads {

inline constexpr uint32_t kWarp = 32;

struct Dimension {
  uint32_t x;
};

// What the threads of a warp exchange.
struct Warp {
  std::barrier<> barrier{kWarp};
  std::array<uint64_t, kWarp> values{};
};

struct Block {
  explicit Block(uint32_t threads) : barrier(threads), warps(threads / kWarp) {}
  std::barrier<> barrier;
  std::vector<Warp> warps;
  std::atomic<int> any[2] = {};
};

inline thread_local Dimension thread_index;
inline thread_local Dimension block_index;
inline thread_local Block* block;
inline Dimension grid;
alignas(16) inline unsigned char shared_memory[227 << 10];

inline Warp& warp() { return block->warps[thread_index.x / kWarp]; }

// Every lane's value, as lane `from` sees it.
inline uint64_t exchange(uint64_t value, uint32_t from) {
  warp().values[thread_index.x % kWarp] = value;
  warp().barrier.arrive_and_wait();
  const uint64_t got = warp().values[from % kWarp];
  warp().barrier.arrive_and_wait();
  return got;
}

inline void run(uint32_t blocks, uint32_t threads, const std::function<void()>& kernel) {
  grid = {blocks};
  for (uint32_t b = 0; b < blocks; ++b) {
    Block state(threads);
    std::vector<std::jthread> running;
    for (uint32_t t = 0; t < threads; ++t) {
      running.emplace_back([&, b, t] {
        thread_index = {t};
        block_index = {b};
        block = &state;
        kernel();
      });
    }
  }
}

}  // namespace hoist::match::block_threads

// The words of CUDA that the kernels use.
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define threadIdx hoist::match::block_threads::thread_index
#define blockIdx hoist::match::block_threads::block_index
#define gridDim hoist::match::block_threads::grid
#define HOIST_DYNAMIC_SHARED(name) \
  unsigned char* const name = hoist::match::block_threads::shared_memory

inline void __syncthreads() { hoist::match::block_threads::block->barrier.arrive_and_wait(); }

inline int __syncthreads_or(int value) {
  auto& any = hoist::match::block_threads::block->any;
  if (value != 0) any[0] = 1;
  __syncthreads();
  const int result = any[0];
  __syncthreads();
  any[0] = 0;
  __syncthreads();
  return result;
}

template <typename T>
T __shfl_sync(uint32_t, T value, uint32_t lane) {
  return static_cast<T>(hoist::match::block_threads::exchange(value, lane));
}

template <typename T>
T __shfl_up_sync(uint32_t, T value, uint32_t distance) {
  const uint32_t lane = threadIdx.x % hoist::match::block_threads::kWarp;
  return static_cast<T>(
      hoist::match::block_threads::exchange(value, lane >= distance ? lane - distance : lane));
}

inline bool __any_sync(uint32_t, bool value) {
  namespace own = hoist::match::block_threads;
  own::warp().values[threadIdx.x % own::kWarp] = value ? 1 : 0;
  own::warp().barrier.arrive_and_wait();
  uint64_t any = 0;
  for (const uint64_t lane : own::warp().values) any |= lane;
  own::warp().barrier.arrive_and_wait();
  return any != 0;
}

inline void __syncwarp() { hoist::match::block_threads::warp().barrier.arrive_and_wait(); }

inline uint32_t __reduce_max_sync(uint32_t, uint32_t value) {
  namespace own = hoist::match::block_threads;
  own::warp().values[threadIdx.x % own::kWarp] = value;
  own::warp().barrier.arrive_and_wait();
  uint64_t most = 0;
  for (const uint64_t lane : own::warp().values) most = lane > most ? lane : most;
  own::warp().barrier.arrive_and_wait();
  return static_cast<uint32_t>(most);
}

inline uint32_t __reduce_min_sync(uint32_t, uint32_t value) {
  return ~__reduce_max_sync(0, ~value);
}

inline int __popc(uint32_t word) { return std::popcount(word); }

template <typename T>
T atomicAdd(T* to, uint32_t value) {
  return std::atomic_ref(*to).fetch_add(value);
}

template <typename T>
T min(T x, T y) {
  return x < y ? x : y;
}
