// DEFLATE data made by libdeflate, on one thread or several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/caller_memory.h"
#include "base/threads.h"

namespace hoist::deflate {

// Input that is cut gets chunks of this size at most: larger ones are hardly smaller in the end.
constexpr size_t kLargestChunk = size_t{1} << 20;
constexpr size_t kSmallestChunk = size_t{256} << 10;

// Bytes written to `out`; 0 where there is not enough room, or no memory.
size_t compress_whole(std::span<const uint8_t> in, std::span<uint8_t> out, int level);

// The same in chunks. `beside` is called once, by one of the threads.
size_t compress_in_chunks(std::span<const uint8_t> in, std::span<uint8_t> out, int level,
                          const CallerMemory& memory, ThreadPool& pool,
                          const std::function<void()>& beside);

}  // namespace hoist::deflate
