#include "ops/deflate/chunks.h"

#include <libdeflate.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "base/file.h"
#include "ops/deflate/last_block.h"

namespace hoist::deflate {
namespace {

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const {
    libdeflate_free_compressor(compressor);
  }
};
using Compressor = std::unique_ptr<libdeflate_compressor, FreeCompressor>;

struct Chunk {
  std::span<const uint8_t> in;
  PageBuffer out;
  size_t size = 0;    // of what is in `out`; 0: not done
  size_t offset = 0;  // where it belongs

  bool compress(libdeflate_compressor* compressor, bool last) {
    const size_t room = libdeflate_deflate_compress_bound(compressor, in.size());
    out = PageBuffer(room + kOpenEnd + kReadMargin);
    if (out.data() == nullptr) return false;
    size = libdeflate_deflate_compress(compressor, in.data(), in.size(), out.data(), room);
    if (size != 0 && !last) size = open_end(reinterpret_cast<uint8_t*>(out.data()), size);
    return size != 0;
  }
};

std::vector<Chunk> cut(std::span<const uint8_t> in, int threads) {
  const size_t share = in.size() / static_cast<size_t>(threads) + 1;
  const size_t size = std::clamp(share, kSmallestChunk, kLargestChunk);
  std::vector<Chunk> chunks((in.size() + size - 1) / size);
  for (size_t i = 0; i < chunks.size(); ++i) {
    chunks[i].in = in.subspan(i * size, std::min(size, in.size() - i * size));
  }
  return chunks;
}

// Gives each chunk its place; all their bytes, or 0 where one is missing.
size_t place(std::vector<Chunk>& chunks) {
  size_t at = 0;
  for (Chunk& chunk : chunks) {
    if (chunk.size == 0) return 0;
    chunk.offset = at;
    at += chunk.size;
  }
  return at;
}

}  // namespace

size_t compress_whole(std::span<const uint8_t> in, std::span<uint8_t> out, int level) {
  const Compressor compressor(libdeflate_alloc_compressor(level));
  if (compressor == nullptr) return 0;
  return libdeflate_deflate_compress(compressor.get(), in.data(), in.size(), out.data(),
                                     out.size());
}

size_t compress_in_chunks(std::span<const uint8_t> in, std::span<uint8_t> out, int level,
                          const CallerMemory& memory, ThreadPool& pool,
                          const std::function<void()>& beside) {
  std::vector<Chunk> chunks = cut(in, pool.size());
  // Made here, where the program allocates: a thread that is gone soon leaves no arena behind.
  std::vector<Compressor> compressors;
  for (int i = 0; i < pool.size(); ++i) {
    compressors.emplace_back(libdeflate_alloc_compressor(level));
  }
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = !memory.readable(in.data(), in.size());
  pool.parallel_for(compressors.size(), [&](size_t lane) {
    if (compressors[lane] == nullptr) return;  // the others do the work
    for (size_t i = next++; i <= chunks.size() && !failed; i = next++) {
      if (i == 0) {
        beside();
      } else if (!chunks[i - 1].compress(compressors[lane].get(), i == chunks.size())) {
        failed = true;
      }
    }
  });
  const size_t size = failed ? 0 : place(chunks);
  if (size == 0 || size > out.size() || !memory.writable(out.data(), size)) return 0;
  pool.parallel_for(chunks.size(), [&](size_t i) {
    std::memcpy(out.data() + chunks[i].offset, chunks[i].out.data(), chunks[i].size);
    chunks[i].out = PageBuffer();
  });
  return size;
}

}  // namespace hoist::deflate
